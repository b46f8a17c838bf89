/* schema.h - JSON Schema, draft 2020-12: the keywords that tool definitions use.
 *
 * type, properties, required, additionalProperties, patternProperties, propertyNames, enum, const,
 * items, prefixItems, contains, minContains, maxContains, uniqueItems, minimum, maximum and their
 * exclusive forms, multipleOf, min/maxLength, min/maxItems, min/maxProperties, pattern, anyOf,
 * oneOf, allOf, not, if/then/else, dependentRequired, dependentSchemas, $ref into the same
 * document. format is an annotation. Unknown keywords are ignored, never an error. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "buf.h"
#include "err.h"

struct json;
struct schema;

/* Compiles; borrows `root` for its whole life. NULL with an error of status 2 that names the place
 * if a regular expression or a $ref can't be used. */
struct schema *schema_new(const struct json *root, struct err *err);
void schema_free(struct schema *s);

/* 0 if the value obeys; else -1, and *err (which may be NULL) says where and what was expected:
 * "'rounds[2].call' must be string". Safe for concurrent use. Bounded on recursive schemas. */
int schema_check(const struct schema *s, const struct json *value, struct err *err);

#endif
