/* fold.c - look-alikes to ASCII. Servers, tokenizers and gateways write one and the same marker
 * with ASCII bars, full-width bars or double lines; patterns should not have to know. */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "utf8.h"

#define DROPPED 0

/* The byte that stands for a code point; DROPPED; or -1 = stays as it is. */
static int stand_in(uint32_t c)
{
    switch (c) {
    case 0xFF5C: /* full-width bar */
    case 0x2016: /* double vertical line */
    case 0x2223: /* divides */
    case 0x2758: /* light vertical bar */
    case 0xFFE8: /* half-width vertical */ return '|';
    case 0x2581: return '_'; /* lower one eighth block */
    case 0xFF1C:
    case 0x25C1: return '<';
    case 0xFF1E:
    case 0x25B7: return '>';
    case 0xFF0F: return '/';
    case 0xFF3B: return '[';
    case 0xFF3D: return ']';
    case 0x00A0:
    case 0x3000: return ' ';
    case 0x201C:
    case 0x201D: return '"';
    case 0x200B:
    case 0x200C:
    case 0x200D:
    case 0x2060:
    case 0xFEFF: return DROPPED;
    default: return -1;
    }
}

struct folder {
    struct fold *f;
    struct span raw;
    size_t n; /* bytes written */
};

static void put(struct folder *w, const char *bytes, size_t len, size_t raw_at)
{
    for (size_t i = 0; i < len; i++, w->n++) {
        w->f->own[w->n] = bytes[i];
        w->f->map[w->n] = (uint32_t)(raw_at + i);
    }
}

static void put_byte(struct folder *w, int c, size_t raw_at)
{
    char byte = (char)c;
    put(w, &byte, 1, raw_at);
}

static int hex4(struct span s, size_t at)
{
    int value = 0;
    for (size_t i = at; i < at + 4; i++) {
        const char *digits = "0123456789abcdef";
        int c = i < s.len ? (unsigned char)s.data[i] : 0;
        const char *p = c ? strchr(digits, c | 0x20) : NULL;
        if (!p || (c < '0'))
            return -1;
        value = value * 16 + (int)(p - digits);
    }
    return value;
}

/* An escape sequence of JSON at raw[at]; returns its length, 0 if it is none. */
static size_t put_escape(struct folder *w, size_t at)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int c = at + 1 < w->raw.len ? (unsigned char)w->raw.data[at + 1] : 0;
    const char *p = c ? strchr(names, c) : NULL;
    if (p) {
        put_byte(w, values[p - names], at);
        return 2;
    }
    int unit = c == 'u' ? hex4(w->raw, at + 2) : -1;
    if (unit < 0)
        return 0;
    int byte = stand_in((uint32_t)unit);
    if (byte < 0)
        byte = unit < 0x80 ? unit : '?';
    if (byte != DROPPED || unit == 0)
        put_byte(w, byte, at);
    return 6;
}

static bool escapes_underscore(struct span raw, size_t at)
{
    return raw.data[at] == '\\' && at + 1 < raw.len && raw.data[at + 1] == '_';
}

static void fold_bytes(struct folder *w, size_t from, bool escapes)
{
    struct span raw = w->raw;
    for (size_t at = from; at < raw.len;) {
        unsigned char c = (unsigned char)raw.data[at];
        if (c == '\\') {
            size_t len = escapes ? put_escape(w, at) : 0;
            if (!len && escapes_underscore(raw, at)) {
                put_byte(w, '_', at);
                len = 2;
            }
            if (!len)
                put_byte(w, c, at);
            at += len ? len : 1;
        } else if (c < 0x80) {
            put_byte(w, c, at++);
        } else {
            size_t here = at;
            uint32_t code = utf8_next(raw, &at);
            int byte = code == UTF8_INVALID ? -1 : stand_in(code);
            if (byte < 0)
                put(w, raw.data + here, at - here, here);
            else if (byte != DROPPED)
                put_byte(w, byte, here);
        }
    }
}

/* Offset of the first byte that folding might change, or the length. */
static size_t first_change(struct span raw, size_t plain, bool escapes)
{
    for (size_t i = plain; (i = utf8_plain_end(raw, i)) < raw.len; i++) {
        unsigned char c = (unsigned char)raw.data[i];
        if (c == '\\' && (escapes || escapes_underscore(raw, i)))
            return i;
        /* C2 A0, E2 .., E3 80 80, EF .. are the only ways the characters above begin. */
        if (c == 0xC2 || c == 0xE2 || c == 0xE3 || c == 0xEF)
            return i;
    }
    return raw.len;
}

void fold_init(struct fold *f, struct span raw, size_t plain, bool escapes)
{
    *f = (struct fold){.text = raw};
    if (raw.len > FOLD_MAX)
        raw.len = f->text.len = FOLD_MAX;
    size_t from = first_change(raw, plain, escapes);
    if (from == raw.len)
        return;
    f->own = mem_resize(NULL, raw.len + 1);
    f->map = mem_resize(NULL, (raw.len + 1) * sizeof *f->map);
    struct folder w = {f, raw, 0};
    put(&w, raw.data, from, 0);
    fold_bytes(&w, from, escapes);
    f->own[w.n] = '\0';
    f->map[w.n] = (uint32_t)raw.len;
    f->text = (struct span){f->own, w.n};
}

void fold_release(struct fold *f)
{
    free(f->own);
    free(f->map);
    *f = (struct fold){0};
}

size_t fold_raw(const struct fold *f, size_t at)
{
    return f->map ? f->map[at] : at;
}

size_t fold_at(const struct fold *f, size_t at)
{
    if (!f->map)
        return at;
    size_t low = 0, high = f->text.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (f->map[mid] < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
