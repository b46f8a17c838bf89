// layers: wire chat base
/* Exchanges against a server that sends right and wrong HTTP byte by byte; limits are tens of
 * milliseconds where one is to pass, and far away elsewhere. */
#include "http.h"

#include <pthread.h>

#include "buf.h"
#include "check.h"
#include "chunks.h"
#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "gzip_replies.h"
#include "mem.h"
#include "rawserver.h"
#include "reply.h"

#define SSE_HEAD                                                                                   \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define CLOSE_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define TEXT       "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}\n\n"
#define TEXT_SIZE  "43"
#define LAST       "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define LAST_SIZE  "48"
#define STREAM     SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n" LAST_SIZE "\r\n" LAST "\r\n0\r\n\r\n"
#define BODY(text, size)                                                                           \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " size "\r\n\r\n" text
#define ANSWER                                                                                     \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},"                      \
    "\"finish_reason\":\"stop\"}]}"

static const struct raw_reply replies[] = {
    {.name = "stream", .bytes = STREAM},
    {.name = "body", .bytes = BODY(ANSWER, "84")},
    {.name = "to-the-end", .bytes = CLOSE_HEAD TEXT LAST, .then = RAW_FIN},
    {.name = "bad-chunk", .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\nzz\r\n", .then = RAW_HANG},
    {.name = "long-chunk", .bytes = SSE_HEAD "ffffffffffffffffff\r\n" TEXT, .then = RAW_HANG},
    {.name = "short-chunk", .bytes = SSE_HEAD "400\r\n" TEXT, .then = RAW_FIN},
    {.name = "no-last-chunk", .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n", .then = RAW_FIN},
    {.name = "reset", .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n", .then = RAW_RST},
    {.name = "fin-mid-line", .bytes = SSE_HEAD "400\r\n" TEXT "data: {\"cho", .then = RAW_FIN},
    {.name = "short-body", .bytes = BODY("{\"choices\":[", "900"), .then = RAW_FIN},
    {.name = "nothing", .bytes = "", .then = RAW_FIN, .die_on_request = 1},
    {.name = "no-http", .bytes = "220 mail.example ready\r\n\r\n", .then = RAW_FIN},
    {.name = "bad-header", .bytes = "HTTP/9.x yes\r\n\r\n", .then = RAW_FIN},
    {.name = "headers-cut", .bytes = "HTTP/1.1 200 OK\r\nContent-Ty", .then = RAW_FIN},
    {.name = "headers-unended",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n",
     .then = RAW_FIN},
    {.name = "whole-then-cut",
     .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n" LAST_SIZE "\r\n" LAST "\r\n",
     .then = RAW_FIN},
    {.name = "headers-forever",
     .bytes = "HTTP/1.1 200 OK\r\n",
     .then = RAW_FOREVER,
     .again = "X-Filler: 0123456789012345678901234567890123456789\r\n"},
    {.name = "header-forever",
     .bytes = "HTTP/1.1 200 OK\r\nX-Filler: ",
     .then = RAW_FOREVER,
     .again = "0123456789012345678901234567890123456789"},
    {.name = "line-forever",
     .bytes = CLOSE_HEAD "data: ",
     .then = RAW_FOREVER,
     .again = "0123456789012345678901234567890123456789"},
    {.name = "comments-forever", .bytes = CLOSE_HEAD, .then = RAW_FOREVER, .again = ": x\n\n"},
    {.name = "body-forever",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[",
     .then = RAW_FOREVER,
     .again = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"},
    {.name = "silent", .bytes = "", .then = RAW_HANG, .len = 0},
    {.name = "headers-only", .bytes = SSE_HEAD, .then = RAW_HANG},
    {.name = "stalls", .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n", .then = RAW_HANG},
    {.name = "stays-open",
     .bytes = SSE_HEAD TEXT_SIZE "\r\n" TEXT "\r\n" LAST_SIZE "\r\n" LAST "\r\n",
     .then = RAW_HANG},
    {.name = "redirect",
     .bytes =
         "HTTP/1.1 307 Away\r\nLocation: http://other.example/v1\r\nContent-Length: 0\r\n\r\n"},
    {.name = "not-found",
     .bytes = "HTTP/1.1 404 No\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n"
              "<html>no</html>"},
    {.name = "later",
     .bytes = "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Type: application/json\r\n"
              "Content-Length: 33\r\n\r\n{\"error\":{\"message\":\"slow down\"}}"},
    {.name = "html",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n"
              "\r\n<html>ok</html>"},
    {.name = "echo",
     .bytes = "HTTP/1.1 401 No\r\nSet-Cookie: sid=c00k1e\r\nX-Seen: Bearer sk-quite-secret\r\n"
              "Content-Type: application/json\r\nContent-Length: 42\r\n\r\n"
              "{\"error\":\"wrong key: sk-quite-secret xyz\"}"},
    {.name = "dies-second", .bytes = STREAM, .die_on_request = 2},
    {.name = "dies-for-good", .bytes = STREAM, .die_on_request = 2, .die_from_connection = 2},
    {.name = "gzip", .bytes = (const char *)gzip_stream, .len = sizeof gzip_stream},
    {.name = "bomb", .bytes = (const char *)gzip_bomb, .len = sizeof gzip_bomb},
    {.name = "models", .bytes = BODY("{\"data\":[]}", "11")},
};
#define N_REPLIES (sizeof replies / sizeof replies[0])

static void at_done(void *arg, struct reply *r)
{
    int *count = arg;
    (void)r;
    ++*count;
}

static void open_endpoint(struct endpoint *ep, int port, const char *name)
{
    char url[128];
    struct err err = {0};
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", port, name);
    CHECK_INT(endpoint_init(ep, dialect_default(), url, &err), 0);
    ep->proxy = mem_str(""); /* whatever the environment of the test says */
}

static void wait_for(struct http *h, const int *count, int want)
{
    int64_t limit = clock_mono_us() + 20000000;
    while (*count < want && clock_mono_us() < limit)
        http_run(h, 100000);
    CHECK_INT(*count, want);
}

static uint64_t last_direct; /* chunks that the last ask() or repeat() read without libcurl */

/* One request on a loop of its own. */
static void ask(const struct endpoint *ep, struct reply *r)
{
    struct err err = {0};
    struct http *h = http_new(ep, 1, &err);
    int count = 0;
    reply_init(r);
    r->stream = true;
    http_post(h, span_of("{}"), NULL, r, at_done, &count);
    CHECK_INT(count, 0); /* never from http_post() */
    wait_for(h, &count, 1);
    last_direct = http_direct_chunks(h);
    http_free(h);
    CHECK(r->sent_us > 0 && r->done_us >= r->sent_us);
}

struct outcome_row {
    const char *name;
    enum exchange_end end;
    const char *detail; /* is in end_detail */
    int status;
    bool done;
    const char *content;
};

static const struct outcome_row outcomes[] = {
    {"stream", END_CLEAN, "", 200, true, "hi"},
    {"body", END_CLEAN, "", 200, true, "hi"},
    {"to-the-end", END_CLEAN, "", 200, true, "hi"},
    {"bad-chunk", END_PROTOCOL, "", 200, false, "hi"},
    {"long-chunk", END_PROTOCOL, "", 200, false, ""},
    {"short-chunk", END_CUT, "", 200, false, "hi"},
    {"no-last-chunk", END_CUT, "", 200, false, "hi"},
    {"reset", END_CUT, "", 200, false, NULL},
    {"fin-mid-line", END_CUT, "", 200, false, "hi"},
    {"short-body", END_CUT, "", 200, false, ""},
    {"nothing", END_CUT, "", 0, false, ""},
    {"no-http", END_PROTOCOL, "", 0, false, ""},
    {"bad-header", END_PROTOCOL, "", 0, false, ""},
    {"headers-cut", END_CUT, "inside the headers", 200, false, ""},
    {"headers-unended", END_CUT, "inside the headers", 200, false, ""},
    {"whole-then-cut", END_CUT, "", 200, true, "hi"},
    {"headers-forever", END_TOO_LARGE, "header", 200, false, ""},
    {"header-forever", END_TOO_LARGE, "", 200, false, ""},
    {"line-forever", END_TOO_LARGE, "line cap 2000", 200, false, ""},
    {"comments-forever", END_TOO_LARGE, "reply cap 100000", 200, false, ""},
    {"body-forever", END_TOO_LARGE, "body cap 2000", 200, false, ""},
    {"redirect", END_CLEAN, "redirect to '/v1' not followed", 307, false, ""},
    {"not-found", END_CLEAN, "", 404, false, ""},
    {"later", END_CLEAN, "", 429, false, ""},
    {"html", END_CLEAN, "", 200, false, ""},
    {"gzip", END_CLEAN, "", 200, true, "packed"},
    {"bomb", END_TOO_LARGE, "reply cap 100000", 200, false, ""},
    {"stays-open", END_CLEAN, "", 200, true, "hi"},
};

static size_t cut_sevens(const char *left, size_t len)
{
    (void)left;
    return len < 7 ? len : 7;
}

/* Headers, each whole chunk, the rest. */
static size_t cut_chunks(const char *left, size_t len)
{
    struct span payload;
    const char *blank = strncmp(left, "HTTP/", 5) == 0 ? strstr(left, "\r\n\r\n") : NULL;
    size_t n =
        blank ? (size_t)(blank - left) + 4 : chunks_whole((struct span){left, len}, &payload);
    return n ? n : len;
}

/* However the bytes come, and whoever reads them. */
static const struct way {
    raw_cut *cut;
    bool through_libcurl;
} ways[] = {
    {NULL, false},
    {cut_sevens, false},
    {cut_chunks, false},
    {cut_chunks, true},
};
#define N_WAYS (sizeof ways / sizeof ways[0])

static void test_outcomes(struct raw_server *s, const struct way *way)
{
    s->cut = way->cut;
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        const struct outcome_row *o = &outcomes[i];
        struct endpoint ep;
        struct reply r;
        open_endpoint(&ep, s->port, o->name);
        ep.through_libcurl = way->through_libcurl;
        ep.caps = (struct wire_caps){.line = 2000, .reply = 100000, .headers = 4000};
        if (strcmp(o->name, "header-forever") == 0)
            ep.caps.headers = 10000000; /* so that libcurl's own limit is met first */
        ask(&ep, &r);
        int before = check_failures;
        CHECK_INT(r.end, o->end);
        CHECK(strstr(r.end_detail, o->detail));
        CHECK(r.end == END_CLEAN || r.end_detail[0]);
        CHECK_INT(r.status, o->status);
        CHECK_INT(r.done, o->done);
        CHECK_INT(r.retries, 0);
        CHECK(!r.reused);
        if (o->content)
            CHECK_STR(buf_str(&r.content), o->content);
        if (check_failures > before)
            fprintf(stderr, "... in %s, way %d: %s\n", o->name, (int)(way - ways), r.end_detail);
        CHECK(last_direct == 0 || !way->through_libcurl);
        if (r.done) {
            CHECK(r.first_byte_us >= r.sent_us && r.done_us >= r.last_token_us);
            CHECK(r.first_token_us >= r.first_byte_us && r.n_token_events == 1);
            CHECK(r.raw.len > 0 && r.n_arrivals > 0);
            CHECK_INT(r.arrivals[r.n_arrivals - 1].offset, r.raw.len);
        }
        reply_release(&r);
        endpoint_release(&ep);
    }
    s->cut = NULL;
}

static void test_facts(int port)
{
    struct endpoint ep;
    struct reply r;
    open_endpoint(&ep, port, "later");
    ask(&ep, &r);
    CHECK_INT(r.retry_after_s, 7);
    CHECK_STR(buf_str(&r.error_text), "slow down");
    CHECK_STR(r.content_type, "application/json");
    reply_release(&r);
    endpoint_release(&ep);

    open_endpoint(&ep, port, "html");
    ask(&ep, &r);
    CHECK(r.body_unreadable);
    CHECK_INT(r.retry_after_s, -1);
    reply_release(&r);
    endpoint_release(&ep);

    open_endpoint(&ep, port, "stays-open");
    ask(&ep, &r);
    CHECK(r.quirks & QUIRK_BIT(open_after_done));
    reply_release(&r);
    endpoint_release(&ep);
}

static void test_limits(int port)
{
    static const struct {
        const char *name;
        int64_t ttft_us, idle_us, all_us;
        enum exchange_end end;
    } rows[] = {
        {"silent", 60000, 0, 0, END_STALL_FIRST},
        {"headers-only", 60000, 0, 0, END_STALL_FIRST},
        {"stalls", 0, 60000, 0, END_STALL_IDLE},
        {"stalls", 30000000, 30000000, 60000, END_TIMEOUT},
        {"silent", 30000000, 20000, 60000, END_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct endpoint ep;
        struct reply r;
        open_endpoint(&ep, port, rows[i].name);
        ep.ttft_timeout_us = rows[i].ttft_us;
        ep.idle_timeout_us = rows[i].idle_us;
        ep.timeout_us = rows[i].all_us;
        ask(&ep, &r);
        CHECK_INT(r.end, rows[i].end);
        CHECK(strstr(r.end_detail, "0.06 s"));
        CHECK(r.done_us - r.sent_us >= 60000 && r.done_us - r.sent_us < 5000000);
        reply_release(&r);
        endpoint_release(&ep);
    }
}

static void test_no_connection(int port)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *gone = raw_start(replies, N_REPLIES, NULL);
    int dead = gone->port;
    raw_stop(gone);
    open_endpoint(&ep, dead, "stream");
    ask(&ep, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK_INT(r.status, 0);
    CHECK(r.end_detail[0] && !r.reused && !r.retries);
    reply_release(&r);
    endpoint_release(&ep);

    /* a handshake that is never answered is no connection; one answered with text is no TLS */
    char url[80];
    struct err err = {0};
    snprintf(url, sizeof url, "https://127.0.0.1:%d/silent", port);
    CHECK_INT(endpoint_init(&ep, dialect_default(), url, &err), 0);
    ep.connect_timeout_us = 60000;
    ask(&ep, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK(strstr(r.end_detail, "no connection within 0.06 s"));
    reply_release(&r);
    endpoint_release(&ep);
}

/* The same request `n` times, one after the other, on one loop. */
static void repeat(const struct endpoint *ep, int n, struct reply *r)
{
    struct err err = {0};
    struct http *h = http_new(ep, 1, &err);
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (i)
            reply_release(r);
        reply_init(r);
        r->stream = true;
        http_post(h, span_of("{\"q\":1}"), i ? "X-Again: yes" : NULL, r, at_done, &count);
        wait_for(h, &count, i + 1);
    }
    last_direct = http_direct_chunks(h);
    http_free(h);
}

static void test_reuse(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "stream");
    repeat(&ep, 3, &r);
    CHECK(r.reused);
    CHECK_INT(r.retries, 0);
    CHECK_INT(atomic_load(&s->n_connections), 1);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    CHECK(strstr(s->last_request, "X-Again: yes\r\n"));
    CHECK(strstr(s->last_request, "\r\n\r\n{\"q\":1}"));
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);

    /* a reused connection dies before any byte: once more, on a new one */
    s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "dies-second");
    repeat(&ep, 2, &r);
    CHECK_INT(r.end, END_CLEAN);
    CHECK_INT(r.retries, 1);
    CHECK(!r.reused && r.done);
    CHECK_INT(atomic_load(&s->n_connections), 2);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);

    s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "dies-for-good");
    repeat(&ep, 2, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK_INT(r.retries, 1);
    CHECK_INT(atomic_load(&s->n_connections), 2);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
}

/* Chunks read without libcurl leave it a connection that it can use again. Where this machine is so
 * slow that all pieces come together, libcurl reads them: then once more. */
static void test_direct(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    s->cut = cut_chunks;
    open_endpoint(&ep, s->port, "stream");
    last_direct = 0;
    for (int i = 1; i <= 100 && !last_direct; i++) {
        repeat(&ep, 3, &r);
        CHECK(r.reused && r.done && !r.retries);
        CHECK_STR(buf_str(&r.content), "hi");
        CHECK_INT(atomic_load(&s->n_connections), i);
        reply_release(&r);
    }
    CHECK(last_direct > 0 && last_direct <= 6);
    endpoint_release(&ep);
    raw_stop(s);
}

static char **one_header(const char *line)
{
    char **list = mem_zero(1, sizeof *list);
    list[0] = mem_str(line);
    return list;
}

static void test_secrets(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "echo");
    ep.api_key = mem_str("sk-quite-secret");
    ep.headers = one_header("X-Team: xyz");
    ep.n_headers = 1;
    ask(&ep, &r);
    CHECK_STR(buf_str(&r.error_text), "wrong key: *************** xyz");
    CHECK(strstr(buf_str(&r.headers), "X-Seen: Bearer ***"));
    CHECK(!strstr(buf_str(&r.headers), "c00k1e") && !strstr(buf_str(&r.headers), "secret"));
    CHECK(!strstr(buf_str(&r.raw), "secret") && strstr(buf_str(&r.raw), "wrong key"));
    CHECK(strstr(s->last_request, "Authorization: Bearer sk-quite-secret\r\n"));
    CHECK(strstr(s->last_request, "X-Team: xyz\r\n"));
    CHECK(strstr(s->last_request, "Content-Type: application/json\r\n"));
    CHECK(!strstr(s->last_request, "Expect:"));
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
}

static void test_routes(void)
{
    struct endpoint ep;
    struct reply r;
    struct err err = {0};
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);

    /* through a proxy the request line holds the whole URL */
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://llm.example/stream", &err), 0);
    ep.proxy = mem_printf("http://127.0.0.1:%d", s->port);
    ask(&ep, &r);
    CHECK(r.done);
    CHECK(strstr(s->last_request, "POST http://llm.example/stream/chat/completions HTTP/1.1\r\n"));
    reply_release(&r);
    endpoint_release(&ep);

    struct buf body = BUF_INIT;
    char why[160];
    open_endpoint(&ep, s->port, "models");
    char *url = endpoint_route(&ep, "/models");
    CHECK_INT(http_get(&ep, url, 5000000, &body, why), 200);
    CHECK_STR(buf_str(&body), "{\"data\":[]}");
    CHECK_STR(why, "");
    free(url);
    url = endpoint_route(&ep, "^/silent/");
    CHECK_INT(http_get(&ep, url, 50000, &body, why), 0);
    CHECK(why[0]);
    free(url);
    buf_clear(&body);
    url = endpoint_route(&ep, "^/body-forever/");
    CHECK_INT(http_get(&ep, url, 20000000, &body, why), 200);
    CHECK_INT(body.len, 1 << 20);
    free(url);
    buf_release(&body);
    endpoint_release(&ep);
    raw_stop(s);
}

