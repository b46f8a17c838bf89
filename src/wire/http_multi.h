/* http_multi.h - one libcurl multi handle, driven by a loop. Inside wire only. */
#ifndef HTTP_MULTI_H
#define HTTP_MULTI_H

#include <curl/curl.h>
#include <stdbool.h>

#include "loop.h"

/* A transfer is over: `owner` is its handle's CURLINFO_PRIVATE. Not called from inside libcurl. */
typedef void http_multi_done(void *owner, CURLcode result);

/* The transfer of `owner` uses this socket, which is watched from now on. */
typedef void http_multi_socket(void *owner, int fd);

struct http_multi {
    struct loop *loop;
    CURLM *curl;
    http_multi_done *done;
    http_multi_socket *socket;
    long idle_most; /* so many connections at the most wait to be used again */
    bool shares;    /* a connection may take several transfers at a time */
    bool closing;   /* libcurl is about to close, or has closed, what it stops watching now */
    struct loop_timer timer;
};

/* Opens one that keeps at most `connects` connections, each for one transfer at a time unless it
 * `shares` them (HTTP/2). It must not move afterwards. */
bool http_multi_open(struct http_multi *m, struct loop *l, long connects, bool shares,
                     http_multi_done *done, http_multi_socket *socket);
void http_multi_close(struct http_multi *m);

/* Puts a transfer in; `fresh`: on a new connection, whatever there is. */
void http_multi_add(struct http_multi *m, CURL *easy, bool fresh);

/* Takes a transfer out, over or not. */
void http_multi_remove(struct http_multi *m, CURL *easy);

/* A loop_ready: `arg` is the multi that watches the descriptor. */
void http_multi_ready(void *arg, int fd, unsigned what);

#endif
