/* http.c - exchanges over libcurl. It knows how a transfer starts, ends and goes wrong; what its
 * bytes mean is the decoder's, what is ready when is the loop's.
 *
 * An easy handle costs more to set up than a short exchange, so they are kept and used again.
 * libcurl looks for a reusable connection by walking all of a multi handle's, so a loop with many
 * exchanges spreads them over several. */
#include "http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "decode.h"
#include "endpoint.h"
#include "evidence.h"
#include "loop.h"
#include "mem.h"
#include "reply.h"
#include "utf8.h"

#define RECEIVE_BYTES  16384L /* per exchange in flight; a token's event is about 250 */
#define SEND_BYTES     16384L
#define MAX_MULTIS     16
#define PER_MULTI      64         /* exchanges in flight from which another multi pays */
#define SPARE_CONNECTS 4          /* per multi, beyond the exchanges in flight */
#define MAX_IDLE_EASY  4096       /* easy handles kept for later */
#define DONE_GRACE_US  2000000    /* a stream may stay open after [DONE] for so long */
#define GET_CAP        (1u << 20) /* bytes of a probe's answer */
#define DNS_CACHE_S    300L

struct multi {
    struct http *http;
    CURLM *curl;
    struct loop_timer timer;
    long in_flight;
};

struct exchange {
    struct http *http;
    CURL *easy;
    struct multi *multi;
    struct exchange *prev, *next; /* in flight; or the next idle one */
    struct loop_timer timer;
    struct span body;
    struct reply *r;
    struct decoder *decoder;
    http_done *done;
    void *arg;
    struct curl_slist header; /* the exchange's own line, before those that all share */
    char *header_text;
    int64_t start_us, last_byte_us, grace_us;
    size_t header_bytes;
    int tries;  /* connections that this attempt was put on */
    bool began; /* the decoder knows status and type */
    bool ended; /* r->end is set and stands, whatever libcurl will say */
    bool cancelled;
    char why[CURL_ERROR_SIZE];
};

struct http {
    const struct endpoint *ep;
    struct loop *loop;
    struct multi multis[MAX_MULTIS];
    int n_multis, n_in_flight;
    CURLSH *share;
    struct curl_slist *headers;
    struct exchange *first, *idle;
    int n_idle;
    bool any_cancelled;
};

/* A caller's tick. */
struct tick {
    struct loop_timer timer;
    struct loop *loop;
    http_tick *tick;
    void *arg;
};

int http_global_init(struct err *err)
{
    CURLcode rc = curl_global_init(CURL_GLOBAL_DEFAULT);
    return rc ? err_set(err, STATUS_TOOL, "can't start libcurl: %s", curl_easy_strerror(rc)) : 0;
}

void http_global_end(void)
{
    curl_global_cleanup();
}

/* --- how an exchange ends --- */

static void set_end(struct exchange *x, enum exchange_end end, const char *detail)
{
    if (x->ended)
        return;
    x->ended = true;
    x->r->end = end;
    snprintf(x->r->end_detail, sizeof x->r->end_detail, "%s", detail);
}

static void set_limit(struct exchange *x, enum exchange_end end, const char *what, int64_t limit_us)
{
    char detail[80];
    snprintf(detail, sizeof detail, "%s %.3g s", what, (double)limit_us / 1e6);
    set_end(x, end, detail);
}

static const struct end_row {
    CURLcode code;
    enum exchange_end end;
} end_rows[] = {
    {CURLE_OK, END_CLEAN},
    {CURLE_COULDNT_RESOLVE_HOST, END_CONNECT},
    {CURLE_COULDNT_RESOLVE_PROXY, END_CONNECT},
    {CURLE_COULDNT_CONNECT, END_CONNECT},
    {CURLE_PROXY, END_CONNECT},
    {CURLE_OPERATION_TIMEDOUT, END_CONNECT}, /* libcurl's own limit on connecting only */
    {CURLE_INTERFACE_FAILED, END_CONNECT},
    {CURLE_SSL_CONNECT_ERROR, END_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, END_TLS},
    {CURLE_SSL_CERTPROBLEM, END_TLS},
    {CURLE_SSL_CIPHER, END_TLS},
    {CURLE_SSL_CACERT_BADFILE, END_TLS},
    {CURLE_SSL_ISSUER_ERROR, END_TLS},
    {CURLE_SSL_CLIENTCERT, END_TLS},
    {CURLE_SSL_ENGINE_INITFAILED, END_TLS},
    {CURLE_USE_SSL_FAILED, END_TLS},
    {CURLE_PARTIAL_FILE, END_CUT},
    {CURLE_RECV_ERROR, END_CUT},
    {CURLE_SEND_ERROR, END_CUT},
    {CURLE_GOT_NOTHING, END_CUT},
    {CURLE_HTTP2_STREAM, END_CUT},
    {CURLE_SSL_SHUTDOWN_FAILED, END_CUT},
    {CURLE_OUT_OF_MEMORY, END_TOO_LARGE}, /* how libcurl refuses one endless header line */
};