static void test_unix_socket(void)
{
    char path[] = "/tmp/toolstorm-test-XXXXXX", name[80];
    CHECK(mkdtemp(path));
    snprintf(name, sizeof name, "%s/socket", path);
    struct raw_server *s = raw_start(replies, N_REPLIES, name);
    struct endpoint ep;
    struct reply r;
    open_endpoint(&ep, 1, "stream");
    ep.unix_socket = mem_str(name);
    ask(&ep, &r);
    CHECK(r.done);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
    unlink(name);
    rmdir(path);
}

struct crowd {
    struct http *http;
    struct reply replies[200];
    struct exchange *exchanges[200];
    int done, cancelled;
    int again; /* requests that a finished one starts */
};

static void crowd_done(void *arg, struct reply *r)
{
    struct crowd *c = arg;
    c->done++;
    c->cancelled += r->end == END_CANCELLED;
    CHECK(r->end == END_CANCELLED || r->done);
    reply_release(r);
    if (c->again > 0) {
        c->again--;
        r->stream = true;
        http_post(c->http, span_of("{}"), "X-Round: 2", r, crowd_done, c);
    }
}

static void test_crowd(void)
{
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    struct endpoint ep;
    struct err err = {0};
    struct crowd *c = mem_zero(1, sizeof *c);
    open_endpoint(&ep, s->port, "stream");
    c->http = http_new(&ep, 200, &err);
    c->again = 400;
    for (int i = 0; i < 200; i++) {
        reply_init(&c->replies[i]);
        c->replies[i].stream = true;
        http_post(c->http, span_of("{}"), NULL, &c->replies[i], crowd_done, c);
    }
    wait_for(c->http, &c->done, 600);
    CHECK_INT(http_run(c->http, 0), 0);
    CHECK_INT(atomic_load(&s->n_requests), 600);
    CHECK(atomic_load(&s->n_connections) <= 200);
    CHECK(http_lateness_us(c->http, 0.5) <= http_lateness_us(c->http, 0.99));
    CHECK(http_lateness_us(c->http, 1) > 0);
    http_free(c->http);
    endpoint_release(&ep);

    open_endpoint(&ep, s->port, "stalls");
    c->http = http_new(&ep, 50, &err);
    c->done = 0;
    for (int i = 0; i < 50; i++) {
        c->replies[i].stream = true;
        c->exchanges[i] = http_post(c->http, span_of("{}"), NULL, &c->replies[i], crowd_done, c);
    }
    http_run(c->http, 10000);
    for (int i = 0; i < 50; i += 2)
        http_cancel(c->exchanges[i]);
    CHECK_INT(c->done, 0);
    CHECK_INT(http_run(c->http, 0), 25);
    CHECK_INT(c->done, 25);
    CHECK_INT(c->cancelled, 25);
    http_free(c->http); /* with 25 in flight */
    CHECK_INT(c->done, 25);
    for (int i = 0; i < 50; i++)
        reply_release(&c->replies[i]);
    endpoint_release(&ep);
    raw_stop(s);
    free(c);
}

