/* buf.c - the growing byte buffer, and a few questions to borrowed bytes. */
#include "buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define SIZE_FIRST 64
#define SIZE_SMALL 4096

void buf_release(struct buf *b)
{
    size_t cap = b->cap;
    free(b->data);
    *b = (struct buf){.cap = cap};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->full = false;
    if (b->data)
        b->data[0] = '\0';
}

/* Room for `more` bytes and the NUL; the cap allows them. */
static void grow(struct buf *b, size_t more)
{
    size_t size = b->size ? b->size : SIZE_FIRST;
    while (size - b->len <= more) {
        if (size > SIZE_MAX / 4)
            abort();
        size *= size < SIZE_SMALL ? 4 : 2; /* most grow from nothing, time and again */
    }
    if (b->cap && size > b->cap + 1)
        size = b->cap + 1;
    b->data = mem_resize(b->data, size);
    b->size = size;
    b->data[b->len] = '\0';
}

void buf_reserve(struct buf *b, size_t more)
{
    if (b->cap && more > b->cap - b->len)
        more = b->cap - b->len;
    if (!b->data || more >= b->size - b->len)
        grow(b, more);
}

void buf_add(struct buf *b, const void *data, size_t len)
{
    if (b->cap && len > b->cap - b->len) {
        len = b->cap - b->len;
        b->full = true;
    }
    if (!b->data || len >= b->size - b->len)
        grow(b, len);
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_addc(struct buf *b, char c)
{
    if (b->size - b->len < 2 || b->len == b->cap) { /* no room, or perhaps no cap */
        buf_add(b, &c, 1);
        return;
    }
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

static void add_decimal(struct buf *b, unsigned long long n, bool minus)
{
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (minus)
        *--p = '-';
    buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

void buf_add_long(struct buf *b, long long n)
{
    unsigned long long u = (unsigned long long)n;
    add_decimal(b, n < 0 ? 0 - u : u, n < 0);
}

void buf_add_ulong(struct buf *b, unsigned long long n)
{
    add_decimal(b, n, false);
}

void buf_vaddf(struct buf *b, const char *format, va_list args)
{
    char small[256];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    if (n < 0)
        abort();
    if ((size_t)n < sizeof small) {
        buf_add(b, small, (size_t)n);
    } else {
        char *text = mem_resize(NULL, (size_t)n + 1);
        vsnprintf(text, (size_t)n + 1, format, again);
        buf_add(b, text, (size_t)n);
        free(text);
    }
    va_end(again);
}

void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vaddf(b, format, args);
    va_end(args);
}

void buf_consume(struct buf *b, size_t n)
{
    if (!n)
        return;
    if (n > b->len)
        n = b->len;
    memmove(b->data, b->data + n, b->len - n + 1);
    b->len -= n;
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

struct span buf_span(const struct buf *b)
{
    return (struct span){buf_str(b), b->len};
}

char *buf_take(struct buf *b)
{
    char *text = b->data ? b->data : mem_copy("", 0);
    *b = (struct buf){.cap = b->cap};
    return text;
}

struct span span_of(const char *text)
{
    return (struct span){text ? text : "", text ? strlen(text) : 0};
}

long span_find(struct span s, struct span needle, size_t from)
{
    if (!needle.len || needle.len > s.len)
        return -1;
    size_t last = s.len - needle.len;
    while (from <= last) {
        const char *hit = memchr(s.data + from, needle.data[0], last - from + 1);
        if (!hit)
            return -1;
        if (memcmp(hit, needle.data, needle.len) == 0)
            return hit - s.data;
        from = (size_t)(hit - s.data) + 1;
    }
    return -1;
}
