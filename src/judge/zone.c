/* zone.c - Markdown as far as it tells showing from saying. Knows nothing of markup: a fence around
 * a call is a fence; who reads the zones decides what that excuses. */
#include "zone.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* A quoted span is at most this long; more is a stray quote. */
#define QUOTE_MAX 160

struct walk {
    struct zones *z;
    struct span text;
    char fence; /* '`' or '~' inside a fence, else 0 */
    size_t fence_len;
    bool blank_before; /* the line before was blank */
    bool indented;     /* the line before was indented code */
    int n_fences;
    bool prose; /* something visible outside of fences */
};

static void mark(struct walk *w, size_t from, size_t to, enum zone z)
{
    memset(w->z->of + from, (int)z, to - from);
}

static size_t run_of(struct span s, size_t at, char c)
{
    size_t n = 0;
    while (at + n < s.len && s.data[at + n] == c)
        n++;
    return n;
}

static bool is_blank(struct span s, size_t from, size_t to)
{
    for (; from < to; from++)
        if (s.data[from] != ' ' && s.data[from] != '\t' && s.data[from] != '\r')
            return false;
    return true;
}

/* Length of a fence run at the start of a line (after at most 3 blanks), and where it begins. */
static size_t fence_run(struct span s, size_t from, size_t to, size_t *at)
{
    size_t i = from;
    while (i < to && i < from + 3 && s.data[i] == ' ')
        i++;
    *at = i;
    if (i >= to || (s.data[i] != '`' && s.data[i] != '~'))
        return 0;
    size_t n = run_of(s, i, s.data[i]);
    /* A back-tick behind it on its line would make it inline code; an angle bracket is no language
     * to name, but a marker glued to a fence's end. */
    if (n < 3 || (s.data[i] == '`' && memchr(s.data + i + n, '`', to - i - n)) ||
        memchr(s.data + i + n, '<', to - i - n))
        return 0;
    return n;
}

/* True if the line was part of a fence. */
static bool fence_line(struct walk *w, size_t from, size_t to)
{
    size_t at, n = fence_run(w->text, from, to, &at);
    if (w->fence) {
        mark(w, from, to, ZONE_FENCE);
        if (n >= w->fence_len && w->text.data[at] == w->fence && is_blank(w->text, at + n, to))
            w->fence = 0;
        return true;
    }
    if (!n)
        return false;
    w->fence = w->text.data[at];
    w->fence_len = n;
    if (!w->n_fences++)
        w->z->fence_info = (struct span){w->text.data + at + n, to - at - n};
    mark(w, from, to, ZONE_FENCE);
    return true;
}

/* Behind the closing run of back-ticks of the same length, or 0. */
static size_t inline_end(struct span s, size_t at, size_t to, size_t run)
{
    while (at < to) {
        const char *p = memchr(s.data + at, '`', to - at);
        if (!p)
            return 0;
        at = (size_t)(p - s.data);
        size_t n = run_of(s, at, '`');
        if (n == run)
            return at + n;
        at += n;
    }
    return 0;
}

static bool opens_quote(struct span s, size_t line, size_t at)
{
    return at == line || s.data[at - 1] == ' ' || s.data[at - 1] == '(' || s.data[at - 1] == '\t';
}

static void spans_of_line(struct walk *w, size_t from, size_t to)
{
    struct span s = w->text;
    /* Runs of a length that was not closed once will not be closed later on the same line. */
    size_t unclosed = 0;
    for (size_t i = from; i < to;) {
        size_t end = 0;
        if (s.data[i] == '`') {
            size_t run = run_of(s, i, '`');
            if (run != unclosed && (end = inline_end(s, i + run, to, run)) != 0)
                mark(w, i, end, ZONE_INLINE);
            else
                unclosed = run;
            i = end ? end : i + run;
        } else if (s.data[i] == '"' && opens_quote(s, from, i)) {
            size_t reach = to - i - 1 < QUOTE_MAX ? to - i - 1 : QUOTE_MAX;
            const char *p = memchr(s.data + i + 1, '"', reach);
            if (p)
                mark(w, i, end = (size_t)(p - s.data) + 1, ZONE_QUOTE);
            i = end ? end : i + 1;
        } else {
            i++;
        }
    }
}

static void plain_line(struct walk *w, size_t from, size_t to)
{
    struct span s = w->text;
    bool blank = is_blank(s, from, to);
    bool deep = to - from > 4 && (s.data[from] == '\t' || memcmp(s.data + from, "    ", 4) == 0);
    size_t i = from;
    while (i < to && i < from + 3 && s.data[i] == ' ')
        i++;
    bool quoted = i + 1 < to && s.data[i] == '>' && (s.data[i + 1] == ' ' || s.data[i + 1] == '\t');
    w->prose = w->prose || !blank;
    if (deep && !blank && (w->blank_before || w->indented)) {
        mark(w, from, to, ZONE_INDENT);
        w->indented = true;
    } else if (quoted) {
        mark(w, from, to, ZONE_BLOCKQUOTE);
        w->indented = false;
    } else if (!blank) {
        spans_of_line(w, from, to);
        w->indented = false;
    }
    w->blank_before = blank;
}

void zones_init(struct zones *z, struct span text)
{
    *z = (struct zones){.of = mem_zero(text.len + 1, 1)};
    struct walk w = {.z = z, .text = text};
    for (size_t from = 0; from < text.len;) {
        const char *p = memchr(text.data + from, '\n', text.len - from);
        size_t to = p ? (size_t)(p - text.data) : text.len;
        if (!fence_line(&w, from, to))
            plain_line(&w, from, to);
        from = to + 1;
    }
    z->whole_fence = w.n_fences == 1 && !w.prose;
}

void zones_release(struct zones *z)
{
    free(z->of);
    *z = (struct zones){0};
}

const char *zone_name(enum zone z)
{
    static const char *const names[] = {"prose",       "a code fence", "indented code",
                                        "inline code", "a blockquote", "quotes"};
    return names[z];
}
