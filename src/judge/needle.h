/* needle.h - many literal texts sought at once, in one pass, whatever the case of letters. */
#ifndef NEEDLE_H
#define NEEDLE_H

#include <stddef.h>

#include "buf.h"

struct needles;

struct needles *needles_new(void);
void needles_free(struct needles *n); /* accepts NULL */

/* Adds a text (lower case, at least 1 byte); `tag` is given back with each find. */
void needles_add(struct needles *n, struct span text, int tag);

/* Call once after the last text; constant afterwards. */
void needles_build(struct needles *n);

/* Calls found(arg, tag, start, end) for every occurrence, by rising end. Linear in the text. */
typedef void needles_found(void *arg, int tag, size_t start, size_t end);
void needles_scan(const struct needles *n, struct span text, needles_found *found, void *arg);

#endif
