/* server.c - the other side of the speed measurements: one thread that streams answers prepared
 * beforehand, so that the client is what gets measured. It judges no request and reads no body.
 *
 * The first part of a request's path says what is wanted: /e100-r50-d12-t0/v1/... is 100 events,
 * 50 a second, of 12 words each, the first after 0 ms. r0 sends as fast as the client takes it.
 * Each event of a paced stream carries the moment at which it was written (as its id,
 * CLOCK_MONOTONIC); deadlines are absolute, so that a late event does not delay those behind it.
 * GET /stats answers with the counters so far and starts them anew. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "mem.h"
#include "rng.h"

#define MAX_HEAD   16384 /* bytes of a request's head */
#define MAX_BODIES 64    /* different answers in one life */
#define MAX_EVENTS 1000000L
#define MAX_WORDS  100000L
#define READ_BYTES 262144
#define BATCH      512
#define LATE_US    5000 /* an event sent later than this counts as late */
#define STAMP      "id: "
#define DIGITS     16

/* An answer as it goes over the wire, and where its events begin. */
struct body {
    long events, rate, words, ttft_ms;
    struct buf bytes;
    size_t *starts; /* [0..events + 1]; event 0 has the head of the answer with it */
    size_t *stamps; /* of each event's digits */
};

struct conn {
    int fd;
    struct buf head;
    size_t body_left; /* of the request, still to be read */
    const struct body *body;
    size_t at; /* bytes of it sent */
    long next; /* the event that is due next */
    int64_t start_us, due_us;
    size_t place;  /* in the heap, from 1; 0 = not waiting */
    bool blocked;  /* the socket takes no more now */
    bool writable; /* EPOLLOUT is asked for */
};

struct server {
    int epoll_fd, listen_fd;
    struct body bodies[MAX_BODIES];
    size_t n_bodies;
    struct conn **conns; /* by descriptor */
    size_t conns_cap;
    struct conn **heap;
    size_t n_heap, heap_cap;
    long requests, events, connections, late;
    int64_t max_late_us;
    char *read_buffer;
};

static volatile sig_atomic_t stopping;

static void on_signal(int sig)
{
    (void)sig;
    stopping = 1;
}

/* --- answers --- */

static void add_chunk(struct buf *out, const struct buf *payload)
{
    buf_addf(out, "%zx\r\n", payload->len);
    buf_add(out, payload->data, payload->len);
    buf_adds(out, "\r\n");
}

static void add_words(struct buf *out, struct rng *r, long n)
{
    static const char *const words[] = {"river",  "stone",  "morning", "garden", "letter",
                                        "bridge", "winter", "harbour", "lamp",   "market",
                                        "north",  "quiet",  "window",  "copper", "ladder",
                                        "orange", "paper",  "silver",  "thread", "village"};
    for (long i = 0; i < n; i++)
        buf_addf(out, " %s%s", rng_pick(r, words, sizeof words / sizeof words[0]),
                 rng_below(r, 9) ? "" : ".");
}

/* One event of an answer, as servers write them; the last one is a call and carries the finish
 * reason. */
static void add_event(struct body *b, long k, struct rng *r)
{
    struct buf event = BUF_INIT;
    buf_adds(&event, STAMP);
    size_t stamp = event.len;
    buf_adds(&event, "0000000000000000\n");
    buf_adds(&event, "data: {\"id\":\"chatcmpl-5f0c2a9b7d3e41868c1b4f7a90d2e6c3\",\"object\":"
                     "\"chat.completion.chunk\",\"created\":1764500000,\"model\":\"bench\","
                     "\"choices\":[{\"index\":0,\"delta\":{");
    bool last = k == b->events - 1;
    if (k == 0)
        buf_adds(&event, "\"role\":\"assistant\",");
    if (last) {
        buf_adds(&event, "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\","
                         "\"function\":{\"name\":\"note\",\"arguments\":"
                         "\"{\\\"word\\\":\\\"finished\\\"}\"}}]");
    } else {
        buf_adds(&event, "\"content\":\"");
        add_words(&event, r, b->words);
        buf_addc(&event, '"');
    }
    buf_addf(&event, "},\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null}\n\n",
             last ? "\"tool_calls\"" : "null");
    b->starts[k] = k ? b->bytes.len : 0;
    char size[32];
    int n = snprintf(size, sizeof size, "%zx\r\n", event.len);
    b->stamps[k] = b->bytes.len + (size_t)n + stamp;
    add_chunk(&b->bytes, &event);
    buf_release(&event);
}

