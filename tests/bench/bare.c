/* bare.c - sockets, epoll, and just as much HTTP as the bench's server speaks: a head, chunks, an
 * empty chunk. Nothing is checked that the server could do wrong. */
#include "bare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "mem.h"
#include "reply.h"
#include "tally.h"

#define BATCH        512
#define BUFFER_BYTES 131072 /* the fastest of 16 to 256 KB */
#define STAMP        "id: " /* at the start of an event; then come the digits */
#define DIGITS       16
#define STARTS       16 /* connections begun at a time, so that those that run are not held up */

enum state { AT_HEAD, AT_SIZE, AT_PAYLOAD, AT_LINE_END };

struct conn {
    struct bare *bare;
    int fd;
    size_t sent;  /* of the request */
    bool blocked; /* EPOLLOUT is asked for */
    enum state state;
    int blank;        /* of the four bytes that end a head */
    size_t left;      /* of the chunk */
    bool fresh;       /* nothing of the chunk was read yet */
    bool over;        /* the empty chunk was */
    bool had;         /* an answer before this one */
    int64_t first_us; /* when its first event came; 0 = not yet */
    int64_t last_us;
    struct reply reply;
    struct decoder *decoder;
};

struct bare {
    const struct bare_job *job;
    struct tally *tally;
    int epoll_fd;
    long started, left; /* requests */
    long waiting;       /* connections of which the first event has not come */
    struct buf request;
    struct wire_caps caps;
    char buffer[BUFFER_BYTES];
    int64_t now_us; /* when the read that is being handled came back */
};

/* --- HTTP --- */

static int64_t read_digits(const char *data)
{
    int64_t n = 0;
    for (int i = 0; i < DIGITS; i++)
        n = n * 10 + (data[i] - '0');
    return n;
}

/* An event of a paced answer begins with these bytes. One whose stamp the read has cut is left
 * out. */
static void note_event(struct conn *c, const char *data, size_t len)
{
    struct bare *b = c->bare;
    bool first = !c->first_us;
    if (first) {
        c->first_us = c->last_us = b->now_us;
        b->waiting -= !c->had;
        if (!b->waiting && !b->tally->running_us)
            b->tally->running_us = b->now_us;
    }
    if (len < sizeof STAMP - 1 + DIGITS || memcmp(data, STAMP, sizeof STAMP - 1) != 0)
        return;
    c->last_us = b->now_us;
    if (!first)
        tally_late(b->tally, b->waiting ? TALLY_STARTING : TALLY_RUNNING,
                   read_digits(data + sizeof STAMP - 1), b->now_us);
}

static size_t take_head(struct conn *c, const char *data, size_t len)
{
    static const char end[] = "\r\n\r\n";
    for (size_t i = 0; i < len; i++) {
        c->blank = data[i] == end[c->blank] ? c->blank + 1 : data[i] == '\r';
        if (c->blank == 4) {
            c->state = AT_SIZE;
            if (c->decoder)
                decoder_start(c->decoder, 200, "text/event-stream");
            return i + 1;
        }
    }
    return len;
}

static size_t take_size(struct conn *c, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char x = data[i];
        if (x == '\n') {
            c->state = c->left ? AT_PAYLOAD : AT_LINE_END;
            c->over = !c->left;
            c->fresh = true;
            return i + 1;
        }
        if (x != '\r')
            c->left = c->left * 16 + (size_t)(x <= '9' ? x - '0' : (x | 0x20) - 'a' + 10);
    }
    return len;
}

static size_t take_line_end(struct conn *c, const char *data, size_t len)
{
    const char *lf = memchr(data, '\n', len);
    if (!lf)
        return len;
    c->state = c->over ? AT_HEAD : AT_SIZE;
    return (size_t)(lf - data) + 1;
}

/* True when the answer is complete. */
static bool take(struct conn *c, const char *data, size_t len)
{
    while (len) {
        size_t n = 0;
        switch (c->state) {
        case AT_HEAD: n = take_head(c, data, len); break;
        case AT_SIZE: n = take_size(c, data, len); break;
        case AT_PAYLOAD:
            n = len < c->left ? len : c->left;
            if (c->fresh && c->bare->job->paced)
                note_event(c, data, n);
            if (c->decoder)
                decoder_feed(c->decoder, data, n, c->bare->now_us);
            c->fresh = false;
            c->left -= n;
            if (!c->left)
                c->state = AT_LINE_END;
            break;
        case AT_LINE_END: n = take_line_end(c, data, len); break;
        }
        data += n;
        len -= n;
        if (c->over && c->state == AT_HEAD)
            return true;
    }
    return false;
}