static enum exchange_end end_of(const struct exchange *x, CURLcode rc)
{
    enum exchange_end end = END_PROTOCOL;
    for (size_t i = 0; i < sizeof end_rows / sizeof end_rows[0]; i++)
        if (end_rows[i].code == rc)
            end = end_rows[i].end;
    /* libcurl has one code for a lost connection and for chunks that are none */
    if (rc == CURLE_RECV_ERROR && strstr(x->why, "hunk"))
        return END_PROTOCOL;
    if (rc == CURLE_RECV_ERROR && strstr(x->why, "response headers"))
        return END_TOO_LARGE;
    if (rc == CURLE_RECV_ERROR && strstr(x->why, "CONNECT"))
        return END_CONNECT;
    return end;
}

static bool died_before_any_byte(const struct exchange *x, CURLcode rc)
{
    return !x->header_bytes && !x->r->first_byte_us &&
           (rc == CURLE_SEND_ERROR || rc == CURLE_RECV_ERROR || rc == CURLE_GOT_NOTHING);
}

/* --- what libcurl calls --- */

static int64_t earlier(int64_t a, int64_t from, int64_t limit)
{
    return limit && from + limit < a ? from + limit : a;
}

/* The next moment at which a limit could be passed, as far as is known now. */
static void set_timer(struct exchange *x)
{
    const struct endpoint *ep = x->http->ep;
    const struct reply *r = x->r;
    int64_t at = earlier(INT64_MAX, x->start_us, ep->timeout_us);
    if (r->first_byte_us) {
        at = earlier(at, x->last_byte_us, ep->idle_timeout_us);
    } else {
        curl_off_t connected = 0;
        curl_easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
        at = earlier(at, r->sent_us, ep->ttft_timeout_us);
        if (!connected)
            at = earlier(at, r->sent_us, ep->connect_timeout_us);
    }
    if (x->grace_us && x->grace_us < at)
        at = x->grace_us;
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

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct exchange *x = arg;
    struct reply *r = x->r;
    int64_t now = loop_now_us(x->http->loop), late = loop_late_us(x->http->loop);
    size_t len = size * n;
    if (x->ended)
        return len + 1; /* any wrong count ends the transfer */
    begin(x);
    bool first = !r->first_byte_us;
    r->first_byte_us = first ? now : r->first_byte_us;
    x->last_byte_us = now;
    if (first) /* the idle limit may be the nearest one now; later bytes only move it away */
        set_timer(x);
    r->max_late_us = late > r->max_late_us ? late : r->max_late_us;
    evidence_body(r, data, len, now);
    if (decoder_feed(x->decoder, data, len, now) < 0) {
        x->ended = true;
        return len + 1;
    }
    if (r->done && r->stream && !x->grace_us) {
        x->grace_us = now + DONE_GRACE_US;
        set_timer(x);
    }
    return len;
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
    evidence_header(x->r, line);
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

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct multi *m = arg;
    (void)easy, (void)socket_arg;
    unsigned want = what == CURL_POLL_IN      ? LOOP_READ
                    : what == CURL_POLL_OUT   ? LOOP_WRITE
                    : what == CURL_POLL_INOUT ? LOOP_READ | LOOP_WRITE
                                              : LOOP_NONE;
    return loop_watch(m->http->loop, fd, want, m) ? 0 : -1;
}

static int on_timeout(CURLM *curl, long timeout_ms, void *arg)
{
    struct multi *m = arg;
    (void)curl;
    if (timeout_ms < 0)
        loop_unset(m->http->loop, &m->timer);
    else
        loop_set(m->http->loop, &m->timer, clock_mono_us() + timeout_ms * 1000);
    return 0;
}

/* --- starting --- */

