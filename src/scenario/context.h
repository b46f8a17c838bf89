/* context.h - the long varied text before the first question. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "estimate.h"

struct buf;
struct vocab;

/* A line that must stand in the context. `at` is its place, 0 = start to 1 = end. */
struct context_plant {
    const char *line;
    double at;
};

struct context_order {
    const struct vocab *vocab;
    uint64_t seed, number; /* of the random stream */
    long tokens;           /* about so many, planted lines included */
    const struct context_plant *plants;
    size_t n_plants;
};

/* Adds the context to `out`, without a line break at its end, and says what it costs. No line comes
 * twice; planted lines stand between whole entries, and all of them are there even if `tokens` is
 * 0. */
struct estimate context_write(const struct context_order *order, struct buf *out);

#endif
