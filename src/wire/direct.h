/* direct.h - chunks of an answer read from its socket without libcurl, which spends several times
 * a read on each event that comes alone. Inside wire only.
 *
 * Only whole chunks of an answer over HTTP/1.1, plain or in TLS records (tls.h), are taken, only
 * between two chunks, and never the last: all else, headers, ends, compression, odd framing, stays
 * libcurl's, which doesn't notice. So do faults, but for records that are not what their keys say.
 * What libcurl reads itself is followed through its debug callback; where the two would not agree
 * on what was read, libcurl reads on alone. */
#ifndef DIRECT_H
#define DIRECT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "chunks.h"

struct endpoint;
struct http_multi;
struct tls;
struct tls_session;

/* Takes the payload of a chunk in; without data, the connection broke here. False if the exchange
 * is over: then `arg` may be gone. */
typedef bool direct_take(void *arg, struct span payload);

/* Part of an exchange, which tells it of everything in between. */
struct direct {
    CURL *easy;
    struct http_multi *multi;
    struct tls *tls;             /* NULL: the bytes are plain */
    struct tls_session *session; /* while following what it holds */
    direct_take *take;
    void *arg;
    struct chunks chunks;
    uint64_t delivered; /* payload bytes that libcurl has handed on or direct_ready() has */
    int fd;             /* -1 = not known */
    bool chunked, other_coding, following;
};

/* Whether the answers of `ep` may be read here. If it speaks TLS, *t is what reads that, for the
 * caller to free; else NULL. */
bool direct_open(const struct endpoint *ep, struct tls **t);

/* Readies `easy`, once. `t`, borrowed, if it is to speak TLS. */
void direct_init(struct direct *d, CURL *easy, struct tls *t, direct_take *take, void *arg);

/* A request is about to be sent through `m`. */
void direct_start(struct direct *d, struct http_multi *m);

/* The transfer uses this socket, which the loop watches. */
void direct_socket(struct direct *d, int fd);

/* A header line came; the blank one that ends them starts the following, where one may follow. */
void direct_header(struct direct *d, struct span line, bool may);

/* libcurl has read these bytes of a body and is about to decode them. */
void direct_seen(struct direct *d, struct span bytes);

/* libcurl handed on `n` bytes of payload. */
void direct_delivered(struct direct *d, size_t n);

/* Before the transfer is taken out of its multi. */
void direct_stop(struct direct *d);

#endif
