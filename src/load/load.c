/* load.c - the workers: each owns an event loop and some slots, and takes the next session of the
 * start order when a slot is free. Finished sessions go through one bounded queue. */
#include "load.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "http.h"
#include "mem.h"
#include "outcome.h"
#include "overlap.h"
#include "progress.h"
#include "queue.h"
#include "reply.h"
#include "request.h"
#include "rng.h"
#include "scenario.h"
#include "session.h"
#include "settings.h"

#define QUEUE_LENGTH   16384 /* a checkpoint of the database must not stall the workers */
#define LOOP_WAIT_US   200000
#define START_PAUSE_US 1000

struct worker {
    struct load *load;
    pthread_t thread;
    struct http *http; /* NULL once the thread has ended; see `ending` */
    int64_t late_us;   /* of its handling, once it has */
    long slots, busy;
    bool pausing; /* a tick that goes on starting sessions is due */
    bool cancelling;
    struct slot *first; /* sessions in flight */
};

/* A session in a worker's hands. */
struct slot {
    struct worker *worker;
    struct session *session;
    struct exchange *exchange; /* NULL while it waits to be sent again */
    int64_t resend_us;         /* when that is due */
    struct slot *prev, *next;
};

struct load {
    const struct settings *settings;
    struct progress progress;
    struct buf beginning; /* of all requests */
    struct queue *queue;
    struct worker *workers;
    int n_workers, n_started;
    atomic_int n_running;
    long total, handed_out;
    pthread_mutex_t ending;    /* over `http` of every worker, from when its thread runs */
    pthread_cond_t ended;      /* one more has, under that mutex */
    int64_t *start_offsets_us; /* of every session that is played; NULL = as there is room */
};

long load_sessions(const struct settings *s)
{
    if (s->only > 0)
        return 1;
    if (s->shards > 1)
        return (s->sessions - s->shard) / s->shards + 1;
    return s->sessions;
}

/* The session number at place `order` (from 0) of the start order. */
static long session_number(const struct settings *s, long order)
{
    if (s->only > 0)
        return s->only;
    return s->shards > 1 ? s->shard + order * s->shards : order + 1;
}

/* The place in the start order of the `next`-th session that is played. */
static long order_of(const struct settings *s, long next)
{
    return s->missing ? s->missing[next] : next;
}

/* When the `next`-th session of this process may start. */
static int64_t start_time_us(const struct load *l, long next)
{
    return l->progress.start_us + l->settings->played_us +
           (l->start_offsets_us ? l->start_offsets_us[next] : 0);
}

static void fill(struct worker *w);

static void on_tick(void *arg)
{
    struct worker *w = arg;
    w->pausing = false;
    fill(w);
}

static void pause_starts(struct worker *w, int64_t until_us)
{
    if (w->pausing)
        return;
    w->pausing = true;
    http_at(w->http, until_us, on_tick, w);
}

static void on_done(void *arg, struct reply *r);

static void send_round(struct slot *slot, int64_t scheduled_us)
{
    session_sent(slot->session);
    session_reply(slot->session)->scheduled_us = scheduled_us;
    slot->exchange =
        http_post(slot->worker->http, session_body(slot->session), session_header(slot->session),
                  session_reply(slot->session), on_done, slot);
}

static void drop_slot(struct slot *slot)
{
    struct worker *w = slot->worker;
    if (slot->prev)
        slot->prev->next = slot->next;
    else
        w->first = slot->next;
    if (slot->next)
        slot->next->prev = slot->prev;
    session_free(slot->session);
    free(slot);
    w->busy--;
    atomic_fetch_sub(&w->load->progress.sessions_in_flight, 1);
}

/* Overloaded endpoints were given their time. The tick belongs to the worker, since the slot that
 * asked for it may be gone by then. */
static void on_resend(void *arg)
{
    struct worker *w = arg;
    int64_t now = clock_mono_us();
    if (w->cancelling)
        return;
    for (struct slot *s = w->first; s; s = s->next)
        if (!s->exchange && s->resend_us <= now)
            send_round(s, now);
}

