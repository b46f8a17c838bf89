/* family.h - how model families write tool calls as text, from schemas/markup. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct families;
struct family;
struct reply;
struct rng;

/* All families that say how they render calls. Constant once made. */
struct families *families_new(void);
void families_free(struct families *f);

/* What a family must have to be picked without a name. */
enum family_need {
    NEED_NOTHING,
    NEED_MARKERS, /* some marker */
    NEED_TOKEN,   /* a marker like a special token: angle brackets with a bar inside */
    NEED_TAIL     /* a marker behind a call's arguments */
};

/* By name, or, with NULL, one of those that have what is needed. `dice` is not used with a name. */
const struct family *family_pick(const struct families *f, const char *name, enum family_need need,
                                 struct rng *dice);

const char *family_name(const struct family *f);

/* Adds the reply's calls as this family's model writes them. */
void family_render(const struct family *f, const struct reply *r, struct buf *out);

/* Does a text that shows its calls need a line of its own, as there is no marker? */
bool family_is_bare(const struct family *f);

/* One of its markers, a special token if it has one; empty if it has none. Borrowed. */
struct span family_token(const struct family *f, struct rng *dice);

/* Adds what the family writes behind a call's arguments, up to the end of the last call; a marker
 * if that is nothing. */
void family_tail(const struct family *f, struct rng *dice, struct buf *out);

/* Is there a family of this name that renders calls and has what is needed? */
bool family_known(const char *name, enum family_need need);

/* Adds the names of those that have it, comma separated. */
void family_list(enum family_need need, struct buf *out);

#endif
