/* json_scan.c - JSON text without a tree: the strict check, and slices that keep every byte. */
#include "json.h"

#include <string.h>

#include "utf8.h"

struct scan {
    struct span text;
    size_t at;
};

static int peek(const struct scan *s)
{
    return s->at < s->text.len ? (unsigned char)s->text.data[s->at] : -1;
}

static void skip_space(struct scan *s)
{
    for (int c = peek(s); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(s))
        s->at++;
}

static bool digits(struct scan *s)
{
    size_t start = s->at;
    for (int c = peek(s); c >= '0' && c <= '9'; c = peek(s))
        s->at++;
    return s->at > start;
}

static bool scan_number(struct scan *s)
{
    if (peek(s) == '-')
        s->at++;
    if (peek(s) == '0')
        s->at++;
    else if (!digits(s))
        return false;
    if (peek(s) == '.') {
        s->at++;
        if (!digits(s))
            return false;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        if (!digits(s))
            return false;
    }
    return true;
}

static bool scan_escape(struct scan *s)
{
    s->at++;
    int c = peek(s);
    if (c < 0)
        return false;
    s->at++;
    if (c != 'u') {
        if (strchr("\"\\/bfnrt", c) && c)
            return true;
        s->at--;
        return false;
    }
    for (int i = 0; i < 4; i++) {
        c = peek(s);
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!hex)
            return false;
        s->at++;
    }
    return true;
}

static bool scan_string(struct scan *s)
{
    if (peek(s) != '"')
        return false;
    s->at++;
    for (;;) {
        int c = peek(s);
        if (c < 0x20)
            return false;
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c == '\\') {
            if (!scan_escape(s))
                return false;
        } else {
            size_t here = s->at;
            if (utf8_next(s->text, &s->at) == UTF8_INVALID) {
                s->at = here;
                return false;
            }
        }
    }
}

static bool scan_word(struct scan *s, const char *word)
{
    for (; *word; word++, s->at++)
        if (peek(s) != *word)
            return false;
    return true;
}

static bool scan_value(struct scan *s, int depth);

/* Members up to the closing bracket; `close` says which kind of container it is. */
static bool scan_members(struct scan *s, char close, int depth)
{
    s->at++;
    skip_space(s);
    if (peek(s) == close) {
        s->at++;
        return true;
    }
    for (;;) {
        skip_space(s);
        if (close == '}') {
            if (!scan_string(s))
                return false;
            skip_space(s);
            if (peek(s) != ':')
                return false;
            s->at++;
        }
        if (!scan_value(s, depth + 1))
            return false;
        skip_space(s);
        int c = peek(s);
        if (c != ',' && c != close)
            return false;
        s->at++;
        if (c == close)
            return true;
    }
}

static bool scan_value(struct scan *s, int depth)
{
    if (depth > JSON_MAX_DEPTH)
        return false;
    skip_space(s);
    switch (peek(s)) {
    case '{': return scan_members(s, '}', depth);
    case '[': return scan_members(s, ']', depth);
    case '"': return scan_string(s);
    case 't': return scan_word(s, "true");
    case 'f': return scan_word(s, "false");
    case 'n': return scan_word(s, "null");
    default: return scan_number(s);
    }
}

long json_check(struct span text)
{
    struct scan s = {.text = text};
    if (!scan_value(&s, 0))
        return (long)s.at;
    skip_space(&s);
    return s.at == text.len ? -1 : (long)s.at;
}

/* Moves to the next value of a container and says where it is; false at the end or on bad text. */
static bool next_value(struct scan *s, char close, struct span *key, struct span *value)
{
    skip_space(s);
    if (peek(s) == ',')
        s->at++;
    skip_space(s);
    if (peek(s) == close || peek(s) < 0)
        return false;
    if (close == '}') {
        size_t from = s->at;
        if (!scan_string(s))
            return false;
        *key = (struct span){s->text.data + from + 1, s->at - from - 2};
        skip_space(s);
        if (peek(s) != ':')
            return false;
        s->at++;
    }
    skip_space(s);
    size_t from = s->at;
    if (!scan_value(s, 1))
        return false;
    *value = (struct span){s->text.data + from, s->at - from};
    return true;
}

struct span json_raw_get(struct span object, const char *key)
{
    struct scan s = {.text = object};
    struct span found = {"", 0}, name, value;
    skip_space(&s);
    if (peek(&s) != '{')
        return found;
    s.at++;
    while (next_value(&s, '}', &name, &value))
        if (span_is(name, key))
            return value;
    return found;
}

struct span json_raw_at(struct span array, size_t index)
{
    struct scan s = {.text = array};
    struct span found = {"", 0}, name, value;
    skip_space(&s);
    if (peek(&s) != '[')
        return found;
    s.at++;
    for (size_t i = 0; next_value(&s, ']', &name, &value); i++)
        if (i == index)
            return value;
    return found;
}
