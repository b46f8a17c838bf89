// layers: wire chat base
/* Chunked bodies read in turns: whole chunks straight from the socket, the rest by a stand-in for
 * libcurl that reads and decodes as it does. */
#include "direct.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "http_multi.h"
#include "loop.h"

static void follow(struct chunks *c, const char *text, size_t piece)
{
    for (size_t at = 0, len = strlen(text); at < len; at += piece)
        chunks_follow(c, (struct span){text + at, len - at < piece ? len - at : piece});
}

static void test_follow(void)
{
    static const struct {
        const char *bytes;
        uint64_t payload;
        bool between, over;
    } rows[] = {
        {"", 0, true, false},
        {"5", 0, false, false},
        {"5\r\n", 0, false, false},
        {"5\r\nhell", 4, false, false},
        {"5\r\nhello", 5, false, false},
        {"5\r\nhello\r", 5, false, false},
        {"5\r\nhello\r\n", 5, true, false},
        {"5\nhello\n", 5, true, false},
        {"05;a=b\r\nhello\r\n", 5, true, false},
        {"5 \r\nhello\r\n", 5, true, false},
        {"a\r\n0123456789\r\nB\r\n01234567890\r\n", 21, true, false},
        {"5\r\nhello\r\n0\r\n", 5, false, true},
        {"5\r\nhello\r\n0\r\n\r\n", 5, false, true},
        {"5\r\nhelloX", 5, false, true},
        {"\r\n", 0, false, true},
        {"x\r\n", 0, false, true},
        {"1111111111111111\r\n", 0, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t piece = 1; piece < 30; piece++) {
            struct chunks c = {0};
            follow(&c, rows[i].bytes, piece);
            CHECK_INT(c.payload, rows[i].payload);
            CHECK_INT(chunks_between(&c), rows[i].between);
            CHECK_INT(chunks_over(&c), rows[i].over);
        }
}

static void test_whole(void)
{
    static const struct {
        const char *bytes, *payload;
        size_t size;
    } rows[] = {
        {"5\r\nhello\r\n", "hello", 10},
        {"5\r\nhello\r\n5\r\nagain\r\n", "hello", 10},
        {"000A\r\n0123456789\r\n", "0123456789", 18},
        {"", "", 0},
        {"5\r\nhello\r", "", 0},
        {"5\r\nhelloXX", "", 0},
        {"5\nhello\n0\r\n\r\n", "", 0},
        {"5;a=b\r\nhello\r\n", "", 0},
        {"0\r\n\r\n", "", 0},
        {"\r\n", "", 0},
        {"fffffffffffffffffff\r\n\r\n", "", 0},
        {"fffffffffffffff\r\nhello\r\n", "", 0},
        {"\x17\x03\x03 no hexadecimal digit", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span payload = {0};
        CHECK_INT(chunks_whole(span_of(rows[i].bytes), &payload), rows[i].size);
        CHECK(rows[i].size == 0 || span_is(payload, rows[i].payload));
    }
}

/* --- reading in turns --- */

struct reader {
    struct direct direct;
    struct http_multi multi;
    int ends[2];           /* ours, the server's */
    struct chunks decoded; /* the stand-in's own place in the framing */
    struct buf got;
    size_t takes, most; /* most: bytes that the stand-in reads at once */
};

static bool on_take(void *arg, struct span payload)
{
    struct reader *r = arg;
    buf_add(&r->got, payload.data, payload.len);
    r->takes++;
    return true;
}

/* Reads as libcurl does: tells of the raw bytes first, hands their payload on then. */
static void stand_in(struct reader *r)
{
    char bytes[8192];
    ssize_t n = recv(r->ends[0], bytes, r->most, MSG_DONTWAIT);
    if (n <= 0)
        return;
    direct_seen(&r->direct, (struct span){bytes, (size_t)n});
    for (ssize_t i = 0; i < n; i++) {
        uint64_t before = r->decoded.payload;
        chunks_follow(&r->decoded, (struct span){bytes + i, 1});
        if (r->decoded.payload == before)
            continue;
        buf_add(&r->got, bytes + i, 1);
        direct_delivered(&r->direct, 1);
    }
}

static void on_default(void *arg, int fd, unsigned what)
{
    (void)arg, (void)fd, (void)what;
}

static void open_reader(struct reader *r, size_t most)
{
    struct err err = {0};
    *r = (struct reader){.most = most};
    r->multi = (struct http_multi){.curl = curl_multi_init(), .loop = loop_new(on_default, &err)};
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, r->ends), 0);
    direct_init(&r->direct, curl_easy_init(), NULL, on_take, r);
    direct_start(&r->direct, &r->multi);
    CHECK(loop_watch(r->multi.loop, r->ends[0], LOOP_READ, NULL));
    direct_socket(&r->direct, r->ends[0]);
}

static void close_reader(struct reader *r)
{
    direct_stop(&r->direct);
    loop_free(r->multi.loop);
    curl_easy_cleanup(r->direct.easy);
    curl_multi_cleanup(r->multi.curl);
    close(r->ends[0]);
    close(r->ends[1]);
    buf_release(&r->got);
}

static void headers(struct reader *r, const char *const *lines)
{
    for (; *lines; lines++)
        direct_header(&r->direct, span_of(*lines), true);
    direct_header(&r->direct, span_of("\r\n"), true);
}

static const char *const chunked[] = {"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n",
                                      NULL};

static size_t waiting(int fd)
{
    char bytes[8192];
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 ? (size_t)n : 0;
}

/* Sends `body` in pieces of random sizes; after each, the loop runs once and the stand-in reads
 * now and then, and always what is left when the loop read nothing. */
