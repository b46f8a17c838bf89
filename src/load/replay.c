/* replay.c - sends bytes that were sent before. It does not know what the answers mean for anybody:
 * it counts verdicts. */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "http.h"
#include "judge.h"
#include "mem.h"
#include "reply.h"

#define LOOK_US 100000 /* how often `stop` is asked */

/* Crowds whose requests fail at once must not become a flood. */
#define MAX_CROWD_FAILURES 1000

struct lane {
    struct playing *playing;
    struct reply reply;
    struct exchange *exchange; /* NULL while nothing is in flight */
};

struct playing {
    const struct replay *replay;
    struct replayed *result;
    struct http *http;
    struct lane watched, *crowd;
    size_t n_sent, n_crowd_sent;
    long crowd_failures;
    bool waiting; /* the next watched request is due, when the crowd is in the midst of its answers
                   */
    bool timed;   /* and the moment is set */
    bool over;
};

static void begin(struct lane *l, const struct replay_request *q, http_done *done)
{
    reply_init(&l->reply);
    l->reply.stream = l->playing->replay->stream;
    l->exchange = http_post(l->playing->http, (struct http_body){.own = q->body}, q->header,
                            &l->reply, done, l);
}

static size_t crowd_size(const struct replay *r)
{
    return r->n_crowd ? r->crowd_in_flight : 0;
}

static void begin_watched(struct playing *p);
static void send_watched(struct playing *p);

static void count(struct playing *p, const struct reply *r)
{
    const struct replay *q = p->replay;
    struct verdict v = {0};
    judge_reply(q->judge, q->toolset, q->expect, r, &v);
    if (v.class == CLASS_ERROR) {
        p->result->errors++;
        if (!p->result->error[0])
            snprintf(p->result->error, sizeof p->result->error, "%s: %.100s", reason_name(v.reason),
                     r->end_detail[0] ? r->end_detail : buf_str(&r->error_text));
    } else {
        p->result->judged++;
        p->result->corrupt += v.class != CLASS_OK;
    }
    verdict_release(&v);
}

static void on_moment(void *arg)
{
    struct playing *p = arg;
    p->waiting = p->timed = false;
    begin_watched(p);
}

/* A crowd whose answers take alike long moves in step with itself: half of an answer's time after
 * one of them began, the others are in flight, too. */
static void set_moment(struct playing *p, int64_t answer_us)
{
    if (!p->waiting || p->timed)
        return;
    p->timed = true;
    http_at(p->http, clock_mono_us() + answer_us / 2, on_moment, p);
}

static void on_watched(void *arg, struct reply *r)
{
    struct lane *l = arg;
    l->exchange = NULL;
    if (r->end != END_CANCELLED)
        count(l->playing, r);
    reply_release(r);
    send_watched(l->playing);
}

static void begin_watched(struct playing *p)
{
    if (!p->over)
        begin(&p->watched, &p->replay->watched[p->n_sent++], on_watched);
}

static void send_watched(struct playing *p)
{
    if (p->n_sent == p->replay->times)
        p->over = true;
    else if (crowd_size(p->replay))
        p->waiting = true;
    else
        begin_watched(p);
}

static void send_crowd(struct lane *l);

static void on_crowd(void *arg, struct reply *r)
{
    struct lane *l = arg;
    l->exchange = NULL;
    int64_t took_us = r->done_us > r->sent_us ? r->done_us - r->sent_us : 0;
    l->playing->crowd_failures += r->end != END_CLEAN || r->status >= 300;
    reply_release(r);
    send_crowd(l);
    set_moment(l->playing, took_us);
}

static void send_crowd(struct lane *l)
{
    struct playing *p = l->playing;
    if (!p->over && p->crowd_failures < MAX_CROWD_FAILURES)
        begin(l, &p->replay->crowd[p->n_crowd_sent++ % p->replay->n_crowd], on_crowd);
}

static void cancel(struct lane *l)
{
    if (l->exchange)
        http_cancel(l->exchange);
}

static void run(struct playing *p)
{
    size_t n = crowd_size(p->replay);
    for (size_t i = 0; i < n; i++) {
        p->crowd[i].playing = p;
        send_crowd(&p->crowd[i]);
    }
    p->watched.playing = p;
    send_watched(p);
    bool cancelled = false;
    for (int in_flight = 1; in_flight > 0 || (p->timed && !p->over);) {
        if (p->replay->stop && p->replay->stop())
            p->over = true;
        if (p->over && !cancelled) {
            cancelled = true;
            cancel(&p->watched);
            for (size_t i = 0; i < n; i++)
                cancel(&p->crowd[i]);
        }
        in_flight = http_run(p->http, LOOK_US);
    }
}

int replay_play(const struct replay *r, struct replayed *result, struct err *err)
{
    size_t n = crowd_size(r);
    struct playing p = {.replay = r, .result = result};
    *result = (struct replayed){0};
    p.http = http_new(r->endpoint, (long)n + 1, err);
    if (!p.http)
        return -1;
    p.crowd = mem_zero(n, sizeof *p.crowd);
    run(&p);
    http_free(p.http);
    free(p.crowd);
    return 0;
}
