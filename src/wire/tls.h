/* tls.h - what a connection's TLS records hold, read beside libcurl: its session of OpenSSL is lent
 * bytes that were peeked from the socket. Without OpenSSL in the build, or with another TLS library
 * under libcurl, there are no sessions to be had. Inside wire only; not for several threads. */
#ifndef TLS_H
#define TLS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct tls;
struct tls_session; /* libcurl's; lives as long as its connection */

/* NULL if sessions of libcurl's TLS library can't be read here. */
struct tls *tls_new(void);
void tls_free(struct tls *t);

/* The session of the connection that `easy` uses, NULL if there is none that could be read. */
struct tls_session *tls_session_of(const struct tls *t, CURL *easy);

/* Lends `raw`, which the socket `fd` holds next, to a session until tls_end(). False if the session
 * still holds payload that libcurl is to read first. */
bool tls_begin(struct tls *t, struct tls_session *s, int fd, struct span raw);

enum { TLS_NONE = 0, TLS_OVER = -1, TLS_BROKEN = -2 };

/* Copies the next record's payload to `text` and leaves it in the session. Returns its length, at
 * most `cap`; TLS_NONE without a whole record, TLS_OVER if the peer sends no more, TLS_BROKEN. */
long tls_peek(struct tls *t, char *text, size_t cap);

/* Takes `n` bytes that were peeked out of the session; false if the connection is broken. */
bool tls_take(struct tls *t, char *text, size_t n);

/* Ends the loan. Returns how many bytes of `raw` the session took: they are to leave the socket. */
size_t tls_end(struct tls *t);

#endif
