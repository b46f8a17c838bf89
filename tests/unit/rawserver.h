/* rawserver.h - a server that sends exactly the bytes it is told, right or wrong HTTP, on a free
 * loopback port or a unix socket: what HTTP libraries refuse to send. One thread a connection. */
#ifndef RAWSERVER_H
#define RAWSERVER_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listener.h"

enum raw_then {
    RAW_KEEP,   /* wait for the next request */
    RAW_FIN,    /* close */
    RAW_RST,    /* close with a reset */
    RAW_HANG,   /* send nothing more until the client goes */
    RAW_FOREVER /* send `again` until the client goes */
};

/* What a request whose path holds "/NAME/" gets. */
struct raw_reply {
    const char *name;
    const char *bytes;
    size_t len; /* 0 = up to the NUL */
    enum raw_then then;
    const char *again;
    int die_on_request;      /* the n-th request of a connection, from 1, gets nothing but FIN */
    int die_from_connection; /* the n-th connection, from 1, and all later ones likewise */
};

/* How many of `len` bytes that are left of a reply go out at once, before a millisecond's pause. */
typedef size_t raw_cut(const char *left, size_t len);

struct raw_server {
    const struct raw_reply *replies;
    size_t n_replies;
    raw_cut *cut; /* NULL: all; change it only when nothing is in flight */
    struct listener listener;
    int port;
    atomic_int n_connections, n_requests;
    char last_request[65536]; /* read it only when nothing is in flight */
    pthread_mutex_t lock;
};

struct raw_connection {
    struct raw_server *server;
    int fd, number;
    char request[sizeof((struct raw_server *)0)->last_request];
};

static bool raw_send(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static bool raw_send_pieces(int fd, const char *data, size_t len, raw_cut *cut)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = cut ? cut(data + at, len - at) : len;
        if (at)
            poll(NULL, 0, 1);
        if (!raw_send(fd, data + at, n))
            return false;
    }
    return true;
}

/* Reads one request with its body; false when the client is gone. */
static bool raw_read(struct raw_connection *c)
{
    struct raw_server *s = c->server;
    char *text = c->request;
    const size_t most = sizeof c->request - 1;
    size_t n = 0, want = most;
    text[0] = '\0';
    while (n < want) {
        ssize_t got = recv(c->fd, text + n, 1, 0); /* never a byte of the next request */
        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
        char *end = want == most ? strstr(text, "\r\n\r\n") : NULL;
        if (!end)
            continue;
        want = (size_t)(end - text) + 4;
        for (char *line = text; line < end; line = strstr(line, "\r\n") + 2)
            if (strncasecmp(line, "Content-Length:", 15) == 0)
                want += (size_t)atol(line + 15);
    }
    pthread_mutex_lock(&s->lock);
    memcpy(s->last_request, text, n + 1);
    pthread_mutex_unlock(&s->lock);
    return true;
}

static const struct raw_reply *raw_find(const struct raw_server *s, const char *request)
{
    char first[512];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(request, "\r\n"), request);
    for (size_t i = 0; i < s->n_replies; i++) {
        char mark[80];
        snprintf(mark, sizeof mark, "/%s/", s->replies[i].name);
        if (strstr(first, mark))
            return &s->replies[i];
    }
    return NULL;
}

static bool raw_answer(struct raw_connection *c, int nth)
{
    struct raw_server *s = c->server;
    const struct raw_reply *r = raw_find(s, c->request);
    atomic_fetch_add(&s->n_requests, 1);
    if (!r || nth == r->die_on_request ||
        (r->die_from_connection && c->number >= r->die_from_connection))
        return false;
    if (!raw_send_pieces(c->fd, r->bytes, r->len ? r->len : strlen(r->bytes), s->cut))
        return false;
    char byte;
    switch (r->then) {
    case RAW_KEEP: return true;
    case RAW_FIN: return false;
    case RAW_RST: {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        poll(NULL, 0, 100); /* a reset takes along what was not read */
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    case RAW_HANG:
        while (recv(c->fd, &byte, 1, 0) > 0)
            continue;
        return false;
    case RAW_FOREVER:
        while (raw_send(c->fd, r->again, strlen(r->again)))
            continue;
        return false;
    }
    return false;
}

static void raw_serve(void *owner, int fd)
{
    struct raw_server *s = owner;
    struct raw_connection *c = malloc(sizeof *c);
    if (!c)
        abort();
    c->server = s;
    c->fd = fd;
    c->number = atomic_fetch_add(&s->n_connections, 1) + 1;
    int nth = 1;
    while (raw_read(c) && raw_answer(c, nth))
        nth++;
    close(fd);
    free(c);
}

/* `unix_path` NULL: a free port of 127.0.0.1. */
static struct raw_server *raw_start(const struct raw_reply *replies, size_t n,
                                    const char *unix_path)
{
    struct raw_server *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->replies = replies;
    s->n_replies = n;
    pthread_mutex_init(&s->lock, NULL);
    listener_start(&s->listener, unix_path, raw_serve, s);
    s->port = s->listener.port;
    return s;
}

/* Every client connection must be closed by then. */
static void raw_stop(struct raw_server *s)
{
    listener_stop(&s->listener);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

#endif
