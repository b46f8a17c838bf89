/* json.h - JSON read into trees, sliced without a tree, checked strictly, and written.
 *
 * A tree belongs to whoever called json_parse(); every `const struct json *` got from it is
 * borrowed from it. All getters accept NULL and values of another type and then answer "absent". */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct json;

enum json_type {
    JSON_ABSENT,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* Parses one value up to the end of the text (white space may follow). Error: status 2, with line
 * and column. Strings come in loose form: a lone surrogate escape as its three bytes, \u0000 as
 * C0 80, so that one odd escape never loses the rest; utf8_add_loose() puts them right. */
struct json *json_parse(struct span text, struct err *err);
void json_free(struct json *v);

enum json_type json_type(const struct json *v);
const struct json *json_get(const struct json *object, const char *key); /* case matters */
const struct json *json_at(const struct json *array, size_t index);
size_t json_count(const struct json *v);             /* members or elements; 0 for other types */
const struct json *json_first(const struct json *v); /* first member or element */
const struct json *json_next(const struct json *v);  /* its next sibling */
const char *json_key(const struct json *member);     /* "" for an element */

const char *json_text(const struct json *v); /* NULL unless a string */
struct span json_span(const struct json *v); /* the same as a span; empty unless a string */
double json_double(const struct json *v, double absent); /* numbers only */
long json_long(const struct json *v, long absent);       /* numbers only; saturates */
bool json_bool(const struct json *v, bool absent);       /* true and false only */

/* Equality as JSON Schema means it: 1 = 1.0, members in any order. */
bool json_equal(const struct json *a, const struct json *b);

/* Adds the value as compact JSON text in the order of its members. */
void json_print(const struct json *v, struct buf *out);

/* RFC 8259 to the letter: offset of the first byte that breaks it, or -1 if `text` is exactly one
 * value. Raw control bytes and invalid UTF-8 in strings, leading zeros, trailing bytes and a
 * nesting of more than JSON_MAX_DEPTH all break it. Lone surrogate escapes do not. */
#define JSON_MAX_DEPTH 512
long json_check(struct span text);

/* The bytes of a member's value inside an object's text, as they stand; empty if there is none or
 * the text is not an object. Of several members of that name, the first. */
struct span json_raw_get(struct span object, const char *key);

/* The bytes of element `index` of an array's text, as they stand; empty if there is none. */
struct span json_raw_at(struct span array, size_t index);

/* Writes JSON text; commas are its business, balance is the caller's. At most 64 levels. */
struct jsonw {
    struct buf *out;
    unsigned long long has_member; /* one bit per level */
    int depth;
};

void jsonw_object(struct jsonw *w);
void jsonw_array(struct jsonw *w);
void jsonw_end_object(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
void jsonw_span(struct jsonw *w, struct span text); /* a string; invalid UTF-8 becomes U+FFFD */
void jsonw_text(struct jsonw *w, const char *text); /* NULL writes null */
void jsonw_long(struct jsonw *w, long long n);
void jsonw_double(struct jsonw *w, double d); /* shortest form that reads back; NaN, inf: null */
void jsonw_bool(struct jsonw *w, bool b);
void jsonw_null(struct jsonw *w);
void jsonw_raw(struct jsonw *w, struct span json); /* ready JSON text, as it stands */
void jsonw_value(struct jsonw *w, const struct json *v);

/* A member of the current object: its key and its value. */
void jsonw_member_text(struct jsonw *w, const char *key, const char *text);
void jsonw_member_long(struct jsonw *w, const char *key, long long n);
void jsonw_member_double(struct jsonw *w, const char *key, double d);
void jsonw_member_bool(struct jsonw *w, const char *key, bool b);

/* Adds `text` as a quoted JSON string. */
void json_quote(struct buf *out, struct span text);

#endif