static void make_body(struct body *b)
{
    struct buf end = BUF_INIT;
    struct rng r = rng_stream(1, (uint64_t)b->events, "bench");
    b->starts = mem_zero((size_t)b->events + 1, sizeof *b->starts);
    b->stamps = mem_zero((size_t)b->events, sizeof *b->stamps);
    buf_adds(&b->bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
    for (long k = 0; k < b->events; k++)
        add_event(b, k, &r);
    buf_addf(&end,
             "data: {\"id\":\"chatcmpl-5f0c2a9b7d3e41868c1b4f7a90d2e6c3\",\"object\":"
             "\"chat.completion.chunk\",\"created\":1764500000,\"model\":\"bench\",\"choices\":[],"
             "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%ld,\"total_tokens\":%ld}}\n\n"
             "data: [DONE]\n\n",
             b->events, b->events + 9);
    add_chunk(&b->bytes, &end);
    buf_adds(&b->bytes, "0\r\n\r\n");
    b->starts[b->events] = b->bytes.len;
    buf_release(&end);
}

/* The answer that a path asks for; NULL if it asks for none. */
static const struct body *find_body(struct server *s, const char *path)
{
    struct body want = {0};
    if (sscanf(path, "/e%ld-r%ld-d%ld-t%ld/", &want.events, &want.rate, &want.words,
               &want.ttft_ms) != 4 ||
        want.events < 2 || want.events > MAX_EVENTS || want.words < 1 || want.words > MAX_WORDS)
        return NULL;
    for (size_t i = 0; i < s->n_bodies; i++) {
        const struct body *b = &s->bodies[i];
        if (b->events == want.events && b->rate == want.rate && b->words == want.words &&
            b->ttft_ms == want.ttft_ms)
            return b;
    }
    if (s->n_bodies == MAX_BODIES)
        return NULL;
    struct body *b = &s->bodies[s->n_bodies++];
    *b = want;
    make_body(b);
    return b;
}

/* --- deadlines --- */

static void put(struct server *s, struct conn *c, size_t place)
{
    s->heap[place] = c;
    c->place = place;
}

static void sift(struct server *s, struct conn *c, size_t place)
{
    for (; place > 1 && s->heap[place / 2]->due_us > c->due_us; place /= 2)
        put(s, s->heap[place / 2], place);
    for (size_t child; (child = place * 2) <= s->n_heap; place = child) {
        if (child < s->n_heap && s->heap[child + 1]->due_us < s->heap[child]->due_us)
            child++;
        if (s->heap[child]->due_us >= c->due_us)
            break;
        put(s, s->heap[child], place);
    }
    put(s, c, place);
}

static void wait_until(struct server *s, struct conn *c, int64_t due_us)
{
    c->due_us = due_us;
    if (!c->place) {
        s->heap = mem_grow(s->heap, &s->heap_cap, ++s->n_heap, sizeof(struct conn *));
        c->place = s->n_heap;
    }
    sift(s, c, c->place);
}

static void wait_no_more(struct server *s, struct conn *c)
{
    if (!c->place)
        return;
    struct conn *last = s->heap[s->n_heap--];
    if (last != c)
        sift(s, last, c->place);
    c->place = 0;
}

/* --- connections --- */

static void drop(struct server *s, struct conn *c)
{
    wait_no_more(s, c);
    close(c->fd);
    s->conns[c->fd] = NULL;
    buf_release(&c->head);
    free(c);
}

static void watch(struct server *s, struct conn *c, bool writable)
{
    if (c->writable == writable)
        return;
    c->writable = writable;
    struct epoll_event e = {.events = EPOLLIN | (writable ? EPOLLOUT : 0u), .data.fd = c->fd};
    epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
}

/* Sends up to byte `end` of the answer. False if the connection is gone. */
static bool send_to(struct server *s, struct conn *c, size_t end)
{
    c->blocked = false;
    while (c->at < end) {
        ssize_t n = send(c->fd, c->body->bytes.data + c->at, end - c->at, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            c->blocked = true;
            break;
        }
        if (n < 0) {
            drop(s, c);
            return false;
        }
        c->at += (size_t)n;
    }
    watch(s, c, c->blocked);
    return true;
}

static void stamp(const struct body *b, long k, int64_t now_us)
{
    char *digits = b->bytes.data + b->stamps[k];
    for (int i = DIGITS - 1; i >= 0; i--, now_us /= 10)
        digits[i] = (char)('0' + now_us % 10);
}

static int64_t due_us(const struct conn *c, long k)
{
    return c->start_us + c->body->ttft_ms * 1000 + k * 1000000 / (c->body->rate + !c->body->rate);
}

/* Sends what is due, each event in a write of its own. */
static void go_on(struct server *s, struct conn *c)
{
    const struct body *b = c->body;
    if (!b->rate) {
        s->events += c->next ? 0 : b->events;
        c->next = b->events;
    }
    for (int64_t now; c->next < b->events && due_us(c, c->next) <= (now = clock_mono_us());) {
        int64_t late = now - due_us(c, c->next);
        s->late += late > LATE_US;
        s->max_late_us = late > s->max_late_us ? late : s->max_late_us;
        s->events++;
        stamp(b, c->next++, now);
        if (!c->blocked && !send_to(s, c, b->starts[c->next]))
            return;
    }
    if (c->next < b->events) {
        if (c->blocked || send_to(s, c, b->starts[c->next]))
            wait_until(s, c, due_us(c, c->next));
        return;
    }
    wait_no_more(s, c);
    if (!send_to(s, c, b->bytes.len) || c->at < b->bytes.len)
        return;
    c->body = NULL;
}

static void answer_plain(struct conn *c, const char *status, const char *json)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             status, strlen(json), json);
    ssize_t n = send(c->fd, out.data, out.len, MSG_NOSIGNAL); /* short: a fresh socket has room */
    (void)n;
    buf_release(&out);
}

