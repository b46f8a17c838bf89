/* http.c - exchanges over libcurl. It knows how a transfer starts, ends and goes wrong; what its
 * bytes mean is the decoder's, what is ready when is the loop's.
 *
 * An easy handle costs more to set up than a short exchange, so they are kept and used again.
 * libcurl looks for a reusable connection by walking all of a multi handle's, so a loop with many
 * exchanges spreads them over several. */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "decode.h"
#include "direct.h"
#include "endpoint.h"
#include "evidence.h"
#include "http_easy.h"
#include "http_multi.h"
#include "limits.h"
#include "loop.h"
#include "mem.h"
#include "redact.h"
#include "reply.h"
#include "secrets.h"
#include "sending.h"
#include "tls.h"

#define MAX_MULTIS     256
#define PER_MULTI      32
#define SPARE_CONNECTS 4    /* per multi, beyond the exchanges in flight */
#define MAX_IDLE_EASY  4096 /* easy handles kept for later */
/* Starting exchanges takes turns with those in flight. */
#define START_BUDGET_US 200
#define GOOD_TURN_US    2000

struct exchange {
    struct http *http;
    CURL *easy;
    struct http_multi *multi;     /* its own for life: there its last connection may be, idle */
    struct exchange *prev, *next; /* in flight; or the next idle one */
    struct loop_timer timer;
    struct sending sending;
    struct reply *r;
    struct decoder *decoder;
    struct direct direct;
    http_done *done;
    void *arg;
    struct curl_slist header; /* the exchange's own line, before those that all share */
    char *header_text;
    int64_t start_us, last_byte_us, done_at_us;
    size_t header_bytes;
    int tries;          /* connections that this attempt was put on */
    bool began;         /* the decoder knows status and type */
    bool headers_whole; /* up to the blank line */
    bool ended;         /* r->end is set and stands, whatever libcurl will say */
    bool cancelled;
    char why[CURL_ERROR_SIZE];
};

struct http {
    const struct endpoint *ep;
    struct loop *loop;
    struct http_multi *multis;
    int n_multis, n_in_flight;
    unsigned n_made; /* exchanges, ever */
    CURLSH *share;
    struct tls *tls; /* NULL: none is spoken, or libcurl reads it alone */
    CURLU *url;
    struct curl_slist *headers;
    struct redactor redactor;
    struct exchange *first, *idle;
    int n_idle;
    uint64_t n_direct;
    bool any_cancelled, direct;
};

/* --- how an exchange ends --- */

static void set_end(struct exchange *x, enum exchange_end end, const char *detail)
{
    if (x->ended)
        return;
    x->ended = true;
    x->r->end = end;
    snprintf(x->r->end_detail, sizeof x->r->end_detail, "%.159s", detail);
}

static bool died_before_any_byte(const struct exchange *x, CURLcode rc)
{
    return !x->header_bytes && !x->r->first_byte_us && http_easy_lost(rc);
}

/* --- what libcurl calls --- */

static struct limit_times times_of(const struct exchange *x)
{
    const struct reply *r = x->r;
    curl_off_t connected = 1;
    if (!r->first_byte_us)
        curl_easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
    return (struct limit_times){.start_us = x->start_us,
                                .sent_us = r->sent_us,
                                .first_byte_us = r->first_byte_us,
                                .last_byte_us = x->last_byte_us,
                                .done_at_us = x->done_at_us,
                                .connected = connected > 0};
}

/* For the next moment at which a limit could pass, as far as is known now. */
static void set_timer(struct exchange *x)
{
    struct limit_times times = times_of(x);
    int64_t at = limits_next(x->http->ep, &times);
    if (at < INT64_MAX)
        loop_set(x->http->loop, &x->timer, at);
}

static void begin(struct exchange *x)
{
    long status = 0;
    char *type = NULL;
    if (x->began)
        return;
    x->began = true;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(x->easy, CURLINFO_CONTENT_TYPE, &type);
    decoder_start(x->decoder, (int)status, type);
}

/* Payload of the answer came. False: the transfer is to end. */
static bool take(struct exchange *x, struct span bytes)
{
    struct reply *r = x->r;
    int64_t now = loop_now_us(x->http->loop), late = loop_late_us(x->http->loop);
    if (x->ended)
        return false;
    begin(x);
    bool first = !r->first_byte_us;
    r->first_byte_us = first ? now : r->first_byte_us;
    x->last_byte_us = now;
    if (first) /* the idle limit may be the nearest one now; later bytes only move it away */
        set_timer(x);
    r->max_late_us = late > r->max_late_us ? late : r->max_late_us;
    evidence_body(r, bytes.data, bytes.len, now);
    if (decoder_feed(x->decoder, bytes.data, bytes.len, now) < 0) {
        x->ended = true;
        return false;
    }
    if (r->done && r->stream && !x->done_at_us) {
        x->done_at_us = now;
        set_timer(x);
    }
    return true;
}

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct span bytes = {data, size * n};
    direct_delivered(&x->direct, bytes.len);
    return take(x, bytes) ? bytes.len : bytes.len + 1; /* any wrong count ends the transfer */
}

