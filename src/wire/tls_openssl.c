/* tls_openssl.c - a BIO over bytes in memory stands in for libcurl's while a session is read, so
 * that nothing that libcurl keeps about its own BIO changes: it never sees an end of the stream,
 * and what a record does not fill stays in the session, where libcurl goes on. */
#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>

#include "mem.h"

struct tls {
    BIO_METHOD *method;
    BIO *bio;                  /* its data is this struct */
    BIO *own_read, *own_write; /* libcurl's, while another is in their place */
    SSL *ssl;
    struct span raw;
    size_t at; /* in raw */
    int fd;
};

static int on_read(BIO *bio, char *to, int size)
{
    struct tls *t = BIO_get_data(bio);
    size_t n = t->raw.len - t->at;
    BIO_clear_retry_flags(bio);
    if (n > (size_t)size)
        n = (size_t)size;
    if (!n) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, t->raw.data + t->at, n);
    t->at += n;
    return (int)n;
}

/* Answers to the peer's key updates, and alerts. */
static int on_write(BIO *bio, const char *from, int size)
{
    struct tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t n = send(t->fd, from, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)n;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

/* libcurl says "OpenSSL/3.0.19"; a relative of OpenSSL, or a second copy of it, has other structs.
 */
static bool same_library(void)
{
    const char *theirs = curl_version_info(CURLVERSION_NOW)->ssl_version;
    const char *name = "OpenSSL/";
    return theirs && strncmp(theirs, name, strlen(name)) == 0 &&
           strcmp(theirs + strlen(name), OpenSSL_version(OPENSSL_VERSION_STRING)) == 0;
}

struct tls *tls_new(void)
{
    if (!same_library())
        return NULL;
    struct tls *t = mem_zero(1, sizeof *t);
    t->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "peeked bytes");
    if (t->method) {
        BIO_meth_set_read(t->method, on_read);
        BIO_meth_set_write(t->method, on_write);
        BIO_meth_set_ctrl(t->method, on_control);
        t->bio = BIO_new(t->method);
    }
    if (!t->bio) {
        tls_free(t);
        return NULL;
    }
    BIO_set_data(t->bio, t);
    BIO_set_init(t->bio, 1);
    return t;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    BIO_free(t->bio);
    BIO_meth_free(t->method);
    free(t);
}

struct tls_session *tls_session_of(const struct tls *t, CURL *easy)
{
    struct curl_tlssessioninfo *info = NULL;
    if (!t || curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info ||
        info->backend != CURLSSLBACKEND_OPENSSL || !info->internals)
        return NULL;
    SSL *ssl = info->internals;
    if (SSL_get_read_ahead(ssl)) /* it may hold records that no event of the socket tells of */
        return NULL;
    return (struct tls_session *)ssl;
}

bool tls_begin(struct tls *t, struct tls_session *s, int fd, struct span raw)
{
    SSL *ssl = (SSL *)s;
    if (SSL_pending(ssl))
        return false;
    ERR_clear_error(); /* or what another connection left would be taken for this one's */
    t->ssl = ssl;
    t->fd = fd;
    t->raw = raw;
    t->at = 0;
    t->own_read = SSL_get_rbio(ssl);
    t->own_write = SSL_get_wbio(ssl);
    BIO_up_ref(t->own_read);
    BIO_up_ref(t->own_write);
    BIO_up_ref(t->bio);
    BIO_up_ref(t->bio);
    SSL_set0_rbio(ssl, t->bio);
    SSL_set0_wbio(ssl, t->bio);
    return true;
}

/* What OpenSSL's return value `n` says to us. */
static long outcome(struct tls *t, int n)
{
    if (n > 0)
        return n;
    switch (SSL_get_error(t->ssl, n)) {
    case SSL_ERROR_SSL:
    case SSL_ERROR_SYSCALL: return TLS_BROKEN;
    case SSL_ERROR_ZERO_RETURN: return TLS_OVER;
    default: return TLS_NONE; /* it wants more bytes, or to be asked again */
    }
}

long tls_peek(struct tls *t, char *text, size_t cap)
{
    if (t->at == t->raw.len && !SSL_pending(t->ssl))
        return TLS_NONE;
    return outcome(t, SSL_peek(t->ssl, text, (int)cap));
}

bool tls_take(struct tls *t, char *text, size_t n)
{
    return outcome(t, SSL_read(t->ssl, text, (int)n)) == (long)n;
}

size_t tls_end(struct tls *t)
{
    SSL_set0_rbio(t->ssl, t->own_read);
    SSL_set0_wbio(t->ssl, t->own_write);
    t->ssl = NULL;
    return t->at;
}