static void on_done(void *arg, struct reply *r)
{
    struct slot *slot = arg;
    struct worker *w = slot->worker;
    struct progress *p = &w->load->progress;
    slot->exchange = NULL;
    if (r->end == END_CANCELLED) {
        drop_slot(slot);
        return;
    }
    int64_t wait_us, now = clock_mono_us();
    switch (session_advance(slot->session, &wait_us)) {
    case SESSION_SEND: send_round(slot, now); return;
    case SESSION_RESEND:
        slot->resend_us = now + wait_us;
        http_at(w->http, slot->resend_us, on_resend, w);
        return;
    case SESSION_OVER: break;
    }
    struct outcome *o = session_outcome(slot->session);
    atomic_fetch_add(&p->by_class[reason_class(outcome_reason(o))], 1);
    atomic_fetch_add(&p->finished, 1);
    drop_slot(slot);
    queue_put(w->load->queue, o);
    fill(w);
}

/* Takes the next session that is to be played; false if there is none, or not yet. */
static bool take_next(struct worker *w, long *taken)
{
    struct load *l = w->load;
    if (l->start_offsets_us) {
        long next = atomic_load(&l->progress.next);
        if (next < l->total && start_time_us(l, next) > clock_mono_us()) {
            pause_starts(w, start_time_us(l, next));
            return false;
        }
    }
    *taken = atomic_fetch_add(&l->progress.next, 1);
    return *taken < l->total;
}

static void start_session(struct worker *w, long next)
{
    const struct settings *settings = w->load->settings;
    struct progress *p = &w->load->progress;
    long order = order_of(settings, next);
    long in_flight = atomic_fetch_add(&p->sessions_in_flight, 1) + 1;
    long long zero = 0, now = clock_mono_us();
    if (in_flight >= settings->concurrency)
        atomic_compare_exchange_strong(&p->full_us, &zero, now);
    if (atomic_fetch_add(&p->started, 1) + 1 == w->load->total)
        atomic_store(&p->last_start_us, now);
    struct slot *slot = mem_zero(1, sizeof *slot);
    slot->worker = w;
    slot->session = session_new(settings, p, buf_span(&w->load->beginning),
                                session_number(settings, order), order + 1);
    slot->next = w->first;
    if (slot->next)
        slot->next->prev = slot;
    w->first = slot;
    w->busy++;
    send_round(slot, w->load->start_offsets_us ? start_time_us(w->load, next) : now);
}

static void fill(struct worker *w)
{
    long next;
    int64_t until_us = clock_mono_us() + http_start_budget_us(w->http);
    while (w->busy < w->slots && !atomic_load(&w->load->progress.stop) && take_next(w, &next)) {
        start_session(w, next);
        if (clock_mono_us() < until_us)
            continue;
        pause_starts(w, clock_mono_us() + START_PAUSE_US);
        return;
    }
}

static void cancel_all(struct worker *w)
{
    w->cancelling = true;
    for (struct slot *s = w->first, *next; s; s = next) {
        next = s->next;
        if (s->exchange)
            http_cancel(s->exchange);
        else
            drop_slot(s);
    }
}

/* In the worker's thread, so that the one that stores has no thousand connections to close; when
 * all workers have ended, so that none is kept late by it. */
static void close_http(struct worker *w)
{
    struct load *l = w->load;
    struct http *http = w->http;
    pthread_mutex_lock(&l->ending);
    w->http = NULL;
    pthread_cond_broadcast(&l->ended);
    while (atomic_load(&l->n_running) > 0)
        pthread_cond_wait(&l->ended, &l->ending);
    pthread_mutex_unlock(&l->ending);
    w->late_us = http_lateness_us(http, 0.99);
    http_free(http);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    fill(w);
    while (w->busy > 0 || w->pausing) {
        http_run(w->http, LOOP_WAIT_US);
        if (atomic_load(&w->load->progress.stop)) {
            if (!w->cancelling)
                cancel_all(w);
            else if (w->busy == 0)
                break;
        }
    }
    atomic_fetch_sub(&w->load->n_running, 1);
    queue_hurry(w->load->queue);
    close_http(w);
    return NULL;
}

static long most_requests(const struct settings *s, long total)
{
    struct play_settings ps = {.seed = s->seed, .rounds = s->rounds, .n_sessions = s->sessions};
    struct play *p = play_new(s->scenario, &ps, s->key, session_number(s, 0));
    long rounds = play_rounds(p);
    play_free(p);
    return total * rounds * (s->twin ? 2 : 1) * (1 + s->retry_overload);
}

