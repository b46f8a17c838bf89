/* stream.c - the state machine of an answer on an evhttp connection: a timer for its pace, the
 * flush callback for everything that is not paced. It encodes as it goes, so that ten thousand slow
 * streams hold texts, not events. It does not know why an answer is damaged. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "answer.h"
#include "buf.h"
#include "clock.h"
#include "encode.h"
#include "ledger.h"
#include "mem.h"
#include "rng.h"
#include "server.h"

#define BATCH         16384             /* bytes handed to the socket at once */
#define PIPELINED     65536             /* bytes read ahead of an answer */
#define TRICKLE_US    100000            /* between two words of a stream that never ends */
#define ENDLESS_BYTES ((size_t)1 << 30) /* an endless line ends here after all */
#define POLL_US       1000              /* until the socket has taken everything */

struct stream {
    struct loop *loop;
    struct evhttp_request *req;
    struct answer answer;
    struct encode_settings encode;
    struct ledger_line damage;
    char *scenario, *boot; /* texts of the line that are this stream's own */
    uint64_t dice;
    struct event timer;
    struct encode_place place;
    struct rng rng;
    int64_t due_us;
    struct buf out; /* said, but not handed to the socket yet */
    size_t endless;
    bool stream, damaged, started, whole, prepared, marked, counted;
};

static void pump(struct stream *s);

static struct evhttp_connection *connection(const struct stream *s)
{
    return evhttp_request_get_connection(s->req);
}

static struct bufferevent *socket_of(struct evhttp_request *req)
{
    return evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));
}

static void leave(struct stream *s)
{
    if (s->counted)
        atomic_fetch_sub(&s->loop->server->inflight, 1);
    s->counted = false;
}

static void stream_free(struct stream *s)
{
    leave(s);
    event_del(&s->timer);
    answer_release(&s->answer);
    buf_release(&s->out);
    free(s->scenario);
    free(s->boot);
    free(s);
}

static void forget_connection(struct evhttp_connection *c, void *arg)
{
    struct loop *loop = arg;
    evutil_socket_t fd = bufferevent_getfd(evhttp_connection_get_bufferevent(c));
    if (fd >= 0 && (size_t)fd < loop->n_served)
        loop->served[fd] = 0;
}

/* The connection goes down under the answer, by the client's doing or ours. A request that evhttp
 * has cut loose from its connection is ours to free; else the connection frees it. */
static void on_close(struct evhttp_connection *c, void *arg)
{
    struct stream *s = arg;
    forget_connection(c, s->loop);
    if (!connection(s)) {
        atomic_fetch_add(&s->loop->server->abandoned, 1);
        evhttp_request_free(s->req);
    }
    stream_free(s);
}