/* --- requests --- */

static void begin(struct conn *c)
{
    c->sent = 0;
    c->state = AT_HEAD;
    c->blank = 0;
    c->over = false;
    c->left = 0;
    c->first_us = 0;
    if (!c->bare->job->decode)
        return;
    reply_init(&c->reply);
    c->reply.stream = true;
    c->decoder = decoder_new(dialect_default(), &c->bare->caps, &c->reply);
}

static void end(struct conn *c)
{
    struct bare *b = c->bare;
    bool good = true;
    if (c->decoder) {
        decoder_end(c->decoder);
        good = c->reply.done && c->reply.content.len;
        decoder_free(c->decoder);
        c->decoder = NULL;
        reply_release(&c->reply);
    }
    b->tally->failed += !good;
    b->tally->requests++;
    b->left--;
    c->had = true;
    if (c->first_us)
        tally_stream(b->tally, c->first_us, c->last_us);
}

static void watch(struct conn *c, int op, bool blocked)
{
    struct epoll_event e = {.events = EPOLLIN | (blocked ? EPOLLOUT : 0u), .data.ptr = c};
    epoll_ctl(c->bare->epoll_fd, op, c->fd, &e);
    c->blocked = blocked;
}

/* Sends what the socket takes; false if the connection is gone. */
static bool send_request(struct conn *c)
{
    struct bare *b = c->bare;
    bool blocked = false;
    while (c->sent < b->request.len && !blocked) {
        ssize_t n = send(c->fd, b->request.data + c->sent, b->request.len - c->sent, MSG_NOSIGNAL);
        blocked = n < 0;
        if (blocked && errno != EAGAIN)
            return false;
        c->sent += blocked ? 0 : (size_t)n;
    }
    if (blocked != c->blocked)
        watch(c, EPOLL_CTL_MOD, blocked);
    return true;
}

static void close_conn(struct conn *c)
{
    close(c->fd);
    if (c->decoder)
        reply_release(&c->reply);
    decoder_free(c->decoder);
    free(c);
}

/* True if the connection has another request to carry. */
static bool read_some(struct conn *c)
{
    struct bare *b = c->bare;
    ssize_t n = recv(c->fd, b->buffer, BUFFER_BYTES, 0);
    if (n < 0 && errno == EAGAIN)
        return true;
    if (n <= 0) {
        b->tally->failed++;
        b->left--;
        return false;
    }
    b->now_us = clock_mono_us();
    if (!take(c, b->buffer, (size_t)n))
        return true;
    end(c);
    if (b->started >= b->job->requests)
        return false;
    b->started++;
    begin(c);
    return send_request(c);
}

static bool connect_one(struct bare *b)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)b->job->port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct conn *c = mem_zero(1, sizeof *c);
    c->bare = b;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) < 0) {
        close_conn(c);
        return false;
    }
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    watch(c, EPOLL_CTL_ADD, false);
    b->started++;
    begin(c);
    return send_request(c);
}

static void make_request(struct bare *b)
{
    char *filler = mem_zero((size_t)b->job->body_bytes + 1, 1);
    memset(filler, 'x', (size_t)b->job->body_bytes);
    buf_addf(&b->request,
             "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
             "Content-Length: %ld\r\n\r\n%s",
             b->job->path, b->job->port, b->job->body_bytes, filler);
    free(filler);
}

bool bare_run(const struct bare_job *job, struct tally *t)
{
    struct bare *b = mem_zero(1, sizeof *b);
    *b = (struct bare){.job = job, .tally = t, .left = job->requests};
    b->waiting = job->sessions < job->requests ? job->sessions : job->requests;
    b->caps = endpoint_default_caps();
    b->epoll_fd = epoll_create1(0);
    make_request(b);
    long opened = 0;
    bool ok = true;
    while (b->left > 0 && ok) {
        for (int i = 0; i < STARTS && ok && opened < job->sessions && b->started < job->requests;
             i++, opened++)
            ok = connect_one(b);
        struct epoll_event events[BATCH];
        bool more = opened < job->sessions && b->started < job->requests;
        int n = epoll_wait(b->epoll_fd, events, BATCH, more ? 1 : 1000);
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;
            bool goes_on = true;
            if (events[i].events & EPOLLOUT)
                goes_on = send_request(c);
            if (goes_on && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                goes_on = read_some(c);
            if (!goes_on)
                close_conn(c);
        }
    }
    close(b->epoll_fd);
    buf_release(&b->request);
    free(b);
    return ok;
}
