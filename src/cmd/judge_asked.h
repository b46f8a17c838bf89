/* judge_asked.h - what the command line says of requests that are not at hand. */
#ifndef JUDGE_ASKED_H
#define JUDGE_ASKED_H

#include <stdbool.h>

#include "err.h"

struct buf;

struct judge_asked {
    const char *tools;  /* a file with the array, or with a request that has one; or NULL */
    const char *choice; /* or NULL */
    const char *json;   /* an `asked` as case files have it; or NULL */
    bool expected;
};

/* Adds members of a case's `asked`, as struct pair_options wants them. An error of status 2 names
 * the option or the field. */
int judge_asked_write(const struct judge_asked *a, struct buf *out, struct err *err) MUST_CHECK;

#endif
