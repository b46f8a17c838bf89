/* engine.c - a closed loop of exchanges on the product's own loop. Lateness is read from the stamps
 * in the bytes and the arrival times that the engine keeps with them; the CPU time for that is
 * measured and taken out. */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "decode_ops.h"
#include "dialect.h"
#include "endpoint.h"
#include "http.h"
#include "mem.h"
#include "reply.h"
#include "tally.h"

#define PAUSE_US 1000
#define WAIT_US  100000

/* When all workers' first streams have begun. */
struct start {
    atomic_int workers; /* that have streams which have not */
    _Atomic int64_t over_us;
};

struct worker {
    const struct engine_job *job;
    struct start *start;
    const struct endpoint *ep;
    struct http *http;
    pthread_t thread;
    struct tally tally;
    struct span body;
    struct slot *slots;
    long n_slots, n_open; /* slots, and how many of them have been given a request */
    long n_begun;         /* of the first slots in a row that have had a byte of an answer */
    long requests, started, left;
};

struct slot {
    struct worker *worker;
    struct reply reply;
    bool had; /* an answer */
};

static int64_t thread_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Each event's stamp against the arrival that it stands in. */
static void read_stamps(struct worker *w, const struct reply *r)
{
    static const char key[] = "id: 0";
    int64_t began = thread_cpu_us(), over = atomic_load(&w->start->over_us), first = 0, now = 0;
    struct span raw = buf_span(&r->raw);
    size_t arrival = 0;
    for (long at = 0; (at = span_find(raw, span_of(key), (size_t)at)) >= 0;) {
        at += (long)sizeof key - 1;
        while (arrival < r->n_arrivals && r->arrivals[arrival].offset <= (size_t)at)
            arrival++;
        int64_t sent = strtoll(raw.data + at, NULL, 10);
        if (!sent || arrival == r->n_arrivals)
            continue;
        now = r->arrivals[arrival].at_us;
        if (first)
            tally_late(&w->tally, over && now >= over ? TALLY_RUNNING : TALLY_STARTING, sent, now);
        else
            first = now;
    }
    if (first)
        tally_stream(&w->tally, first, now);
    w->tally.spare_us += thread_cpu_us() - began;
}

static void post(struct slot *slot);

static void on_done(void *arg, struct reply *r)
{
    struct slot *slot = arg;
    struct worker *w = slot->worker;
    bool good = r->end == END_CLEAN && r->done && r->content.len;
    w->tally.failed += !good;
    w->tally.requests++;
    w->left--;
    if (w->job->paced)
        read_stamps(w, r);
    reply_release(r);
    slot->had = true;
    if (w->started < w->requests)
        post(slot);
}

static void post(struct slot *slot)
{
    struct worker *w = slot->worker;
    reply_init(&slot->reply);
    slot->reply.stream = true;
    w->started++;
    http_post(w->http, (struct http_body){.own = w->body}, NULL, &slot->reply, on_done, slot);
}

static void on_tick(void *arg)
{
    struct worker *w = arg;
    int64_t until_us = clock_mono_us() + http_start_budget_us(w->http);
    while (w->n_open < w->n_slots && w->started < w->requests) {
        struct slot *slot = &w->slots[w->n_open++];
        slot->worker = w;
        post(slot);
        if (clock_mono_us() >= until_us)
            break;
    }
    if (w->n_open < w->n_slots && w->started < w->requests)
        http_at(w->http, clock_mono_us() + PAUSE_US, on_tick, w);
}

/* Looks whether the start is over, as far as this worker goes. */
static void watch_start(struct worker *w)
{
    long first = w->n_slots < w->requests ? w->n_slots : w->requests;
    if (w->n_begun == first)
        return;
    while (w->n_begun < w->n_open &&
           (w->slots[w->n_begun].had || w->slots[w->n_begun].reply.first_byte_us))
        w->n_begun++;
    if (w->n_begun == first && atomic_fetch_sub(&w->start->workers, 1) == 1)
        atomic_store(&w->start->over_us, clock_mono_us());
}

static void *work(void *arg)
{
    struct worker *w = arg;
    on_tick(w);
    while (w->left > 0) {
        http_run(w->http, WAIT_US);
        watch_start(w);
    }
    return NULL;
}

static int run_workers(struct worker *workers, int n, struct tally *t, struct err *err)
{
    int started = 0, rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        workers[i].http = http_new(workers[i].ep, workers[i].n_slots, err);
        rc = workers[i].http ? 0 : -1;
    }
    for (; started < n && rc == 0; started++)
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) {
            rc = err_set(err, STATUS_TOOL, "cannot start a thread");
            break;
        }
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < n; i++) {
        http_free(workers[i].http);
        tally_join(t, &workers[i].tally);
        free(workers[i].slots);
    }
    return rc;
}

int engine_run(const struct engine_job *job, struct tally *t, struct err *err)
{
    struct endpoint ep = {0};
    struct dialect dialect = *dialect_default();
    struct decode_ops trees = {.read = dialect.decode->read};
    if (job->trees)
        dialect.decode = &trees;
    if (http_global_init(err) != 0 || endpoint_init(&ep, &dialect, job->url, err) != 0)
        return -1;
    ep.insecure = job->insecure;
    char *body = mem_zero((size_t)job->body_bytes + 1, 1);
    memset(body, 'x', (size_t)job->body_bytes);
    struct worker *workers = mem_zero((size_t)job->threads, sizeof *workers);
    struct start start = {.workers = job->threads};
    for (int i = 0; i < job->threads; i++) {
        struct worker *w = &workers[i];
        *w = (struct worker){.job = job, .start = &start, .ep = &ep, .body = span_of(body)};
        w->n_slots = job->sessions / job->threads + (i < job->sessions % job->threads);
        w->requests = w->left = job->requests / job->threads + (i < job->requests % job->threads);
        w->slots = mem_zero((size_t)w->n_slots, sizeof *w->slots);
        tally_begin(&w->tally);
    }
    int rc = run_workers(workers, job->threads, t, err);
    t->running_us = atomic_load(&start.over_us);
    free(workers);
    free(body);
    endpoint_release(&ep);
    http_global_end();
    return rc;
}
