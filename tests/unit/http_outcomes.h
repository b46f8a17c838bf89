/* http_outcomes.h - right and wrong HTTP, how an exchange with each has to end, and what asks for
 * it. */
#ifndef HTTP_OUTCOMES_H
#define HTTP_OUTCOMES_H

#include "buf.h"
#include "check.h"
#include "chunks.h"
#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "gzip_replies.h"
#include "http.h"
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

static struct raw_reply replies[] = {
    {.name = "stream", .bytes = STREAM},
    {.name = "burst"}, /* see make_burst() */
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

#define BURST_CHUNKS 1000 /* more than is read at once */
static struct buf burst;

static void make_burst(void)
{
    buf_adds(&burst, SSE_HEAD);
    for (int i = 0; i < BURST_CHUNKS; i++)
        buf_adds(&burst, TEXT_SIZE "\r\n" TEXT "\r\n");
    buf_adds(&burst, LAST_SIZE "\r\n" LAST "\r\n0\r\n\r\n");
    for (size_t i = 0; i < N_REPLIES; i++)
        if (strcmp(replies[i].name, "burst") == 0)
            replies[i].bytes = buf_str(&burst);
}

static void at_done(void *arg, struct reply *r)
{
    int *count = arg;
    (void)r;
    ++*count;
}

static void open_at(struct endpoint *ep, const char *scheme, int port, const char *name)
{
    char url[128];
    struct err err = {0};
    snprintf(url, sizeof url, "%s://127.0.0.1:%d/%s", scheme, port, name);
    CHECK_INT(endpoint_init(ep, dialect_default(), url, &err), 0);
    ep->proxy = mem_str(""); /* whatever the environment of the test says */
    ep->insecure = strcmp(scheme, "https") == 0;
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
    http_post(h, (struct http_body){.own = span_of("{}")}, NULL, r, at_done, &count);
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
    {"burst", END_CLEAN, "", 200, true, NULL},
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
    return len < 7 ? len : len > 10000 ? 997 : 7;
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

/* How the bytes come, and who reads them. */
struct way {
    raw_cut *cut;
    bool through_libcurl;
};

/* The same request `n` times, one after the other, on one loop. */
static void repeat_body(const struct endpoint *ep, int n, struct http_body body, struct reply *r)
{
    struct err err = {0};
    struct http *h = http_new(ep, 1, &err);
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (i)
            reply_release(r);
        reply_init(r);
        r->stream = true;
        http_post(h, body, i ? "X-Again: yes" : NULL, r, at_done, &count);
        wait_for(h, &count, i + 1);
    }
    last_direct = http_direct_chunks(h);
    http_free(h);
}

static void repeat(const struct endpoint *ep, int n, struct reply *r)
{
    repeat_body(ep, n, (struct http_body){.own = span_of("{\"q\":1}")}, r);
}

/* A body in two pieces arrives whole: on a new connection, on a reused one, and once more where
 * that one died. `port` leads to `s`. */
static void check_bodies(struct raw_server *s, const char *scheme, int port)
{
    static const struct {
        size_t shared, own;
    } sizes[] = {{1, 1}, {1, 40000}, {16383, 2}, {16384, 1}, {16384, 16384}, {50000, 10000}};
    static const char *const names[] = {"stream", "dies-second"};
    struct buf text = BUF_INIT;
    for (long i = 0; text.len < 60000; i++)
        buf_add_long(&text, i);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int dies = 0; dies < 2; dies++) {
            size_t shared = sizes[i].shared, own = sizes[i].own;
            struct http_body body = {{text.data, shared}, {text.data + shared, own}};
            struct endpoint ep;
            struct reply r;
            open_at(&ep, scheme, port, names[dies]);
            repeat_body(&ep, 3 - dies, body, &r);
            CHECK_INT(r.end, END_CLEAN);
            CHECK_INT(r.retries, dies);
            CHECK_INT(r.reused, !dies);
            const char *got = strstr(s->last_request, "\r\n\r\n");
            CHECK(got && strlen(got + 4) == shared + own);
            CHECK(got && memcmp(got + 4, text.data, shared + own) == 0);
            reply_release(&r);
            endpoint_release(&ep);
        }
    buf_release(&text);
}

/* Asks for every row's reply at `scheme` and `port`, where `s` answers. Returns how many chunks
 * were read without libcurl. */
static uint64_t check_outcomes(struct raw_server *s, const char *scheme, int port, struct way way)
{
    uint64_t direct = 0;
    s->cut = way.cut;
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        const struct outcome_row *o = &outcomes[i];
        struct endpoint ep;
        struct reply r;
        open_at(&ep, scheme, port, o->name);
        ep.through_libcurl = way.through_libcurl;
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
        if (strcmp(o->name, "burst") == 0)
            CHECK(r.content.len == 2 * BURST_CHUNKS && r.n_token_events == BURST_CHUNKS);
        if (check_failures > before)
            fprintf(stderr, "... in %s over %s: %s\n", o->name, scheme, r.end_detail);
        direct += last_direct;
        if (r.done) {
            CHECK(r.first_byte_us >= r.sent_us && r.done_us >= r.last_token_us);
            CHECK(r.first_token_us >= r.first_byte_us && r.n_token_events > 0);
            CHECK(r.raw.len > 0 && r.n_arrivals > 0);
            CHECK_INT(r.arrivals[r.n_arrivals - 1].offset, r.raw.len);
        }
        reply_release(&r);
        endpoint_release(&ep);
    }
    s->cut = NULL;
    CHECK(!direct || !way.through_libcurl);
    return direct;
}

#endif
