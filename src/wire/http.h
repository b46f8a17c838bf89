/* http.h - exchanges over libcurl: one event loop, owned by one thread. The one home of curl. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

struct endpoint;
struct exchange;
struct http;
struct reply;

/* Once per process, before any thread starts; and at its end. */
int http_global_init(struct err *err);
void http_global_end(void);

/* Refuses what the libcurl in use does wrong, so that the server is not blamed. Error: status 2. */
int http_check(const struct endpoint *ep, struct err *err);

/* An event loop (epoll over curl_multi_socket_action). `ep` is borrowed. `max_in_flight` sizes its
 * connection cache. */
struct http *http_new(const struct endpoint *ep, long max_in_flight, struct err *err);
void http_free(struct http *h); /* cancels what is in flight, without callbacks */

typedef void http_done(void *arg, struct reply *r);
typedef void http_tick(void *arg);

/* A request's body, in two pieces so that what many begin with can be kept once. */
struct http_body {
    struct span shared; /* may be empty */
    struct span own;
};

/* POSTs `body` (borrowed until done) to the endpoint's chat route and decodes the answer into `r`
 * (initialised, r->stream set; borrowed until done). `extra_header` is one more "Name: value" line
 * or NULL. `done` is called from http_run(), never from here. */
struct exchange *http_post(struct http *h, struct http_body body, const char *extra_header,
                           struct reply *r, http_done *done, void *arg);

/* Ends it as END_CANCELLED; `done` is called from the next http_run(). */
void http_cancel(struct exchange *x);

/* Calls `tick` once, from http_run(), at or after `at_us` (clock_mono_us()). */
void http_at(struct http *h, int64_t at_us, http_tick *tick, void *arg);

/* For how long the caller may start exchanges now, at a stretch, so that those in flight are late
 * by a few milliseconds at most; then http_at() in a millisecond. Each costs several times its
 * start once it connects, so this shrinks as the loop's turns grow. One may always be started. */
int64_t http_start_budget_us(const struct http *h);

/* Handles what is ready, waiting up to `wait_us` for something. Returns the exchanges in flight. */
int http_run(struct http *h, int64_t wait_us);

/* Makes a waiting http_run() return soon. The one function here that other threads may call. */
void http_wake(struct http *h);

/* How late this loop handled what it could have handled, microseconds: quantile q of all wake-ups
 * so far. */
int64_t http_lateness_us(const struct http *h, double q);

/* Chunks of bodies that were read without libcurl (direct.h) so far. */
uint64_t http_direct_chunks(const struct http *h);

/* One GET, waiting for it: for probes, not for load. The body goes to `out` (capped at 1 MiB)
 * without secrets. Returns the status, or 0 if there was no answer; *why says why there was none,
 * or what came in the place of JSON ("redirect to '/login'", "text/html"), or nothing. */
int http_get(const struct endpoint *ep, const char *url, int64_t timeout_us, struct buf *out,
             char why[160]);

#endif
