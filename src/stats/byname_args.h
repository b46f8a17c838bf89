/* byname_args.h - reads the arguments of one statistic out of a JSON object, by their description.
 *
 * A description is words "name:kind". Kinds: count (whole, >= 0), whole, number, number|null (null
 * reads as infinite), flag, [number] and [count] (lists), [x,n] (a list of rows of so many counts).
 */
#ifndef BYNAME_ARGS_H
#define BYNAME_ARGS_H

#include <stddef.h>

#include "err.h"

struct json;

#define BYNAME_MAX_NUMBERS 10
#define BYNAME_MAX_LISTS   3

struct byname_list {
    double *values; /* rows one after the other */
    long *counts;   /* the same, where they are counts; else NULL */
    size_t rows;
};

struct byname_args {
    double number[BYNAME_MAX_NUMBERS]; /* scalars in the order of the description; flags 0 or 1 */
    long count[BYNAME_MAX_NUMBERS];    /* the same where they are whole */
    struct byname_list list[BYNAME_MAX_LISTS];
};

/* Fills `out`, to be released in either case. An argument that is missing, of another kind or not
 * in the description is an error of status 2. */
int byname_args_read(const struct json *object, const char *description, struct byname_args *out,
                     struct err *err) MUST_CHECK;

void byname_args_release(struct byname_args *a);

#endif