static void answer_stats(struct server *s, struct conn *c)
{
    struct rusage use;
    char json[400];
    getrusage(RUSAGE_SELF, &use);
    snprintf(json, sizeof json,
             "{\"requests\":%ld,\"events\":%ld,\"connections\":%ld,\"late\":%ld,"
             "\"max_late_us\":%" PRId64 ",\"cpu_us\":%lld}",
             s->requests, s->events, s->connections, s->late, s->max_late_us,
             (long long)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                 use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    s->requests = s->events = s->connections = s->late = 0;
    s->max_late_us = 0;
    answer_plain(c, "200 OK", json);
}

/* The request's head is whole and its body read: the answer begins. */
static void answer(struct server *s, struct conn *c)
{
    char method[8] = "", path[400] = "";
    int n = sscanf(c->head.data, "%7s %399s", method, path);
    buf_clear(&c->head);
    if (n == 2 && strcmp(path, "/stats") == 0) {
        answer_stats(s, c);
        return;
    }
    const struct body *b = find_body(s, path);
    if (b && strcmp(method, "GET") == 0 && strstr(path, "/models")) {
        answer_plain(c, "200 OK", "{\"object\":\"list\",\"data\":[{\"id\":\"bench\"}]}");
        return;
    }
    if (!b || strcmp(method, "POST") != 0) {
        answer_plain(c, "404 Not Found", "{\"error\":{\"message\":\"no such route\"}}");
        return;
    }
    s->requests++;
    c->body = b;
    c->at = 0;
    c->next = 0;
    c->start_us = clock_mono_us();
    if (b->ttft_ms && !b->rate)
        wait_until(s, c, due_us(c, 0));
    else
        go_on(s, c);
}

/* How long the body behind a head is; -1 if the head is not whole yet. */
static long long body_length(const struct buf *head, size_t *head_len)
{
    const char *end = strstr(buf_str(head), "\r\n\r\n");
    if (!end)
        return -1;
    *head_len = (size_t)(end - head->data) + 4;
    for (const char *line = head->data; line < end; line = strstr(line, "\r\n") + 2)
        if ((line[0] | 0x20) == 'c' && strncmp(line + 7, "-Length:", 8) == 0)
            return strtoll(line + 15, NULL, 10);
        else if ((line[0] | 0x20) == 'c' && strncmp(line + 7, "-length:", 8) == 0)
            return strtoll(line + 15, NULL, 10);
    return 0;
}

static bool take(struct server *s, struct conn *c, const char *data, size_t len)
{
    if (c->body_left) {
        size_t n = len < c->body_left ? len : c->body_left;
        c->body_left -= n;
        if (!c->body_left)
            answer(s, c);
        return n == len;
    }
    buf_add(&c->head, data, len);
    size_t head_len;
    long long body = body_length(&c->head, &head_len);
    if (body < 0)
        return c->head.len < MAX_HEAD;
    size_t have = c->head.len - head_len;
    if (have > (size_t)body)
        return false; /* pipelining: no client here does it */
    c->body_left = (size_t)body - have;
    if (!c->body_left)
        answer(s, c);
    return true;
}

static void read_from(struct server *s, struct conn *c)
{
    int fd = c->fd;
    ssize_t n = recv(fd, s->read_buffer, READ_BYTES, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0 || c->body || !take(s, c, s->read_buffer, (size_t)n))
        if (s->conns[fd] == c)
            drop(s, c);
}

static void accept_all(struct server *s)
{
    for (int fd; (fd = accept(s->listen_fd, NULL, NULL)) >= 0;) {
        int one = 1;
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        s->conns = mem_grow(s->conns, &s->conns_cap, (size_t)fd, sizeof(struct conn *));
        struct conn *c = mem_zero(1, sizeof *c);
        c->fd = fd;
        s->conns[fd] = c;
        s->connections++;
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e);
    }
}