static void in_turns(struct span body, const char *payload, unsigned seed, size_t *takes)
{
    struct reader r;
    srand(seed);
    open_reader(&r, 1 + (size_t)rand() % 8000);
    headers(&r, chunked);
    for (size_t at = 0; at < body.len;) {
        size_t n = 1 + (size_t)rand() % (rand() % 2 ? 20 : 3000);
        n = n < body.len - at ? n : body.len - at;
        CHECK_INT(write(r.ends[1], body.data + at, n), n);
        at += n;
        loop_run(r.multi.loop, 0);
        if (rand() % 3 == 0)
            stand_in(&r);
    }
    while (waiting(r.ends[0])) {
        loop_run(r.multi.loop, 0);
        stand_in(&r);
    }
    CHECK_STR(buf_str(&r.got), payload);
    *takes += r.takes;
    close_reader(&r);
}

static void test_turns(void)
{
    size_t takes = 0;
    for (unsigned seed = 1; seed <= 300; seed++) {
        struct buf body = BUF_INIT, payload = BUF_INIT;
        srand(seed);
        for (int n = 1 + rand() % 60; n > 0; n--) {
            size_t size = 1 + (size_t)rand() % (rand() % 8 ? 40 : 5000);
            bool odd = rand() % 8 == 0;
            buf_addf(&body, "%s%zx%s\r\n", odd ? "00" : "", size, odd && n % 2 ? ";ext=1" : "");
            for (size_t i = 0; i < size; i++) { /* payload that looks like framing */
                char c = "0123abc\r\n\r\n"[rand() % 11];
                buf_addc(&body, c);
                buf_addc(&payload, c);
            }
            buf_adds(&body, "\r\n");
        }
        buf_adds(&body, "0\r\nTrailer: 1\r\n\r\n");
        in_turns(buf_span(&body), buf_str(&payload), seed, &takes);
        buf_release(&body);
        buf_release(&payload);
    }
    CHECK(takes > 1000);
}

/* One chunk and the last one, after these headers: how much stays in the socket. */
static size_t left_after(const char *const *lines, bool plain)
{
    static const char bytes[] = "2\r\nhi\r\n0\r\n\r\n";
    struct reader r;
    open_reader(&r, sizeof bytes);
    for (const char *const *line = lines; *line; line++)
        direct_header(&r.direct, span_of(*line), plain);
    direct_header(&r.direct, span_of("\r\n"), plain);
    CHECK_INT(write(r.ends[1], bytes, sizeof bytes - 1), sizeof bytes - 1);
    loop_run(r.multi.loop, 0);
    size_t left = waiting(r.ends[0]);
    CHECK_INT(r.takes, left == 5);
    close_reader(&r);
    return left;
}

static void test_headers(void)
{
    static const char *const none[] = {"HTTP/1.1 200 OK\r\n", NULL};
    static const char *const small[] = {"HTTP/1.1 200 OK\r\n", "transfer-encoding:Chunked \r\n",
                                        NULL};
    static const char *const packed[] = {"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n",
                                         "Content-Encoding: gzip\r\n", NULL};
    static const char *const both[] = {"HTTP/1.1 200 OK\r\n",
                                       "Transfer-Encoding: gzip, chunked\r\n", NULL};
    static const char *const hints[] = {"HTTP/1.1 103 Early\r\n", "Transfer-Encoding: chunked\r\n",
                                        "HTTP/1.1 200 OK\r\n", NULL};
    CHECK_INT(left_after(chunked, true), 5); /* the last chunk is libcurl's */
    CHECK_INT(left_after(small, true), 5);
    CHECK_INT(left_after(chunked, false), 12);
    CHECK_INT(left_after(none, true), 12);
    CHECK_INT(left_after(packed, true), 12);
    CHECK_INT(left_after(both, true), 12);
    CHECK_INT(left_after(hints, true), 12);
}

/* On a connection that is used again the headers may come before its socket is watched. */
static void test_late_socket(void)
{
    static const char bytes[] = "2\r\nhi\r\n";
    struct reader r;
    open_reader(&r, sizeof bytes);
    direct_stop(&r.direct);
    direct_start(&r.direct, &r.multi);
    headers(&r, chunked);
    CHECK_INT(write(r.ends[1], bytes, sizeof bytes - 1), sizeof bytes - 1);
    loop_run(r.multi.loop, 0);
    CHECK_INT(r.takes, 0);
    direct_socket(&r.direct, r.ends[0]);
    loop_run(r.multi.loop, 0);
    CHECK_INT(r.takes, 1);
    CHECK_STR(buf_str(&r.got), "hi");
    close_reader(&r);
}

/* Where what libcurl handed on is not what its bytes held, it reads alone. */
static void test_disagreement(void)
{
    static const char bytes[] = "2\r\nhi\r\n";
    for (size_t handed = 0; handed < 4; handed++) {
        struct reader r;
        open_reader(&r, 1);
        headers(&r, chunked);
        direct_seen(&r.direct, span_of(bytes));
        direct_delivered(&r.direct, handed);
        CHECK_INT(write(r.ends[1], bytes, sizeof bytes - 1), sizeof bytes - 1);
        loop_run(r.multi.loop, 0);
        CHECK_INT(waiting(r.ends[0]), handed == 2 ? 0 : sizeof bytes - 1);
        close_reader(&r);
    }
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    test_follow();
    test_whole();
    test_turns();
    test_headers();
    test_late_socket();
    test_disagreement();
    curl_global_cleanup();
    return check_end();
}
