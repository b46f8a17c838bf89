/* tls_none.c - a build without OpenSSL: libcurl reads what comes over TLS alone. */
#include "tls.h"

#include <stdlib.h>

struct tls *tls_new(void)
{
    return NULL;
}

void tls_free(struct tls *t)
{
    (void)t;
}

struct tls_session *tls_session_of(const struct tls *t, CURL *easy)
{
    (void)t, (void)easy;
    return NULL;
}

bool tls_begin(struct tls *t, struct tls_session *s, int fd, struct span raw)
{
    (void)t, (void)s, (void)fd, (void)raw;
    return false;
}

long tls_peek(struct tls *t, char *text, size_t cap)
{
    (void)t, (void)text, (void)cap;
    return TLS_NONE;
}

bool tls_take(struct tls *t, char *text, size_t n)
{
    (void)t, (void)text, (void)n;
    return false;
}

size_t tls_end(struct tls *t)
{
    (void)t;
    return 0;
}
