/* template.c - the {{reference}} language of scenario files.
 *
 * Knows how a text is cut and which names a reference may use. Refuses to know what they stand for
 * in a session: that is fill.c. */
#include "template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "utf8.h"
#include "value.h"

#define INDEX_MAX 999999 /* of a value; bounds what a file can ask for */

static struct span trimmed(struct span s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = (struct span){s.data + 1, s.len - 1};
    while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static size_t braces(struct span source, size_t at)
{
    size_t n = 0;
    while (at + n < source.len && source.data[at + n] == '{')
        n++;
    return n;
}

bool template_cut(struct span source, size_t *at, struct span *piece, bool *ref)
{
    if (*at >= source.len)
        return false;
    size_t from = *at;
    *ref = braces(source, from) == 2;
    if (*ref) {
        long end = span_find(source, span_of("}}"), from + 2);
        *at = end < 0 ? source.len : (size_t)end + 2;
        *piece = end < 0 ? (struct span){NULL, 0}
                         : trimmed((struct span){source.data + from + 2, (size_t)end - from - 2});
        return true;
    }
    size_t n = braces(source, from), to = from;
    if (n >= 4) { /* four braces write two */
        *piece = (struct span){source.data + from, 2};
        *at = from + 4;
        return true;
    }
    if (n == 3)
        to = from + 1;
    while (to < source.len && braces(source, to) < 2)
        to++;
    *piece = (struct span){source.data + from, to - from};
    *at = to;
    return true;
}

static struct piece *piece_add(struct template *t)
{
    t->pieces = mem_grow(t->pieces, &t->cap, t->n, sizeof *t->pieces);
    struct piece *p = &t->pieces[t->n++];
    *p = (struct piece){0};
    return p;
}

static void literal_add(struct template *t, struct span s)
{
    struct piece *last = t->n ? &t->pieces[t->n - 1] : NULL;
    if (!last || last->kind != PIECE_LITERAL) {
        last = piece_add(t);
        last->literal = mem_copy("", 0);
    }
    last->literal = mem_resize(last->literal, last->len + s.len + 1);
    memcpy(last->literal + last->len, s.data, s.len);
    last->len += s.len;
    last->literal[last->len] = '\0';
}

/* "12", "i", "last-1". */
static bool index_read(struct span s, struct template_index *x)
{
    *x = (struct template_index){INDEX_CONST, 0};
    size_t at = 0;
    long sign = 1;
    if (span_starts(s, "last")) {
        x->base = INDEX_LAST;
        at = 4;
    } else if (span_starts(s, "i")) {
        x->base = INDEX_I;
        at = 1;
    }
    if (x->base != INDEX_CONST) {
        if (at == s.len)
            return true;
        if (s.data[at] != '+' && s.data[at] != '-')
            return false;
        sign = s.data[at++] == '-' ? -1 : 1;
    }
    if (at == s.len)
        return false;
    for (; at < s.len; at++) {
        if (s.data[at] < '0' || s.data[at] > '9' || x->offset > INDEX_MAX)
            return false;
        x->offset = x->offset * 10 + (s.data[at] - '0');
    }
    x->offset *= sign;
    return labs(x->offset) <= INDEX_MAX;
}

static int unknown(struct span name, const struct template_scope *scope, const char *path,
                   struct err *err)
{
    struct buf known = BUF_INIT;
    buf_adds(&known, "canary, round, rounds, i, last");
    if (scope->context)
        buf_adds(&known, ", context");
    values_names(scope->values, &known);
    int shown = name.len < 60 ? (int)name.len : 60;
    err_set(err, STATUS_USAGE,
            "'%s' uses unknown variable '%.*s' (known: %.400s; a literal {{ is "
            "written {{{{)",
            path, shown, name.data ? name.data : "", buf_str(&known));
    buf_release(&known);
    return -1;
}

static bool builtin(struct span ref, const struct template_scope *scope, struct piece *p)
{
    static const struct {
        const char *name;
        enum piece_kind kind;
    } table[] = {
        {"canary", PIECE_CANARY},
        {"round", PIECE_ROUND},
        {"rounds", PIECE_ROUNDS},
        {"context", PIECE_CONTEXT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_is(ref, table[i].name) && (scope->context || table[i].kind != PIECE_CONTEXT)) {
            p->kind = table[i].kind;
            return true;
        }
    return false;
}

/* A reference's meaning into *p; false if it has none. */
static bool resolve(struct span ref, const struct template_scope *scope, struct piece *p)
{
    struct span name = ref, index = {NULL, 0};
    const char *bracket = ref.len ? memchr(ref.data, '[', ref.len) : NULL;
    if (bracket) {
        name.len = (size_t)(bracket - ref.data);
        if (ref.data[ref.len - 1] != ']')
            return false;
        index = trimmed((struct span){bracket + 1, ref.len - name.len - 2});
        if (!index_read(index, &p->index))
            return false;
    }
    long value = values_find(scope->values, trimmed(name));
    if (value >= 0) {
        p->kind = PIECE_VALUE;
        p->value = (size_t)value;
        return true;
    }
    if (bracket)
        return false;
    if (builtin(ref, scope, p))
        return true;
    p->kind = PIECE_INDEX;
    return ref.len && (ref.data[0] == 'i' || ref.data[0] == 'l') && index_read(ref, &p->index);
}

static bool is_number(const struct piece *p, const struct template_scope *scope)
{
    return p->kind == PIECE_ROUND || p->kind == PIECE_ROUNDS || p->kind == PIECE_INDEX ||
           (p->kind == PIECE_VALUE && values_kind(scope->values, p->value) == VALUE_NUMBER);
}

/* In JSON, "{{n}}" alone in its string becomes the bare number: takes the opening quote from the
 * literal before, and the closing one is skipped by the caller. */
static bool takes_quotes(struct template *t, struct span source, size_t at)
{
    struct piece *before = t->n > 0 ? &t->pieces[t->n - 1] : NULL;
    if (!t->json || !before || before->kind != PIECE_LITERAL || !before->len)
        return false;
    size_t len = before->len;
    if (before->literal[len - 1] != '"' || (len > 1 && before->literal[len - 2] == '\\'))
        return false;
    if (at >= source.len || source.data[at] != '"')
        return false;
    before->literal[--before->len] = '\0';
    return true;
}

int template_add(struct template *t, struct span source, const struct template_scope *scope,
                 const char *path, struct err *err)
{
    if (utf8_check(source) >= 0)
        return err_set(err, STATUS_USAGE, "'%s' is no valid Unicode text (an unpaired surrogate?)",
                       path);
    if (source.len && memchr(source.data, '\0', source.len))
        return err_set(err, STATUS_USAGE, "'%s' holds a NUL character", path);
    struct span s;
    bool ref;
    for (size_t at = 0; template_cut(source, &at, &s, &ref);) {
        if (!ref) {
            literal_add(t, s);
            continue;
        }
        if (!s.data)
            return err_set(err, STATUS_USAGE,
                           "'%s' has '{{' without '}}' (a literal {{ is written "
                           "{{{{)",
                           path);
        struct piece p = {0};
        if (!resolve(s, scope, &p))
            return unknown(s, scope, path, err);
        if (is_number(&p, scope) && takes_quotes(t, source, at)) {
            p.bare = true;
            at++;
        }
        *piece_add(t) = p;
    }
    return 0;
}

static int read_line(struct template *t, const struct json *v, const struct template_scope *scope,
                     const char *path, struct err *err)
{
    struct buf line = BUF_INIT;
    utf8_add_loose(&line, json_span(v));
    int status = template_add(t, buf_span(&line), scope, path, err);
    buf_release(&line);
    return status;
}

int template_read(struct template *t, const struct json *v, const struct template_scope *scope,
                  const char *path, struct err *err)
{
    if (json_type(v) == JSON_STRING)
        return read_line(t, v, scope, path, err);
    int line = 0;
    for (const struct json *e = json_first(v); e; e = json_next(e), line++) {
        char place[200];
        snprintf(place, sizeof place, "%.180s[%d]", path, line);
        if (line)
            literal_add(t, span_of("\n"));
        if (read_line(t, e, scope, place, err))
            return -1;
    }
    return 0;
}

int template_read_json(struct template *t, struct span raw, const struct template_scope *scope,
                       const char *path, struct err *err)
{
    t->json = true;
    return template_add(t, raw, scope, path, err);
}

void template_release(struct template *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->pieces[i].literal);
    free(t->pieces);
    *t = (struct template){0};
}