static void finish(void *owner, CURLcode rc);

/* A direct_take. */
static bool on_chunk(void *arg, struct span payload)
{
    struct exchange *x = arg;
    x->http->n_direct += payload.data != NULL;
    if (payload.data && take(x, payload))
        return true;
    finish(x, CURLE_RECV_ERROR);
    return false;
}

static void on_socket(void *owner, int fd)
{
    struct exchange *x = owner;
    direct_socket(&x->direct, fd);
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct span line = {data, size * n};
    x->header_bytes += line.len;
    if (x->header_bytes > x->http->ep->caps.headers) {
        char detail[80];
        snprintf(detail, sizeof detail, "header cap %zu", x->http->ep->caps.headers);
        set_end(x, END_TOO_LARGE, detail);
        return 0;
    }
    if (line.len <= 2) /* the blank line that ends them */
        x->headers_whole = true;
    else if (span_starts(line, "HTTP/"))
        x->headers_whole = false;
    evidence_header(x->r, line);
    direct_header(&x->direct, line, x->http->direct);
    return line.len;
}

/* Called whenever the request is about to go out on a connection. Where a reused one dies before
 * any byte, libcurl repeats the request by itself, up to five times and uncounted: here it may go
 * out once more, on a new connection, and counts. finish() does the same where libcurl would not.
 */
static int on_request(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct exchange *x = arg;
    long connects = 0;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    if (x->tries++ == 0)
        return CURL_PREREQFUNC_OK;
    curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &connects);
    if (!connects || x->r->retries)
        return CURL_PREREQFUNC_ABORT;
    x->r->retries = 1;
    x->r->sent_us = loop_now_us(x->http->loop);
    return CURL_PREREQFUNC_OK;
}

/* --- starting --- */

static void check_limits(void *arg, int64_t now_us);

