/* loop.c - one epoll instance, one binary heap, one histogram. It knows nothing of HTTP.
 *
 * Lateness of a socket's handling runs from the moment at which epoll_wait() reported it. Where
 * epoll_wait() had not slept, the socket may have been ready all through the batch before, so it
 * runs from the start of that one. */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"

#define FIRST_BATCH 256
#define MAX_BATCH   65536
#define SLEPT_US    50 /* a shorter epoll_wait() found something that was ready before */
#define SUB_BITS    3  /* buckets per power of two: 2^3 */
#define N_BUCKETS   (48 << SUB_BITS)
#define WAKE_MARK   UINT64_MAX
#define MAX_WAIT_US INT64_C(3600000000)
#define MS(us)      ((int)(((us) + 999) / 1000))

struct watch {
    void *arg;
    loop_ready *ready; /* NULL: the loop's, with `arg` */
    void *diverted_arg;
    uint32_t generation; /* tells a descriptor's events from those of its predecessor */
    unsigned want;
};

/* A timer that is nobody's part. */
struct once {
    struct loop_timer timer;
    loop_call *call;
    void *arg;
};

struct loop {
    loop_ready *ready;
    int epoll_fd, wake_fd;
    struct epoll_event *events; /* room for all that can be ready at once, as far as is known */
    int events_cap;
    struct watch *watches; /* by descriptor */
    size_t watches_cap;
    struct loop_timer **heap; /* [1..n_timers] */
    size_t n_timers, heap_cap;
    int64_t now_us, late_us, batch_us;
    int64_t turn_us; /* the last whole one */
    uint64_t buckets[N_BUCKETS], n_handled;
};

struct loop *loop_new(loop_ready *ready, struct err *err)
{
    struct loop *l = mem_zero(1, sizeof *l);
    l->ready = ready;
    l->events_cap = FIRST_BATCH;
    l->events = mem_resize(NULL, FIRST_BATCH * sizeof *l->events);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->now_us = l->batch_us = clock_mono_us();
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = WAKE_MARK};
    if (l->epoll_fd < 0 || l->wake_fd < 0 ||
        epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->wake_fd, &e) < 0) {
        err_set(err, STATUS_TOOL, "can't create an event loop: %s", strerror(errno));
        loop_free(l);
        return NULL;
    }
    return l;
}

void loop_forget(struct loop *l, int fd)
{
    if (fd < 0 || (size_t)fd >= l->watches_cap)
        return;
    l->watches[fd].want = LOOP_NONE;
    l->watches[fd].ready = NULL;
    l->watches[fd].generation++;
}

void loop_divert(struct loop *l, int fd, loop_ready *ready, void *arg)
{
    if (fd < 0 || (size_t)fd >= l->watches_cap || !l->watches[fd].want)
        return;
    l->watches[fd].ready = ready;
    l->watches[fd].diverted_arg = arg;
}

void loop_undivert(struct loop *l, int fd, const void *arg)
{
    if (fd >= 0 && (size_t)fd < l->watches_cap && l->watches[fd].diverted_arg == arg)
        l->watches[fd].ready = NULL;
}

bool loop_watch(struct loop *l, int fd, unsigned want, void *arg)
{
    if (fd < 0)
        return false;
    l->watches = mem_grow(l->watches, &l->watches_cap, (size_t)fd, sizeof *l->watches);
    struct watch *w = &l->watches[fd];
    if (want == LOOP_NONE) {
        if (w->want)
            epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        loop_forget(l, fd);
        return true;
    }
    w->arg = arg;
    if (w->want == want)
        return true;
    struct epoll_event e = {.data.u64 = (uint64_t)w->generation << 32 | (uint32_t)fd};
    e.events = (want & LOOP_READ ? EPOLLIN : 0u) | (want & LOOP_WRITE ? EPOLLOUT : 0u);
    int rc = epoll_ctl(l->epoll_fd, w->want ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    if (rc < 0 && errno == EEXIST)
        rc = epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, fd, &e);
    else if (rc < 0 && errno == ENOENT)
        rc = epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &e);
    w->want = rc < 0 ? LOOP_NONE : want;
    return rc == 0;
}

static void put(struct loop *l, struct loop_timer *t, size_t place)
{
    l->heap[place] = t;
    t->place = place;
}

static void sift(struct loop *l, struct loop_timer *t, size_t place)
{
    for (; place > 1 && l->heap[place / 2]->at_us > t->at_us; place /= 2)
        put(l, l->heap[place / 2], place);
    for (size_t child; (child = place * 2) <= l->n_timers; place = child) {
        if (child < l->n_timers && l->heap[child + 1]->at_us < l->heap[child]->at_us)
            child++;
        if (l->heap[child]->at_us >= t->at_us)
            break;
        put(l, l->heap[child], place);
    }
    put(l, t, place);
}

void loop_set(struct loop *l, struct loop_timer *t, int64_t at_us)
{
    t->at_us = at_us;
    if (!t->place) {
        l->n_timers++;
        l->heap = mem_grow(l->heap, &l->heap_cap, l->n_timers, sizeof(struct loop_timer *));
        t->place = l->n_timers;
    }
    sift(l, t, t->place);
}

void loop_unset(struct loop *l, struct loop_timer *t)
{
    if (!t->place)
        return;
    struct loop_timer *last = l->heap[l->n_timers--];
    if (last != t)
        sift(l, last, t->place);
    t->place = 0;
}