struct ticks {
    struct http *http;
    int64_t due[4];
    int n, order[4];
};

struct tick_arg {
    struct ticks *all;
    int number;
};

static void on_tick(void *arg)
{
    struct tick_arg *t = arg;
    CHECK(clock_mono_us() >= t->all->due[t->number]);
    t->all->order[t->all->n++] = t->number;
}

static void *wake(void *arg)
{
    http_wake(arg);
    return NULL;
}

static void test_ticks(void)
{
    struct endpoint ep;
    struct err err = {0};
    open_endpoint(&ep, 1, "none");
    struct http *h = http_new(&ep, 1, &err);
    struct ticks all = {.http = h};
    struct tick_arg args[4];
    static const int64_t in_us[] = {30000, 10000, 0, 20000};
    int64_t now = clock_mono_us();
    for (int i = 0; i < 4; i++) {
        args[i] = (struct tick_arg){&all, i};
        all.due[i] = now + in_us[i];
        http_at(h, all.due[i], on_tick, &args[i]);
    }
    wait_for(h, &all.n, 4);
    static const int order[] = {2, 1, 3, 0};
    CHECK(memcmp(all.order, order, sizeof order) == 0);

    /* a wake-up from another thread ends a long wait */
    pthread_t thread;
    now = clock_mono_us();
    CHECK_INT(pthread_create(&thread, NULL, wake, h), 0);
    http_run(h, 20000000);
    CHECK(clock_mono_us() - now < 10000000);
    pthread_join(thread, NULL);
    http_at(h, now + 3600000000, on_tick, &args[0]); /* never due: freed with the loop */
    http_free(h);
    endpoint_release(&ep);
}

int main(void)
{
    struct err err = {0};
    CHECK_INT(http_global_init(&err), 0);
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    for (size_t i = 0; i < N_WAYS; i++)
        test_outcomes(s, &ways[i]);
    test_facts(s->port);
    test_limits(s->port);
    test_no_connection(s->port);
    raw_stop(s);
    test_reuse();
    test_direct();
    test_secrets();
    test_routes();
    test_unix_socket();
    test_crowd();
    test_ticks();
    http_global_end();
    return check_end();
}