static struct exchange *new_exchange(struct http *h)
{
    struct exchange *x = h->idle;
    if (x) {
        h->idle = x->next;
        h->n_idle--;
        return x;
    }
    x = mem_zero(1, sizeof *x);
    x->http = h;
    x->multi = &h->multis[h->n_made++ % (unsigned)h->n_multis];
    x->easy = http_easy_new(h->ep);
    http_easy_set_post(x->easy, h->ep, h->url);
    x->timer = (struct loop_timer){.fire = check_limits, .arg = x};
    direct_init(&x->direct, x->easy, h->tls, on_chunk, x);
    sending_init(&x->sending, x->easy);
    curl_easy_setopt(x->easy, CURLOPT_SHARE, h->share);
    curl_easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->why);
    curl_easy_setopt(x->easy, CURLOPT_PRIVATE, x);
    curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(x->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(x->easy, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(x->easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(x->easy, CURLOPT_PREREQDATA, x);
    return x;
}

static void start(struct exchange *x, bool fresh)
{
    x->tries = 0;
    x->why[0] = '\0';
    x->r->sent_us = clock_mono_us();
    sending_begin(&x->sending);
    direct_start(&x->direct, x->multi);
    http_multi_add(x->multi, x->easy, fresh);
    set_timer(x);
}

struct exchange *http_post(struct http *h, struct http_body body, const char *extra_header,
                           struct reply *r, http_done *done, void *arg)
{
    struct exchange *x = new_exchange(h);
    x->r = r;
    x->done = done;
    x->arg = arg;
    x->decoder = decoder_new(h->ep->dialect, &h->ep->caps, r);
    x->header_text = mem_str(extra_header);
    x->header = (struct curl_slist){.data = x->header_text, .next = h->headers};
    x->header_bytes = 0;
    x->last_byte_us = x->done_at_us = 0;
    x->began = x->ended = x->cancelled = x->headers_whole = false;
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, extra_header ? &x->header : h->headers);
    sending_set(&x->sending, x->easy, body);
    x->prev = NULL;
    x->next = h->first;
    if (h->first)
        h->first->prev = x;
    h->first = x;
    h->n_in_flight++;
    x->start_us = clock_mono_us();
    start(x, false);
    return x;
}

/* --- ending --- */

static void stop(struct exchange *x)
{
    loop_unset(x->http->loop, &x->timer);
    direct_stop(&x->direct);
    http_multi_remove(x->multi, x->easy);
}

static void drop(struct exchange *x)
{
    struct http *h = x->http;
    if (x->prev)
        x->prev->next = x->next;
    else
        h->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    h->n_in_flight--;
    decoder_free(x->decoder);
    free(x->header_text);
    x->decoder = NULL;
    x->header_text = NULL;
    if (h->n_idle >= MAX_IDLE_EASY) {
        curl_easy_cleanup(x->easy);
        free(x);
        return;
    }
    x->next = h->idle;
    h->idle = x;
    h->n_idle++;
}

static void read_facts(struct exchange *x)
{
    struct reply *r = x->r;
    long connects = 0;
    struct curl_header *header = NULL;
    curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &connects);
    r->reused = connects == 0 && x->tries > 0;
    if (curl_easy_header(x->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        r->retry_after_s = evidence_retry_after(span_of(header->value), clock_wall_us());
    if (x->header_bytes)
        begin(x);
    if (r->status >= 300 && r->status < 400 && !x->ended) {
        char target[100];
        http_easy_target(x->easy, target);
        if (target[0])
            snprintf(r->end_detail, sizeof r->end_detail, "redirect to '%s' not followed", target);
    }
}

static void finish(void *owner, CURLcode rc)
{
    struct exchange *x = owner;
    struct http *h = x->http;
    struct reply *r = x->r;
    read_facts(x);
    if (x->cancelled)
        set_end(x, END_CANCELLED, "stopped by us");
    bool lost = x->tries > 1 || (r->reused && died_before_any_byte(x, rc));
    stop(x);
    if (lost && !x->ended && !r->retries) {
        r->retries = 1;
        start(x, true);
        return;
    }
    if (r->retries && died_before_any_byte(x, rc))
        set_end(x, END_CONNECT, "two connections died before any byte");
    if (rc == CURLE_OK && x->header_bytes && !x->headers_whole) /* no fault in libcurl's eyes */
        set_end(x, END_CUT, "closed inside the headers");
    if (rc != CURLE_OK)
        set_end(x, http_easy_end(rc, x->why), x->why[0] ? x->why : curl_easy_strerror(rc));
    r->done_us = loop_now_us(h->loop);
    decoder_end(x->decoder);
    redact_reply(&h->redactor, h->ep, r);
    http_done *done = x->done;
    void *arg = x->arg;
    drop(x);
    done(arg, r);
}

/* A limit passed, or would have, had not bytes come since the timer was set. */
static void check_limits(void *arg, int64_t now_us)
{
    struct exchange *x = arg;
    struct limit_times times = times_of(x);
    enum exchange_end end;
    char detail[80];
    if (!limits_passed(x->http->ep, &times, now_us, &end, detail)) {
        set_timer(x);
        return;
    }
    if (end == END_CLEAN)
        x->r->quirks |= QUIRK_BIT(open_after_done);
    set_end(x, end, detail);
    finish(x, CURLE_OK);
}

/* --- the loop's life --- */

struct http *http_new(const struct endpoint *ep, long max_in_flight, struct err *err)
{
    struct http *h = mem_zero(1, sizeof *h);
    h->ep = ep;
    h->direct = direct_open(ep, &h->tls);
    long wanted = max_in_flight / PER_MULTI + 1;
    h->n_multis = wanted > MAX_MULTIS ? MAX_MULTIS : wanted < 1 ? 1 : (int)wanted;
    h->multis = mem_zero((size_t)h->n_multis, sizeof *h->multis);
    h->loop = loop_new(http_multi_ready, err);
    h->share = curl_share_init();
    h->url = http_easy_url(ep);
    long connects = max_in_flight / h->n_multis + SPARE_CONNECTS;
    bool ok = h->loop && h->share;
    for (int i = 0; ok && i < h->n_multis; i++)
        ok = http_multi_open(&h->multis[i], h->loop, connects, ep->http2, finish, on_socket);
    if (!ok) {
        err_set(err, STATUS_TOOL, "can't create libcurl's handles");
        http_free(h);
        return NULL;
    }
    curl_share_setopt(h->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(h->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    h->headers = http_easy_headers(ep, true);
    secrets_init(&h->redactor, ep);
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    while (h->first) {
        stop(h->first);
        drop(h->first);
    }
    while (h->idle) {
        struct exchange *x = h->idle;
        h->idle = x->next;
        curl_easy_cleanup(x->easy);
        free(x);
    }
    for (int i = 0; i < h->n_multis; i++)
        http_multi_close(&h->multis[i]);
    free(h->multis);
    curl_share_cleanup(h->share);
    curl_url_cleanup(h->url);
    curl_slist_free_all(h->headers);
    secrets_release(&h->redactor);
    tls_free(h->tls);
    loop_free(h->loop);
    free(h);
}

void http_cancel(struct exchange *x)
{
    x->cancelled = true;
    x->http->any_cancelled = true;
}

void http_at(struct http *h, int64_t at_us, http_tick *tick, void *arg)
{
    loop_at(h->loop, at_us, tick, arg);
}

static void finish_cancelled(struct http *h)
{
    h->any_cancelled = false;
    for (struct exchange *x = h->first, *next; x; x = next) {
        next = x->next;
        if (!x->cancelled)
            continue;
        finish(x, CURLE_OK);
        next = h->first; /* the callback may have changed the list anywhere */
    }
}

int64_t http_start_budget_us(const struct http *h)
{
    int64_t turn = loop_turn_us(h->loop);
    return START_BUDGET_US * GOOD_TURN_US / (turn > GOOD_TURN_US ? turn : GOOD_TURN_US);
}

int http_run(struct http *h, int64_t wait_us)
{
    if (h->any_cancelled)
        finish_cancelled(h);
    loop_run(h->loop, wait_us);
    return h->n_in_flight;
}

void http_wake(struct http *h)
{
    loop_wake(h->loop);
}

int64_t http_lateness_us(const struct http *h, double q)
{
    return loop_lateness_us(h->loop, q);
}

uint64_t http_direct_chunks(const struct http *h)
{
    return h->n_direct;
}