static void fire_once(void *arg, int64_t now_us)
{
    struct once o = *(struct once *)arg;
    (void)now_us;
    free(arg);
    o.call(o.arg);
}

void loop_at(struct loop *l, int64_t at_us, loop_call *call, void *arg)
{
    struct once *o = mem_zero(1, sizeof *o);
    *o = (struct once){.timer = {.fire = fire_once, .arg = o}, .call = call, .arg = arg};
    loop_set(l, &o->timer, at_us);
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    if (l->wake_fd >= 0)
        close(l->wake_fd);
    for (size_t i = 1; i <= l->n_timers; i++)
        if (l->heap[i]->fire == fire_once)
            free(l->heap[i]->arg);
    free(l->events);
    free(l->watches);
    free(l->heap);
    free(l);
}

/* Values below 2^SUB_BITS have a bucket each; above, SUB_BITS bits behind the leading one count. */
static size_t bucket_of(int64_t us)
{
    if (us < 1 << SUB_BITS)
        return us > 0 ? (size_t)us : 0;
    int shift = 0;
    while (us >> shift >= 2 << SUB_BITS)
        shift++;
    size_t b = ((size_t)(shift + 1) << SUB_BITS) + ((size_t)(us >> shift) - (1 << SUB_BITS));
    return b < N_BUCKETS ? b : N_BUCKETS - 1;
}

static int64_t bucket_top(size_t b)
{
    if (b < 1 << SUB_BITS)
        return (int64_t)b;
    int shift = (int)(b >> SUB_BITS) - 1;
    int64_t base = (int64_t)(b & ((1 << SUB_BITS) - 1)) + (1 << SUB_BITS);
    return ((base + 1) << shift) - 1;
}

static void note_lateness(struct loop *l, int64_t us)
{
    l->late_us = us > 0 ? us : 0;
    l->buckets[bucket_of(us)]++;
    l->n_handled++;
}

int64_t loop_lateness_us(const struct loop *l, double q)
{
    double rank = q * (double)l->n_handled;
    uint64_t seen = 0;
    for (size_t b = 0; b < N_BUCKETS; b++) {
        seen += l->buckets[b];
        if (seen && (double)seen >= rank)
            return bucket_top(b);
    }
    return 0;
}

static void handle(struct loop *l, const struct epoll_event *e, int64_t since_us)
{
    if (e->data.u64 == WAKE_MARK) {
        uint64_t count;
        ssize_t n = read(l->wake_fd, &count, sizeof count);
        (void)n; /* nothing to read: somebody was faster, which can't be, or it was spurious */
        return;
    }
    int fd = (int)(uint32_t)e->data.u64;
    struct watch *w = &l->watches[fd];
    if (!w->want || w->generation != (uint32_t)(e->data.u64 >> 32))
        return; /* an earlier event of this batch ended the watch */
    l->now_us = clock_mono_us();
    note_lateness(l, l->now_us - since_us);
    unsigned what = (e->events & EPOLLIN ? LOOP_READ : 0u) |
                    (e->events & EPOLLOUT ? LOOP_WRITE : 0u) |
                    (e->events & (EPOLLERR | EPOLLHUP) ? LOOP_BROKEN : 0u);
    if (w->ready)
        w->ready(w->diverted_arg, fd, what);
    else
        l->ready(w->arg, fd, what);
}

static void fire_due(struct loop *l)
{
    int64_t now = clock_mono_us();
    while (l->n_timers && l->heap[1]->at_us <= now) {
        struct loop_timer *t = l->heap[1];
        loop_unset(l, t);
        l->now_us = clock_mono_us();
        note_lateness(l, l->now_us - t->at_us);
        t->fire(t->arg, l->now_us);
    }
}

/* Whatever was ready is in one batch, so that none of it waits for more than one other batch. */
static int wait_for_events(struct loop *l, int64_t wait_us)
{
    int n = epoll_wait(l->epoll_fd, l->events, l->events_cap, MS(wait_us));
    if (n == l->events_cap && n < MAX_BATCH) {
        l->events_cap *= 2;
        l->events = mem_resize(l->events, (size_t)l->events_cap * sizeof *l->events);
    }
    return n;
}

void loop_run(struct loop *l, int64_t wait_us)
{
    int64_t start = clock_mono_us();
    if (l->n_timers && l->heap[1]->at_us - start < wait_us)
        wait_us = l->heap[1]->at_us - start;
    wait_us = wait_us < 0 ? 0 : wait_us > MAX_WAIT_US ? MAX_WAIT_US : wait_us;
    int n = wait_for_events(l, wait_us);
    l->now_us = clock_mono_us();
    int64_t since = l->now_us - start < SLEPT_US ? l->batch_us : l->now_us;
    l->batch_us = l->now_us;
    for (int i = 0; i < n; i++)
        handle(l, &l->events[i], since);
    fire_due(l);
    l->turn_us = clock_mono_us() - l->batch_us;
}

int64_t loop_now_us(const struct loop *l)
{
    return l->now_us;
}

int64_t loop_late_us(const struct loop *l)
{
    return l->late_us;
}

int64_t loop_turn_us(const struct loop *l)
{
    int64_t now = clock_mono_us() - l->batch_us;
    return now > l->turn_us ? now : l->turn_us;
}

void loop_wake(struct loop *l)
{
    uint64_t one = 1;
    ssize_t n = write(l->wake_fd, &one, sizeof one);
    (void)n; /* full: it is awake already */
}