static void set_tls(CURL *easy, const struct endpoint *ep)
{
    if (ep->cacert)
        curl_easy_setopt(easy, CURLOPT_CAINFO, ep->cacert);
    if (ep->cert)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, ep->cert);
    if (ep->cert_key)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, ep->cert_key);
    if (ep->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

/* What every request to the endpoint has, whatever its route. */
static void set_common(CURL *easy, const struct endpoint *ep)
{
    long version = CURL_HTTP_VERSION_1_1;
    if (ep->http2) /* without TLS there is nothing to agree on a version with */
        version = strncmp(ep->url, "https", 5) == 0 ? CURL_HTTP_VERSION_2TLS
                                                    : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, ep->http2 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "toolstorm/" TOOLSTORM_VERSION);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, DNS_CACHE_S);
    if (ep->proxy)
        curl_easy_setopt(easy, CURLOPT_PROXY, ep->proxy);
    if (ep->unix_socket)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, ep->unix_socket);
    set_tls(easy, ep);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);
    if (!longer)
        abort();
    return longer;
}

static bool user_sends(const struct endpoint *ep, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < ep->n_headers; i++)
        if (curl_strnequal(ep->headers[i], name, n) && ep->headers[i][n] == ':')
            return true;
    return false;
}

static struct curl_slist *common_headers(const struct endpoint *ep, bool post)
{
    struct curl_slist *list = NULL;
    if (post && !user_sends(ep, "Content-Type"))
        list = add_header(list, "Content-Type: application/json");
    if (post)
        list = add_header(list, "Expect:"); /* no round trip before long bodies */
    if (ep->api_key && !user_sends(ep, "Authorization")) {
        char *line = mem_printf("Authorization: Bearer %s", ep->api_key);
        list = add_header(list, line);
        free(line);
    }
    for (size_t i = 0; i < ep->n_headers; i++)
        list = add_header(list, ep->headers[i]);
    return list;
}

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
    x->easy = curl_easy_init();
    if (!x->easy)
        abort();
    x->timer = (struct loop_timer){.fire = check_limits, .arg = x};
    set_common(x->easy, h->ep);
    curl_easy_setopt(x->easy, CURLOPT_URL, h->ep->url);
    curl_easy_setopt(x->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(x->easy, CURLOPT_SHARE, h->share);
    curl_easy_setopt(x->easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    curl_easy_setopt(x->easy, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BYTES);
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
    struct http *h = x->http;
    struct multi *best = &h->multis[0];
    for (int i = 1; i < h->n_multis; i++)
        if (h->multis[i].in_flight < best->in_flight)
            best = &h->multis[i];
    x->multi = best;
    best->in_flight++;
    x->tries = 0;
    x->why[0] = '\0';
    x->r->sent_us = clock_mono_us();
    curl_easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    curl_multi_add_handle(best->curl, x->easy);
    set_timer(x);
}

struct exchange *http_post(struct http *h, struct span body, const char *extra_header,
                           struct reply *r, http_done *done, void *arg)
{
    struct exchange *x = new_exchange(h);
    x->body = body;
    x->r = r;
    x->done = done;
    x->arg = arg;
    x->decoder = decoder_new(h->ep->dialect, &h->ep->caps, r);
    x->header_text = mem_str(extra_header);
    x->header = (struct curl_slist){.data = x->header_text, .next = h->headers};
    x->header_bytes = 0;
    x->last_byte_us = x->grace_us = 0;
    x->began = x->ended = x->cancelled = false;
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, extra_header ? &x->header : h->headers);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, body.data);
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
    curl_multi_remove_handle(x->multi->curl, x->easy);
    x->multi->in_flight--;
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
    if (r->status >= 300 && r->status < 400 && !x->ended &&
        curl_easy_header(x->easy, "Location", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(r->end_detail, sizeof r->end_detail, "redirect not followed: %.100s",
                 header->value);
}

static void finish(struct exchange *x, CURLcode rc)
{
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
    if (rc != CURLE_OK)
        set_end(x, end_of(x, rc), x->why[0] ? x->why : curl_easy_strerror(rc));
    r->done_us = loop_now_us(h->loop);
    decoder_end(x->decoder);
    evidence_redact(r, h->ep);
    http_done *done = x->done;
    void *arg = x->arg;
    drop(x);
    done(arg, r);
}

/* A limit passed, or would have, had not bytes come since the timer was set. */
static void check_limits(void *arg, int64_t now_us)
{
    struct exchange *x = arg;
    const struct endpoint *ep = x->http->ep;
    struct reply *r = x->r;
    curl_off_t connected = 0;
    curl_easy_getinfo(x->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
    if (x->grace_us && now_us >= x->grace_us) {
        r->quirks |= QUIRK_BIT(open_after_done);
        set_end(x, END_CLEAN, "");
    } else if (ep->timeout_us && now_us - x->start_us >= ep->timeout_us) {
        set_limit(x, END_TIMEOUT, "round limit", ep->timeout_us);
    } else if (r->first_byte_us) {
        if (ep->idle_timeout_us && now_us - x->last_byte_us >= ep->idle_timeout_us)
            set_limit(x, END_STALL_IDLE, "no byte for", ep->idle_timeout_us);
    } else if (ep->ttft_timeout_us && now_us - r->sent_us >= ep->ttft_timeout_us) {
        set_limit(x, connected ? END_STALL_FIRST : END_CONNECT,
                  connected ? "no first byte within" : "no connection within", ep->ttft_timeout_us);
    } else if (!connected && ep->connect_timeout_us &&
               now_us - r->sent_us >= ep->connect_timeout_us) {
        set_limit(x, END_CONNECT, "no connection within", ep->connect_timeout_us);
    }
    if (x->ended)
        finish(x, CURLE_OK);
    else
        set_timer(x);
}

static void take_messages(struct multi *m)
{
    int left;
    for (CURLMsg *msg; (msg = curl_multi_info_read(m->curl, &left));) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        struct exchange *x = NULL;
        CURLcode rc = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &x);
        finish(x, rc);
    }
}

