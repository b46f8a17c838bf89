/* event_scan.h - an event's JSON read from left to right: what is looked at stands where it stands,
 * and false means that it is not what was asked for. Inline, because reading events is most of what
 * decoding costs. Inside wire only. */
#ifndef EVENT_SCAN_H
#define EVENT_SCAN_H

#include <stdbool.h>
#include <string.h>

#include "raw_string.h"

struct dialect;
struct raw_event;

#define MAX_NUMBER 40 /* characters */

/* Compared in place: keys are what most of the time goes into. */
#define IS(key, word)                                                                              \
    ((key).len == sizeof(word) - 1 && memcmp((key).data, word, sizeof(word) - 1) == 0)

struct scan {
    const char *at, *end;
    const struct dialect *dialect;
    struct raw_event *event;
    const char *choices; /* where their value begins */
};

static inline void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

static inline bool take(struct scan *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static inline bool take_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

static inline bool take_string(struct scan *s, struct raw *out)
{
    skip_space(s);
    const char *behind = raw_string_read(s->at, s->end, out);
    s->at = behind ? behind : s->at;
    return behind != NULL;
}

static inline bool take_digits(struct scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > from;
}

static inline bool take_number(struct scan *s)
{
    const char *from = s->at;
    if (s->at < s->end && *s->at == '-')
        s->at++;
    if (s->end - s->at > 1 && *s->at == '0' && s->at[1] >= '0' && s->at[1] <= '9')
        return false;
    if (!take_digits(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!take_digits(s))
            return false;
    }
    /* an exponent is left for the tree */
    return s->at - from <= MAX_NUMBER && !(s->at < s->end && (*s->at == 'e' || *s->at == 'E'));
}

/* Any value that is no container. `text` is left alone unless it is a string or null. */
static inline bool take_scalar(struct scan *s, struct raw *text)
{
    skip_space(s);
    if (s->at == s->end)
        return false;
    switch (*s->at) {
    case '"': return take_string(s, text);
    case 'n': text->kind = PIECE_NULL; return take_word(s, "null");
    case 't': return take_word(s, "true");
    case 'f': return take_word(s, "false");
    default: return take_number(s);
    }
}

/* A string or null that comes once. */
static inline bool take_once(struct scan *s, struct raw *out)
{
    if (out->kind != PIECE_ABSENT)
        return false;
    return take_scalar(s, out) && out->kind != PIECE_ABSENT;
}

typedef bool take_member(struct scan *s, struct span key, void *into);

static inline bool take_one(struct scan *s, take_member *member, void *into)
{
    struct raw key;
    return take_string(s, &key) && !key.escaped && take(s, ':') && member(s, key.text, into);
}

/* What follows a member, to the end of its object. */
static inline bool take_rest(struct scan *s, take_member *member, void *into)
{
    while (take(s, ','))
        if (!take_one(s, member, into))
            return false;
    return take(s, '}');
}

/* An object, each member of which `member` takes whole. */
static inline bool take_object(struct scan *s, take_member *member, void *into)
{
    if (!take(s, '{'))
        return false;
    if (take(s, '}'))
        return true;
    return take_one(s, member, into) && take_rest(s, member, into);
}

static inline bool take_null(struct scan *s)
{
    skip_space(s);
    return take_word(s, "null");
}

/* A member that means nothing: any scalar. */
static inline bool take_other(struct scan *s)
{
    struct raw ignored = {0};
    return take_scalar(s, &ignored);
}

#endif
