/* byname.h - every statistic of this layer by its name, JSON in and JSON out.
 *
 * For `--functions` listings, for spreadsheets of checks, and for tests that hold the code against
 * vectors computed elsewhere. */
#ifndef BYNAME_H
#define BYNAME_H

#include <stddef.h>

#include "err.h"

struct byname_function {
    const char *name;  /* "wilson" */
    const char *args;  /* "x:count n:count conf:number": names and what is expected */
    const char *means; /* one line: what it is, by which formula or source */
};

/* Function number `index`, in alphabetical order; NULL at the end. */
const struct byname_function *byname_at(size_t index);

/* Calls `name` with one JSON object of its arguments. The result is JSON text, the caller's, with
 * doubles that read back exactly; infinite and not estimable are null, both going in and coming
 * out. NULL with an error of status 2 that names the known functions, or the argument and what was
 * expected. */
char *byname_call(const char *name, const char *json_args, struct err *err);

#endif