void stream_note(struct loop *loop, struct evhttp_request *req)
{
    evutil_socket_t fd = bufferevent_getfd(socket_of(req));
    if (fd < 0)
        return;
    if ((size_t)fd >= loop->n_served) {
        size_t n = (size_t)fd * 2 + 64;
        loop->served = mem_resize(loop->served, n * sizeof *loop->served);
        memset(loop->served + loop->n_served, 0, (n - loop->n_served) * sizeof *loop->served);
        loop->n_served = n;
    }
    evhttp_connection_set_closecb(evhttp_request_get_connection(req), forget_connection, loop);
    int on = 1;
    if (loop->served[fd]++ == 0) /* a paced stream must not wait for acknowledgements */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* From now on a close is noticed, though nothing is read: evhttp itself watches only once it
 * writes, and its reading callback must not run while a request is being answered. */
static void watch(struct stream *s)
{
    struct bufferevent *bev = socket_of(s->req);
    bufferevent_data_cb on_read, on_write;
    bufferevent_event_cb on_event;
    void *arg;
    bufferevent_getcb(bev, &on_read, &on_write, &on_event, &arg);
    bufferevent_setcb(bev, NULL, on_write, on_event, arg);
    bufferevent_setwatermark(bev, EV_READ, 0, PIPELINED);
    bufferevent_enable(bev, EV_READ);
    evhttp_connection_set_closecb(connection(s), on_close, s);
}

static void mark(struct stream *s)
{
    if (s->damaged && !s->marked)
        ledger_add(s->loop->server->ledger, &s->damage);
    s->marked = true;
}

static void wake_at(struct stream *s, int64_t at_us)
{
    int64_t wait = at_us - clock_mono_us();
    if (wait < 0)
        wait = 0;
    struct timeval tv = {.tv_sec = wait / 1000000, .tv_usec = wait % 1000000};
    evtimer_add(&s->timer, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump(arg);
}

static void on_flush(struct evhttp_connection *c, void *arg)
{
    (void)c;
    pump(arg);
}

static int64_t delay(struct stream *s, int64_t mean_us)
{
    double scatter = 1 + s->loop->server->jitter * (2 * rng_unit(&s->rng) - 1);
    return (int64_t)((double)mean_us * scatter);
}

static void add_header(struct evhttp_request *req, const char *key, const char *value)
{
    evhttp_add_header(evhttp_request_get_output_headers(req), key, value);
}

static void add_number_header(struct evhttp_request *req, const char *key, long long n)
{
    char *text = mem_printf("%lld", n);
    add_header(req, key, text);
    free(text);
}

static void start(struct stream *s, size_t content_length)
{
    const struct answer *a = &s->answer;
    const char *type = "application/json";
    if (a->whole)
        type = a->content_type;
    else if (s->stream)
        type = "text/event-stream; charset=utf-8";
    add_header(s->req, "Content-Type", type);
    if (s->stream && !a->whole)
        add_header(s->req, "Cache-Control", "no-cache");
    if (a->retry_after_s >= 0)
        add_number_header(s->req, "Retry-After", a->retry_after_s);
    if (content_length > 0)
        add_number_header(s->req, "Content-Length", (long long)content_length);
    evhttp_send_reply_start(s->req, a->status, NULL);
    s->started = true;
}

/* How much of the answer has been said, against how much is to be said before its ending. */
static bool at_ending(const struct stream *s)
{
    const struct answer *a = &s->answer;
    if (a->ending == ENDS_WELL)
        return false;
    if (a->after_permille == 0)
        return true;
    return s->place.phase >= PHASE_FINISH ||
           (s->place.phase > PHASE_ROLE &&
            s->place.said * 1000 >= encode_total(a) * (size_t)a->after_permille);
}

static bool is_over(const struct stream *s)
{
    return s->whole ? s->prepared : s->place.phase == PHASE_OVER;
}

/* The whole body at once, or as much of it as is to be said before the ending. */
static void prepare_body(struct stream *s)
{
    const struct answer *a = &s->answer;
    struct buf body = BUF_INIT;
    s->prepared = true;
    if (a->ending == ENDS_TRICKLE || a->ending == ENDS_ENDLESS || a->ending == ENDS_RESET)
        return;
    if (a->ending != ENDS_WELL && a->after_permille == 0)
        return;
    if (a->whole)
        buf_add(&body, a->body.data, a->body.len);
    else
        encode_body(a, &s->encode, &body);
    start(s, body.len);
    size_t said = body.len;
    if (a->ending != ENDS_WELL)
        said = body.len * a->after_permille / 1000;
    else
        mark(s);
    buf_add(&s->out, body.data, said);
    buf_release(&body);
}

static void next_event(struct stream *s)
{
    const struct answer *a = &s->answer;
    encode_settle(a, &s->place);
    if (at_ending(s))
        return;
    if (s->place.phase == PHASE_FINISH)
        mark(s);
    size_t said = s->place.said;
    encode_event(a, &s->encode, &s->place, &s->out);
    encode_settle(a, &s->place);
    if (s->place.said > said && s->place.phase < PHASE_FINISH)
        s->due_us += delay(s, s->loop->server->itl_us);
}

static bool can_say_more(const struct stream *s)
{
    return !is_over(s) && (s->whole || !at_ending(s));
}

/* Says everything that is due, up to a batch. */
static void produce(struct stream *s)
{
    int64_t now = clock_mono_us();
    while (s->out.len < BATCH && s->due_us <= now && can_say_more(s)) {
        if (s->whole)
            prepare_body(s);
        else
            next_event(s);
    }
}

/* Hands bytes to the socket; with `flush`, pump() goes on when it has taken them. */
static void send_piece(struct stream *s, size_t len, bool flush)
{
    struct evbuffer *piece = evbuffer_new();
    evbuffer_add(piece, s->out.data, len);
    buf_consume(&s->out, len);
    if (!s->started)
        start(s, 0);
    if (flush)
        evhttp_send_reply_chunk_with_cb(s->req, piece, on_flush, s);
    else
        evhttp_send_reply_chunk(s->req, piece);
    evbuffer_free(piece);
}

static void finish(struct stream *s)
{
    struct evhttp_request *req = s->req;
    struct loop *loop = s->loop;
    if (!s->started)
        start(s, 0);
    bufferevent_setwatermark(socket_of(req), EV_READ, 0, 0);
    evhttp_connection_set_closecb(connection(s), forget_connection, loop);
    stream_free(s);
    evhttp_send_reply_end(req);
}

/* Closes under the answer; on_close() frees the stream. Before any byte it is a reset half of the
 * time; later ones would take bytes back that were sent. A client whose kept connection dies before
 * any byte tries again on a new one: only that is the damage. */
static void hang_up(struct stream *s)
{
    evutil_socket_t fd = bufferevent_getfd(socket_of(s->req));
    bool is_reused = fd >= 0 && s->loop->served[fd] > 1;
    if (s->started || !is_reused)
        mark(s);
    leave(s);
    if (!s->started && s->dice & 1) {
        struct linger reset = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    evhttp_connection_free(connection(s));
}

static void trickle(struct stream *s)
{
    static const char *const words[] = {" and",   " then", " the",  " other", " one",   " waits",
                                        " for",   " some", " more", " time",  " until", " it",
                                        " comes", " back", " to",   " where", " we",    " were"};
    mark(s);
    if (s->stream)
        encode_words(&s->encode, rng_pick(&s->rng, words, sizeof words / sizeof *words), &s->out);
    else
        buf_addc(&s->out, ' ');
    if (evbuffer_get_length(bufferevent_get_output(socket_of(s->req))) < BATCH)
        send_piece(s, s->out.len, false);
    buf_clear(&s->out);
    s->due_us = clock_mono_us() + TRICKLE_US;
    wake_at(s, s->due_us);
}

static void endless(struct stream *s)
{
    mark(s);
    if (s->endless >= ENDLESS_BYTES) {
        hang_up(s);
        return;
    }
    if (s->endless == 0)
        encode_open_line(&s->encode, s->stream, &s->out);
    for (size_t i = 0; i < 16 * BATCH / 8; i++)
        buf_addf(&s->out, "%07llx ", (unsigned long long)(rng_u64(&s->rng) >> 36));
    s->endless += s->out.len;
    send_piece(s, s->out.len, true);
}

static void end_with_tail(struct stream *s, enum ending ending)
{
    struct answer *a = &s->answer;
    mark(s);
    a->ending = ending;
    buf_add(&s->out, a->tail.data, a->tail.len);
    s->place.phase = PHASE_DONE;
    pump(s);
}

static void end_badly(struct stream *s)
{
    switch (s->answer.ending) {
    case ENDS_RESET:
    case ENDS_CUT: hang_up(s); break;
    case ENDS_STALL: mark(s); break; /* on_close() is what ends it */
    case ENDS_TRICKLE: trickle(s); break;
    case ENDS_ENDLESS: endless(s); break;
    case ENDS_TAIL: end_with_tail(s, ENDS_WELL); break;
    case ENDS_TAIL_CUT: end_with_tail(s, ENDS_CUT); break;
    case ENDS_WELL:
    default: break;
    }
}

static size_t piece_size(struct stream *s)
{
    int split = s->loop->server->split;
    if (split <= 0)
        return s->out.len;
    size_t len = 1 + (size_t)rng_below(&s->rng, (uint64_t)split);
    return len < s->out.len ? len : s->out.len;
}

/* Goes on with the answer: exactly one of timer, flush callback and close wakes it next. */
static void pump(struct stream *s)
{
    produce(s);
    bool more = can_say_more(s), bad = s->answer.ending != ENDS_WELL;
    if (s->out.len > 0) {
        size_t len = piece_size(s);
        bool paced = len == s->out.len && more && s->due_us > clock_mono_us();
        bool last = len == s->out.len && !more && !bad;
        send_piece(s, len, !paced && !last);
        if (last)
            finish(s);
        else if (paced)
            wake_at(s, s->due_us);
    } else if (more) {
        wake_at(s, s->due_us);
    } else if (!bad) {
        finish(s);
    } else if (evbuffer_get_length(bufferevent_get_output(socket_of(s->req))) > 0 &&
               s->answer.ending != ENDS_ENDLESS) {
        wake_at(s, clock_mono_us() + POLL_US);
    } else {
        end_badly(s);
    }
}

static int64_t first_delay(struct stream *s)
{
    const struct server *sv = s->loop->server;
    int64_t us = delay(s, sv->ttft_us);
    if (s->stream || s->answer.whole)
        return us;
    long chunks = answer_tokens(&s->answer.said) / sv->tokens_per_chunk;
    return us + delay(s, sv->itl_us * chunks);
}

static void take_damage(struct stream *s, const struct ledger_line *line)
{
    s->damaged = line != NULL;
    if (!line)
        return;
    s->damage = *line;
    s->damage.scenario = s->scenario = mem_str(line->scenario);
    s->damage.boot = s->boot = mem_str(line->boot);
}

void stream_start(struct loop *loop, struct evhttp_request *req, struct stream_order *order)
{
    struct stream *s = mem_zero(1, sizeof *s);
    s->loop = loop;
    s->req = req;
    s->answer = *order->answer;
    answer_init(order->answer);
    s->encode = *order->encode;
    s->stream = order->stream;
    s->dice = order->dice;
    s->counted = true;
    s->whole = s->answer.whole || !s->stream;
    take_damage(s, order->damage);
    s->rng = rng_stream(order->dice, 0, "pace");
    evtimer_assign(&s->timer, loop->base, on_timer, s);
    atomic_fetch_add(&loop->server->completion_tokens, s->answer.said.usage.completion_tokens);
    s->due_us = clock_mono_us() + first_delay(s);
    watch(s);
    pump(s);
}

void stream_plain(struct loop *loop, struct evhttp_request *req, int status, const char *type,
                  const char *body, size_t len)
{
    (void)loop;
    struct evbuffer *out = evbuffer_new();
    evbuffer_add(out, body, len);
    add_header(req, "Content-Type", type);
    evhttp_send_reply(req, status, NULL, out);
    evbuffer_free(out);
}
