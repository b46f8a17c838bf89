/* byname_domain.h - arguments for which a statistic has no value, named. */
#ifndef BYNAME_DOMAIN_H
#define BYNAME_DOMAIN_H

#include <stdbool.h>

#include "err.h"

struct json;

/* Whether every figure of a result is null. */
bool byname_domain_empty(const struct json *result);

/* The first argument that can't be: more hits than trials, a level that is not between 0 and 1.
 * Error: status 2, naming it. 0 if there is none. */
int byname_domain_check(const struct json *args, struct err *err);

#endif
