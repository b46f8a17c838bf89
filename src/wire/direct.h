/* direct.h - chunks of an answer read from its socket without libcurl, which spends several times
 * a read on each event that comes alone. Inside wire only.
 *
 * Only whole chunks of an answer over plain HTTP/1.1 are taken, only between two chunks, and never
 * the last: all else, headers, ends, faults, TLS, compression, odd framing, stays libcurl's, which
 * doesn't notice. What libcurl reads itself is followed through its debug callback; where the two
 * would not agree on what was read, libcurl reads on alone. */
#ifndef DIRECT_H
#define DIRECT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "chunks.h"

struct http_multi;

/* Takes the payload of a chunk in. False if the exchange is over: then `arg` may be gone. */
typedef bool direct_take(void *arg, struct span payload);

/* Part of an exchange, which tells it of everything in between. */
struct direct {
    CURL *easy;
    struct http_multi *multi;
    direct_take *take;
    void *arg;
    struct chunks chunks;
    uint64_t delivered; /* payload bytes that libcurl has handed on or direct_ready() has */
    size_t last_read;   /* bytes that libcurl read at once; many: it does better */
    int fd;             /* -1 = not known */
    bool chunked, other_coding, following;
};

/* Readies `easy`, once. */
void direct_init(struct direct *d, CURL *easy, direct_take *take, void *arg);

/* A request is about to be sent through `m`. */
void direct_start(struct direct *d, struct http_multi *m);

/* The transfer uses this socket. */
void direct_socket(struct direct *d, int fd);

/* A header line came; the blank one that ends them starts the following, if `plain`: no TLS. */
void direct_header(struct direct *d, struct span line, bool plain);

/* libcurl has read these bytes of a body and is about to decode them. */
void direct_seen(struct direct *d, struct span bytes);

/* libcurl handed on `n` bytes of payload. */
void direct_delivered(struct direct *d, size_t n);

/* Before the transfer is taken out of its multi. */
void direct_stop(struct direct *d);

#endif