static void serve_once(struct server *s)
{
    struct epoll_event events[BATCH];
    int wait_ms = -1;
    if (s->n_heap) {
        int64_t left = s->heap[1]->due_us - clock_mono_us();
        wait_ms = left > 0 ? (int)((left + 999) / 1000) : 0;
    }
    int n = epoll_wait(s->epoll_fd, events, BATCH, wait_ms);
    for (int i = 0; i < n; i++) {
        int fd = events[i].data.fd;
        struct conn *c = fd == s->listen_fd ? NULL : s->conns[fd];
        if (fd == s->listen_fd)
            accept_all(s);
        if (c && events[i].events & EPOLLOUT && c->body) {
            c->blocked = false;
            go_on(s, c);
        }
        if (c && s->conns[fd] == c && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            read_from(s, c);
    }
    for (int64_t now = clock_mono_us(); s->n_heap && s->heap[1]->due_us <= now;)
        go_on(s, s->heap[1]);
}

static int listen_on(struct server *s, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof a;
    int one = 1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(s->listen_fd, 16384) < 0 ||
        getsockname(s->listen_fd, (struct sockaddr *)&a, &len) < 0)
        return -1;
    fcntl(s->listen_fd, F_SETFL, O_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = s->listen_fd};
    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &e);
    return ntohs(a.sin_port);
}

int main(void)
{
    struct server s = {.epoll_fd = epoll_create1(0)};
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    s.read_buffer = mem_resize(NULL, READ_BYTES);
    int port = listen_on(&s, 0);
    if (port < 0) {
        perror("bench server");
        return 5;
    }
    printf("%d\n", port);
    fflush(stdout);
    while (!stopping)
        serve_once(&s);
    for (size_t fd = 0; fd < s.conns_cap; fd++)
        if (s.conns[fd])
            drop(&s, s.conns[fd]);
    for (size_t i = 0; i < s.n_bodies; i++) {
        buf_release(&s.bodies[i].bytes);
        free(s.bodies[i].starts);
        free(s.bodies[i].stamps);
    }
    free(s.conns);
    free(s.heap);
    free(s.read_buffer);
    close(s.listen_fd);
    close(s.epoll_fd);
    return 0;
}