static void on_ready(void *arg, int fd, unsigned what)
{
    struct multi *m = arg;
    int running, mask = (what & LOOP_READ ? CURL_CSELECT_IN : 0) |
                        (what & LOOP_WRITE ? CURL_CSELECT_OUT : 0) |
                        (what & LOOP_BROKEN ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(m->curl, fd, mask, &running);
    take_messages(m);
}

static void on_multi_timer(void *arg, int64_t now_us)
{
    struct multi *m = arg;
    int running;
    (void)now_us;
    curl_multi_socket_action(m->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    take_messages(m);
}

/* --- the loop's life --- */

static bool open_multi(struct http *h, struct multi *m, long max_in_flight)
{
    m->http = h;
    m->timer = (struct loop_timer){.fire = on_multi_timer, .arg = m};
    m->curl = curl_multi_init();
    if (!m->curl)
        return false;
    long connects = max_in_flight / h->n_multis + SPARE_CONNECTS;
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
    curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, connects);
    return true;
}

struct http *http_new(const struct endpoint *ep, long max_in_flight, struct err *err)
{
    struct http *h = mem_zero(1, sizeof *h);
    h->ep = ep;
    long wanted = max_in_flight / PER_MULTI + 1;
    h->n_multis = wanted > MAX_MULTIS ? MAX_MULTIS : wanted < 1 ? 1 : (int)wanted;
    h->loop = loop_new(on_ready, err);
    h->share = curl_share_init();
    bool ok = h->loop && h->share;
    for (int i = 0; ok && i < h->n_multis; i++)
        ok = open_multi(h, &h->multis[i], max_in_flight);
    if (!ok) {
        err_set(err, STATUS_TOOL, "can't create libcurl's handles");
        http_free(h);
        return NULL;
    }
    curl_share_setopt(h->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(h->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    h->headers = common_headers(ep, true);
    return h;
}

static void fire_tick(void *arg, int64_t now_us)
{
    struct tick t = *(struct tick *)arg;
    (void)now_us;
    free(arg);
    t.tick(t.arg);
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
        curl_multi_cleanup(h->multis[i].curl);
    for (struct loop_timer *t; h->loop && (t = loop_any_timer(h->loop));) {
        loop_unset(h->loop, t);
        if (t->fire == fire_tick)
            free(t->arg);
    }
    curl_share_cleanup(h->share);
    curl_slist_free_all(h->headers);
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
    struct tick *t = mem_zero(1, sizeof *t);
    *t = (struct tick){.timer = {.fire = fire_tick, .arg = t}, .tick = tick, .arg = arg};
    loop_set(h->loop, &t->timer, at_us);
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

/* --- one GET --- */

static size_t on_get_body(char *data, size_t size, size_t n, void *arg)
{
    struct buf *out = arg;
    size_t room = GET_CAP - (out->len < GET_CAP ? out->len : GET_CAP);
    buf_add(out, data, size * n < room ? size * n : room);
    return size * n <= room ? size * n : 0;
}

int http_get(const struct endpoint *ep, const char *url, int64_t timeout_us, struct buf *out,
             char why[160])
{
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    struct curl_slist *headers = common_headers(ep, false);
    char detail[CURL_ERROR_SIZE] = "";
    long status = 0;
    set_common(easy, ep);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(timeout_us / 1000 + 1));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_get_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, out);
    CURLcode rc = curl_easy_perform(easy);
    if (rc == CURLE_OK || rc == CURLE_WRITE_ERROR)
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    snprintf(why, 160, "%.159s", rc == CURLE_OK ? "" : detail[0] ? detail : curl_easy_strerror(rc));
    endpoint_redact(ep, why);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return (int)status;
}
