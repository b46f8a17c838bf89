/* json_write.c - JSON text out. Strings that are not UTF-8 come out as JSON that any reader takes.
 */
#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* Before a value or key: the comma, if one is due. */
static void separate(struct jsonw *w)
{
    unsigned long long bit = 1ull << w->depth;
    if (w->has_member & bit)
        buf_addc(w->out, ',');
    w->has_member |= bit;
}

static void enter(struct jsonw *w, char open)
{
    separate(w);
    buf_addc(w->out, open);
    w->depth++;
    assert(w->depth < 64);
    w->has_member &= ~(1ull << w->depth);
}

static void leave(struct jsonw *w, char close)
{
    assert(w->depth > 0);
    w->depth--;
    buf_addc(w->out, close);
}

void jsonw_object(struct jsonw *w)
{
    enter(w, '{');
}

void jsonw_array(struct jsonw *w)
{
    enter(w, '[');
}

void jsonw_end_object(struct jsonw *w)
{
    leave(w, '}');
}

void jsonw_end_array(struct jsonw *w)
{
    leave(w, ']');
}

void jsonw_key(struct jsonw *w, const char *key)
{
    separate(w);
    json_quote(w->out, span_of(key));
    buf_addc(w->out, ':');
    w->has_member &= ~(1ull << w->depth); /* no comma between a key and its value */
}

/* The letter behind the backslash that stands for `c`, or 0. */
static char escape_letter(unsigned char c)
{
    switch (c) {
    case '"':
    case '\\': return (char)c;
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static void quote_special(struct buf *out, unsigned char c)
{
    const char two[] = {'\\', escape_letter(c)};
    if (two[1])
        buf_add(out, two, sizeof two);
    else
        buf_addf(out, "\\u%04x", c);
}

void json_quote(struct buf *out, struct span text)
{
    buf_reserve(out, text.len + 2);
    buf_addc(out, '"');
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        at = utf8_plain_end(text, at);
        buf_add(out, text.data + from, at - from);
        if (at == text.len)
            break;
        unsigned char c = (unsigned char)text.data[at];
        if (c < 0x80) {
            quote_special(out, c);
            at++;
        } else {
            from = at;
            if (utf8_next(text, &at) == UTF8_INVALID)
                buf_adds(out, "\xEF\xBF\xBD");
            else
                buf_add(out, text.data + from, at - from);
        }
    }
    buf_addc(out, '"');
}

void jsonw_span(struct jsonw *w, struct span text)
{
    separate(w);
    json_quote(w->out, text);
}

void jsonw_text(struct jsonw *w, const char *text)
{
    if (text)
        jsonw_span(w, span_of(text));
    else
        jsonw_null(w);
}

void jsonw_long(struct jsonw *w, long long n)
{
    separate(w);
    buf_add_long(w->out, n);
}

void jsonw_double(struct jsonw *w, double d)
{
    if (!isfinite(d)) {
        jsonw_null(w);
        return;
    }
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, d);
        if (strtod(text, NULL) == d)
            break;
    }
    separate(w);
    buf_adds(w->out, text);
}

void jsonw_bool(struct jsonw *w, bool b)
{
    separate(w);
    buf_adds(w->out, b ? "true" : "false");
}

void jsonw_null(struct jsonw *w)
{
    separate(w);
    buf_adds(w->out, "null");
}

void jsonw_raw(struct jsonw *w, struct span json)
{
    separate(w);
    buf_add(w->out, json.data, json.len);
}

void jsonw_member_text(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    jsonw_text(w, text);
}

void jsonw_member_long(struct jsonw *w, const char *key, long long n)
{
    jsonw_key(w, key);
    jsonw_long(w, n);
}

void jsonw_member_double(struct jsonw *w, const char *key, double d)
{
    jsonw_key(w, key);
    jsonw_double(w, d);
}

void jsonw_member_bool(struct jsonw *w, const char *key, bool b)
{
    jsonw_key(w, key);
    jsonw_bool(w, b);
}

/* A tree can be deeper than a jsonw, so it is printed by plain recursion (cJSON stops at 1000). */
static void print_tree(const struct json *v, struct buf *out)
{
    enum json_type type = json_type(v);
    if (type == JSON_ARRAY || type == JSON_OBJECT) {
        buf_addc(out, type == JSON_ARRAY ? '[' : '{');
        for (const struct json *m = json_first(v); m; m = json_next(m)) {
            if (type == JSON_OBJECT) {
                json_quote(out, span_of(json_key(m)));
                buf_addc(out, ':');
            }
            print_tree(m, out);
            if (json_next(m))
                buf_addc(out, ',');
        }
        buf_addc(out, type == JSON_ARRAY ? ']' : '}');
        return;
    }
    struct jsonw scalar = {.out = out};
    struct buf put_right = BUF_INIT;
    switch (type) {
    case JSON_BOOL: jsonw_bool(&scalar, json_bool(v, false)); break;
    case JSON_NUMBER: jsonw_double(&scalar, json_double(v, 0)); break;
    case JSON_STRING:
        utf8_add_loose(&put_right, json_span(v));
        json_quote(out, buf_span(&put_right));
        buf_release(&put_right);
        break;
    case JSON_ABSENT:
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT: jsonw_null(&scalar); break;
    }
}

void jsonw_value(struct jsonw *w, const struct json *v)
{
    separate(w);
    print_tree(v, w->out);
}
