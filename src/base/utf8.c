/* utf8.c - strict UTF-8, and the loose form in which a JSON string may reach us in pieces. */
#include "utf8.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_WORDS 1
#else
#define LITTLE_ENDIAN_WORDS 0
#endif

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

uint32_t utf8_next(struct span s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.data + *at;
    size_t left = s.len - *at;
    *at += 1;
    if (p[0] < 0x80)
        return p[0];
    if (p[0] >= 0xC2 && p[0] <= 0xDF && left >= 2 && is_tail(p[1])) {
        *at += 1;
        return ((uint32_t)(p[0] & 0x1F) << 6) | (p[1] & 0x3F);
    }
    if ((p[0] & 0xF0) == 0xE0 && left >= 3 && is_tail(p[1]) && is_tail(p[2])) {
        uint32_t c =
            ((uint32_t)(p[0] & 0x0F) << 12) | ((uint32_t)(p[1] & 0x3F) << 6) | (p[2] & 0x3F);
        if (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF))
            return UTF8_INVALID;
        *at += 2;
        return c;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4 && left >= 4 && is_tail(p[1]) && is_tail(p[2]) &&
        is_tail(p[3])) {
        uint32_t c = ((uint32_t)(p[0] & 0x07) << 18) | ((uint32_t)(p[1] & 0x3F) << 12) |
                     ((uint32_t)(p[2] & 0x3F) << 6) | (p[3] & 0x3F);
        if (c < 0x10000 || c > 0x10FFFF)
            return UTF8_INVALID;
        *at += 3;
        return c;
    }
    return UTF8_INVALID;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Marks, in their highest bits, the bytes of a word that are not plain. The lowest mark is right;
 * borrows may make marks above it. */
static uint64_t marks(uint64_t x)
{
    uint64_t control = (x - ONES * 0x20) & ~x, beyond = x | (x + ONES);
    uint64_t quote = x ^ (ONES * '"'), slash = x ^ (ONES * '\\');
    return (control | beyond | ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) & HIGHS;
}

size_t utf8_plain_end(struct span s, size_t at)
{
    if (at >= s.len)
        return s.len;
    const char *p = s.data + at, *end = s.data + s.len;
    while (end - p >= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        uint64_t found = marks(x);
        if (found && LITTLE_ENDIAN_WORDS)
            return (size_t)(p - s.data) + (size_t)__builtin_ctzll(found) / 8;
        if (found)
            break;
        p += 8;
    }
    while (p < end && is_plain((unsigned char)*p))
        p++;
    return (size_t)(p - s.data);
}

long utf8_check(struct span s)
{
    for (size_t at = utf8_plain_end(s, 0); at < s.len; at = utf8_plain_end(s, at)) {
        size_t here = at;
        if (utf8_next(s, &at) == UTF8_INVALID)
            return (long)here;
    }
    return -1;
}

void utf8_add(struct buf *b, uint32_t c)
{
    char out[4];
    size_t n;
    if (c < 0x80) {
        out[0] = (char)c;
        n = 1;
    } else if (c < 0x800) {
        out[0] = (char)(0xC0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3F));
        n = 2;
    } else if (c < 0x10000) {
        out[0] = (char)(0xE0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        n = 3;
    } else {
        out[0] = (char)(0xF0 | (c >> 18));
        out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
        out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
        out[3] = (char)(0x80 | (c & 0x3F));
        n = 4;
    }
    buf_add(b, out, n);
}

/* The surrogate half that three bytes spell (WTF-8), or 0. */
static uint32_t surrogate_at(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    if (u[0] != 0xED || u[1] < 0xA0 || u[1] > 0xBF || !is_tail(u[2]))
        return 0;
    return 0xD000u | ((uint32_t)(u[1] & 0x3F) << 6) | (u[2] & 0x3F);
}

void utf8_add_loose(struct buf *b, struct span s)
{
    size_t at = 0;
    while (at < s.len) {
        size_t plain = at;
        while (plain < s.len && (unsigned char)s.data[plain] != 0xED &&
               (unsigned char)s.data[plain] != 0xC0)
            plain++;
        buf_add(b, s.data + at, plain - at);
        at = plain;
        if (at == s.len)
            break;
        uint32_t low = s.len - at >= 3 ? surrogate_at(s.data + at) : 0;
        uint32_t high = b->len >= 3 ? surrogate_at(b->data + b->len - 3) : 0;
        if (low >= 0xDC00 && high && high < 0xDC00) {
            b->len -= 3;
            utf8_add(b, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            at += 3;
        } else if (s.len - at >= 2 && (unsigned char)s.data[at] == 0xC0 &&
                   (unsigned char)s.data[at + 1] == 0x80) {
            buf_addc(b, '\0');
            at += 2;
        } else {
            buf_addc(b, s.data[at++]);
        }
    }
}
