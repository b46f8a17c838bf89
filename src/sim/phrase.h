/* phrase.h - words of the simulated endpoint, from schemas/sim/phrases.json. */
#ifndef PHRASE_H
#define PHRASE_H

#include "buf.h"

struct json;
struct rng;

/* The tree of the data file; json_free() it. */
struct json *phrase_open(void);

/* One text of the list `kind`, in the language if the list has one for it. Borrowed. */
struct span phrase_pick(const struct json *phrases, const char *kind, const char *lang,
                        struct rng *dice);

/* One element of the list `kind`, whatever it is. */
const struct json *phrase_at(const struct json *phrases, const char *kind, struct rng *dice);

/* Adds `n` texts of the list one after the other, beginning anywhere in it, with blanks between
 * them where the language has any. */
void phrase_add(const struct json *phrases, const char *kind, const char *lang, size_t n,
                struct rng *dice, struct buf *out);

#endif
