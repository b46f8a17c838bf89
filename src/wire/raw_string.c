/* raw_string.c - where a string of JSON ends and what its escapes stand for. Most strings are short
 * and plain: they are looked through eight bytes at a time and handed out where they stand. */
#include "raw_string.h"

#include <stdint.h>
#include <string.h>

#include "utf8.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_WORDS 1
#else
#define LITTLE_ENDIAN_WORDS 0
#endif

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static uint64_t zero_bytes(uint64_t x)
{
    return (x - ONES) & ~x & HIGHS;
}

/* The first quote, backslash or control byte at or behind `p`. */
static const char *plain_end(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        uint64_t control = (x - ONES * 0x20) & ~x & HIGHS;
        uint64_t found = control | zero_bytes(x ^ (ONES * '"')) | zero_bytes(x ^ (ONES * '\\'));
        if (found && LITTLE_ENDIAN_WORDS) /* the lowest mark is right, those above may not be */
            return p + __builtin_ctzll(found) / 8;
        if (found)
            break;
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The value of the four digits behind "\u" at `p`, or -1. */
static long unit_at(const char *p, const char *end)
{
    long value = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Length of the escape at `p`; 0 if it is none, or one that can't stand for itself. */
static size_t escape_length(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    if (p[1] != 'u')
        return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
    long unit = unit_at(p, end);
    if (unit <= 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return 0;
    if (unit < 0xD800 || unit > 0xDFFF)
        return 6;
    long low = unit_at(p + 6, end);
    return low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
}

const char *raw_string_read(const char *at, const char *end, struct raw *out)
{
    if (at == end || *at != '"')
        return NULL;
    const char *from = ++at;
    bool escaped = false;
    for (;;) {
        at = plain_end(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            break;
        size_t n = *at == '\\' ? escape_length(at, end) : 0;
        if (!n)
            return NULL;
        escaped = true;
        at += n;
    }
    *out = (struct raw){PIECE_TEXT, {from, (size_t)(at - from)}, escaped};
    return at + 1;
}

static void add_escape(const char **p, const char *end, struct buf *out)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    long unit = unit_at(*p, end);
    if (unit < 0) {
        buf_addc(out, bytes[strchr(letters, (*p)[1]) - letters]);
        *p += 2;
    } else if (unit >= 0xD800 && unit <= 0xDBFF) {
        long low = unit_at(*p + 6, end);
        utf8_add(out, (uint32_t)(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)));
        *p += 12;
    } else {
        utf8_add(out, (uint32_t)unit);
        *p += 6;
    }
}

struct span raw_string_text(const struct raw *raw, struct buf *scratch)
{
    if (!raw->escaped)
        return raw->text;
    size_t start = scratch->len;
    const char *p = raw->text.data, *end = p + raw->text.len;
    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        stop = stop ? stop : end;
        buf_add(scratch, p, (size_t)(stop - p));
        p = stop;
        if (p < end)
            add_escape(&p, end, scratch);
    }
    return (struct span){scratch->data + start, scratch->len - start};
}
