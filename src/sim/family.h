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

/* By name, or, with NULL, one of those that have markers of their own. */
const struct family *family_pick(const struct families *f, const char *name, struct rng *dice);

const char *family_name(const struct family *f);

/* Adds the reply's calls as this family's model writes them. */
void family_render(const struct family *f, const struct reply *r, struct buf *out);

/* One of its markers; empty if it has none. Borrowed. */
struct span family_token(const struct family *f, struct rng *dice);

/* Is there a family of this name that renders calls? And all of them, comma separated. */
bool family_known(const char *name);
void family_list(struct buf *out);

#endif