static int start_workers(struct load *l, struct err *err)
{
    long concurrency = l->settings->concurrency;
    for (int i = 0; i < l->n_workers; i++) {
        struct worker *w = &l->workers[i];
        w->load = l;
        w->slots = concurrency / l->n_workers + (i < concurrency % l->n_workers);
        w->http = http_new(l->settings->endpoint, w->slots, err);
        if (!w->http)
            return -1;
    }
    atomic_store(&l->n_running, l->n_workers);
    for (int i = 0; i < l->n_workers; i++) {
        int rc = pthread_create(&l->workers[i].thread, NULL, work, &l->workers[i]);
        if (rc != 0) {
            atomic_fetch_sub(&l->n_running, l->n_workers - i);
            return err_set(err, STATUS_TOOL, "cannot start worker thread: %s", strerror(rc));
        }
        l->n_started++;
    }
    return 0;
}

/* The intended starts of an open loop: a Poisson process, drawn from the seed. */
static int64_t *poisson_starts(const struct settings *s, long total)
{
    struct rng r = rng_stream(s->seed, 0, "arrivals");
    int64_t *offsets = mem_zero((size_t)total, sizeof *offsets);
    double at = 0;
    for (long i = 0; i < total; i++) {
        offsets[i] = (int64_t)at;
        at += -log(1 - rng_unit(&r)) * 1e6 / s->request_rate;
    }
    return offsets;
}

struct load *load_start(const struct settings *settings, struct err *err)
{
    struct load *l = mem_zero(1, sizeof *l);
    l->settings = settings;
    l->total = settings->missing ? settings->n_missing : load_sessions(settings);
    l->n_workers =
        settings->threads < settings->concurrency ? settings->threads : (int)settings->concurrency;
    if (l->total > 1)
        request_beginning(settings, session_number(settings, order_of(settings, 0)),
                          session_number(settings, order_of(settings, 1)), &l->beginning);
    l->start_offsets_us = settings->request_rate > 0 ? poisson_starts(settings, l->total) : NULL;
    l->queue = queue_new(QUEUE_LENGTH);
    pthread_mutex_init(&l->ending, NULL);
    pthread_cond_init(&l->ended, NULL);
    l->workers = mem_zero((size_t)l->n_workers, sizeof *l->workers);
    l->progress.overlap = overlap_new(most_requests(settings, l->total));
    l->progress.start_us = clock_mono_us() - settings->played_us;
    if (start_workers(l, err) != 0) {
        load_stop(l);
        load_end(l);
        return NULL;
    }
    return l;
}

struct outcome *load_next(struct load *l, int64_t wait_us)
{
    struct outcome *o = queue_get(l->queue, wait_us);
    if (o)
        l->handed_out++;
    return o;
}

bool load_is_over(struct load *l)
{
    return l->handed_out == l->total ||
           (atomic_load(&l->n_running) == 0 && queue_count(l->queue) == 0);
}

void load_stop(struct load *l)
{
    atomic_store(&l->progress.stop, 1);
    pthread_mutex_lock(&l->ending);
    for (int i = 0; i < l->n_workers; i++)
        if (l->workers[i].http)
            http_wake(l->workers[i].http);
    pthread_mutex_unlock(&l->ending);
}

long load_total(const struct load *l)
{
    return l->total;
}

struct progress *load_progress(struct load *l)
{
    return &l->progress;
}

struct load_figures load_end(struct load *l)
{
    struct load_figures f = {0};
    for (int i = 0; i < l->n_started; i++) {
        /* A worker that is stopped may wait for room in the queue. */
        while (atomic_load(&l->n_running) > 0)
            outcome_free(queue_get(l->queue, 10000));
        pthread_join(l->workers[i].thread, NULL);
    }
    for (struct outcome *o; (o = queue_get(l->queue, 0));)
        outcome_free(o);
    f.peak_in_flight = overlap_peak(l->progress.overlap);
    f.requests = overlap_requests(l->progress.overlap);
    for (int i = 0; i < l->n_workers; i++) {
        int64_t late = l->workers[i].late_us;
        f.late_p99_us = late > f.late_p99_us ? late : f.late_p99_us;
        http_free(l->workers[i].http);
    }
    pthread_mutex_destroy(&l->ending);
    pthread_cond_destroy(&l->ended);
    overlap_free(l->progress.overlap);
    queue_free(l->queue);
    buf_release(&l->beginning);
    free(l->start_offsets_us);
    free(l->workers);
    free(l);
    return f;
}
