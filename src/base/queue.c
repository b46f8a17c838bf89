/* queue.c - a ring under one mutex and two conditions. Waking costs more than handing over an item,
 * and so it is not done for each. */
#include "queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "mem.h"

/* Who has just been woken waits so long for so many items before one is enough: longer than the
 * store leaves a batch open, so that what one waking brings is on its way to the disk at once. */
#define GATHER_US    40000
#define GATHER_ITEMS 64

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t enough, not_full;
    size_t capacity, head, count;
    size_t wanted;    /* items for which the reader is to be woken; 0 = it does not wait */
    int64_t woken_us; /* when it last was */
    bool full;        /* a writer may wait for room */
    void **ring;
};

struct queue *queue_new(size_t capacity)
{
    struct queue *q = mem_zero(1, sizeof *q);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->enough, &attr);
    pthread_cond_init(&q->not_full, &attr);
    pthread_condattr_destroy(&attr);
    q->capacity = capacity;
    q->ring = mem_zero(capacity, sizeof *q->ring);
    return q;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->enough);
    pthread_cond_destroy(&q->not_full);
    free(q->ring);
    free(q);
}

void queue_put(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->capacity) {
        q->full = true;
        pthread_cond_wait(&q->not_full, &q->lock);
    }
    q->ring[(q->head + q->count++) % q->capacity] = item;
    if (q->wanted && q->count >= q->wanted) {
        q->wanted = 0;
        pthread_cond_signal(&q->enough);
    }
    pthread_mutex_unlock(&q->lock);
}

void queue_hurry(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->wanted = 0;
    pthread_cond_signal(&q->enough);
    pthread_mutex_unlock(&q->lock);
}

/* Waits, under the lock, until `wanted` items are there; false if the time came first. */
static bool await(struct queue *q, size_t wanted, int64_t until_us)
{
    struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                             .tv_nsec = (long)(until_us % 1000000) * 1000};
    q->wanted = wanted;
    while (q->wanted && pthread_cond_timedwait(&q->enough, &q->lock, &until) == 0)
        ;
    bool woken = !q->wanted;
    q->wanted = 0;
    return woken;
}

static void await_items(struct queue *q, int64_t wait_us)
{
    int64_t now = clock_mono_us(), gathered_us = q->woken_us + GATHER_US;
    size_t several = q->capacity < GATHER_ITEMS ? q->capacity : GATHER_ITEMS;
    bool woken = false;
    if (gathered_us > now)
        woken = await(q, several, gathered_us < now + wait_us ? gathered_us : now + wait_us);
    if (!woken && !q->count)
        await(q, 1, now + wait_us);
    if (q->count)
        q->woken_us = clock_mono_us();
}

void *queue_get(struct queue *q, int64_t wait_us)
{
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->count == 0 && wait_us > 0)
        await_items(q, wait_us);
    if (q->count > 0) {
        item = q->ring[q->head];
        q->head = (q->head + 1) % q->capacity;
        q->count--;
        if (q->full)
            pthread_cond_broadcast(&q->not_full);
        q->full = false;
    }
    pthread_mutex_unlock(&q->lock);
    return item;
}

size_t queue_count(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    size_t n = q->count;
    pthread_mutex_unlock(&q->lock);
    return n;
}
