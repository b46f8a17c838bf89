/* generic.h - what the endpoint answers to a client that names no session: a call where tools are
 * offered and the user spoke last, else a text. */
#ifndef GENERIC_H
#define GENERIC_H

#include <stdint.h>

struct buf;
struct expect;
struct json;
struct reply;
struct span;

/* Fills the empty reply from the request's body, which is valid JSON. `ordinal` goes into ids. */
void generic_reply(struct span body, uint64_t ordinal, struct reply *r);

/* What that reply was to bring, as far as it can be told without a scenario. Borrows nothing. */
void generic_expect(const struct reply *r, struct expect *e);

/* Adds a small value that obeys the schema as far as type, required, properties, items, enum,
 * const and the minimum bounds say. NULL: an empty object. */
void generic_value(const struct json *schema, struct buf *out);

#endif
