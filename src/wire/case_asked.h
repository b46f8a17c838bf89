/* case_asked.h - the `asked` member of a case. Inside wire only. */
#ifndef CASE_ASKED_H
#define CASE_ASKED_H

#include <stdbool.h>

#include "buf.h"
#include "err.h"
#include "json.h"

struct casefile;

/* Fills c->expect from c->source; `line` is the case's text. Errors name the field. */
int case_asked_read(struct casefile *c, struct span line, struct err *err) MUST_CHECK;

/* Frees what the expectation is made of. */
void case_asked_release(struct casefile *c);

/* The member `key` of `object` if it has the right type, NULL if it is absent or null; else an
 * error that names it as a member of `where` ("" = of the case). */
int case_asked_get(const struct json *object, const char *where, const char *key,
                   enum json_type type, const struct json **out, struct err *err) MUST_CHECK;

bool case_asked_absent(const struct json *v); /* or null */

#endif
