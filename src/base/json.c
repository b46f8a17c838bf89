/* json.c - the one place that knows cJSON. What cJSON lets pass or refuses against the clients in
 * the field (lone surrogates, NULs, trailing bytes) is put right here before and after it. */
#include "json.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "utf8.h"

/* struct json is never defined: it is cJSON under a name of ours. */
static const cJSON *node(const struct json *v)
{
    return (const cJSON *)v;
}

static struct json *wrap(const cJSON *v)
{
    union {
        const cJSON *in;
        struct json *out;
    } u = {.in = v};
    return u.out;
}

static int hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* True where cJSON would refuse or cut the text although JavaScript reads it. */
static bool needs_loosening(struct span text)
{
    if (memchr(text.data, '\0', text.len))
        return true;
    for (long at = 0; (at = span_find(text, span_of("\\u"), (size_t)at)) >= 0; at++) {
        const char *p = text.data + at + 2;
        if (text.len - (size_t)at < 6)
            return false;
        if ((p[0] == 'd' || p[0] == 'D') && hex4(p) >= 0xD800)
            return true;
        if (hex4(p) == 0)
            return true;
    }
    return false;
}

static void loosen_escape(struct span text, size_t *at, struct buf *out)
{
    const char *p = text.data + *at;
    size_t left = text.len - *at;
    int unit = left >= 6 && p[1] == 'u' ? hex4(p + 2) : -1;
    if (unit == 0) {
        buf_add(out, "\xC0\x80", 2);
        *at += 6;
    } else if (unit >= 0xD800 && unit <= 0xDFFF) {
        int low = left >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
        if (unit <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF) {
            buf_add(out, p, 12);
            *at += 12;
        } else {
            utf8_add(out, (uint32_t)unit);
            *at += 6;
        }
    } else {
        size_t n = left >= 2 ? 2 : left;
        buf_add(out, p, n);
        *at += n;
    }
}

static void loosen(struct span text, struct buf *out)
{
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at];
        if (c == '\\') {
            loosen_escape(text, &at, out);
        } else {
            if (c == '\0')
                buf_add(out, "\xC0\x80", 2);
            else
                buf_addc(out, c);
            at++;
        }
    }
}

static void place(struct span text, const char *where, struct err *err)
{
    int line = 1, column = 1;
    for (const char *p = text.data; p < where && p < text.data + text.len; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    err_set(err, STATUS_USAGE, "not JSON: line %d, column %d", line, column);
}

struct json *json_parse(struct span text, struct err *err)
{
    struct buf loose = BUF_INIT;
    struct span in = text;
    if (needs_loosening(text)) {
        loosen(text, &loose);
        in = buf_span(&loose);
    }
    const char *end = NULL;
    cJSON *v = in.len ? cJSON_ParseWithLengthOpts(in.data, in.len, &end, 0) : NULL;
    if (v) {
        while (end < in.data + in.len && strchr(" \t\r\n", *end))
            end++;
        if (end != in.data + in.len) {
            cJSON_Delete(v);
            v = NULL;
        }
    }
    if (!v) {
        if (!in.len)
            err_set(err, STATUS_USAGE, "not JSON: empty");
        else
            place(in, end ? end : in.data, err);
    }
    buf_release(&loose);
    return wrap(v);
}

void json_free(struct json *v)
{
    cJSON_Delete((cJSON *)v);
}

enum json_type json_type(const struct json *v)
{
    if (!v)
        return JSON_ABSENT;
    switch (node(v)->type & 0xFF) {
    case cJSON_NULL: return JSON_NULL;
    case cJSON_False:
    case cJSON_True: return JSON_BOOL;
    case cJSON_Number: return JSON_NUMBER;
    case cJSON_String: return JSON_STRING;
    case cJSON_Array: return JSON_ARRAY;
    case cJSON_Object: return JSON_OBJECT;
    default: return JSON_ABSENT;
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (json_type(object) != JSON_OBJECT)
        return NULL;
    return wrap(cJSON_GetObjectItemCaseSensitive(node(object), key));
}

const struct json *json_at(const struct json *array, size_t index)
{
    if (json_type(array) != JSON_ARRAY || index > INT_MAX)
        return NULL;
    return wrap(cJSON_GetArrayItem(node(array), (int)index));
}

size_t json_count(const struct json *v)
{
    size_t n = 0;
    for (const struct json *e = json_first(v); e; e = json_next(e))
        n++;
    return n;
}

const struct json *json_first(const struct json *v)
{
    enum json_type t = json_type(v);
    return t == JSON_ARRAY || t == JSON_OBJECT ? wrap(node(v)->child) : NULL;
}

const struct json *json_next(const struct json *v)
{
    return v ? wrap(node(v)->next) : NULL;
}

const char *json_key(const struct json *member)
{
    return member && node(member)->string ? node(member)->string : "";
}

const char *json_text(const struct json *v)
{
    return json_type(v) == JSON_STRING ? node(v)->valuestring : NULL;
}

struct span json_span(const struct json *v)
{
    return span_of(json_text(v));
}

double json_double(const struct json *v, double absent)
{
    return json_type(v) == JSON_NUMBER ? node(v)->valuedouble : absent;
}

long json_long(const struct json *v, long absent)
{
    if (json_type(v) != JSON_NUMBER)
        return absent;
    double d = node(v)->valuedouble;
    if (isnan(d))
        return absent;
    if (d >= 9.2e18)
        return LONG_MAX;
    if (d <= -9.2e18)
        return LONG_MIN;
    return (long)d;
}

bool json_bool(const struct json *v, bool absent)
{
    return json_type(v) == JSON_BOOL ? (node(v)->type & 0xFF) == cJSON_True : absent;
}

static bool objects_equal(const struct json *a, const struct json *b)
{
    if (json_count(a) != json_count(b))
        return false;
    for (const struct json *m = json_first(a); m; m = json_next(m)) {
        const struct json *other = json_get(b, json_key(m));
        if (!other || !json_equal(m, other))
            return false;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (json_type(a) != json_type(b))
        return false;
    switch (json_type(a)) {
    case JSON_ABSENT:
    case JSON_NULL: return true;
    case JSON_BOOL: return json_bool(a, false) == json_bool(b, false);
    case JSON_NUMBER: return node(a)->valuedouble == node(b)->valuedouble;
    case JSON_STRING: return strcmp(json_text(a), json_text(b)) == 0;
    case JSON_OBJECT: return objects_equal(a, b);
    case JSON_ARRAY: break;
    }
    const struct json *x = json_first(a), *y = json_first(b);
    for (; x && y; x = json_next(x), y = json_next(y))
        if (!json_equal(x, y))
            return false;
    return !x && !y;
}

void json_print(const struct json *v, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_value(&w, v);
}
