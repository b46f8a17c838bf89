/* buf.h - bytes that grow up to a cap. Always NUL-terminated; may hold NULs inside.
 *
 * A buf that would pass its cap keeps what fits and sets `full`; adding to it goes on to be safe
 * and without effect. BUF_INIT and a zeroed struct are valid and empty, with no cap. */
#ifndef BUF_H
#define BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
    char *data; /* NULL until something is added: read through buf_str() */
    size_t len;
    size_t size;
    size_t cap; /* most bytes it may hold; 0 = no limit */
    bool full;  /* something did not fit */
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

/* Borrowed bytes; they live no longer than their owner leaves them in place. */
struct span {
    const char *data;
    size_t len;
};

void buf_release(struct buf *b); /* frees; empty afterwards, cap kept */
void buf_clear(struct buf *b);   /* empty, memory kept */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
void buf_add_long(struct buf *b, long long n); /* in decimal */
void buf_add_ulong(struct buf *b, unsigned long long n);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void buf_reserve(struct buf *b, size_t more); /* room for `more` bytes, as far as the cap allows */
void buf_consume(struct buf *b, size_t n);    /* drops the first n bytes */

const char *buf_str(const struct buf *b);  /* never NULL; borrowed */
struct span buf_span(const struct buf *b); /* borrowed */
char *buf_take(struct buf *b);             /* the text is the caller's now; b is empty */

struct span span_of(const char *text); /* NULL gives an empty span */
/* Here so that a literal's length is known when it is compiled. */
static inline bool span_is(struct span s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

static inline bool span_starts(struct span s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && memcmp(s.data, prefix, n) == 0;
}

/* Offset of `needle` in `s` from `from` on, or -1. An empty needle is found nowhere. */
long span_find(struct span s, struct span needle, size_t from);

#endif
