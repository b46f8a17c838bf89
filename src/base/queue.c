/* queue.c - a ring under one mutex and two conditions. */
#include "queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "mem.h"

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    size_t capacity, head, count;
    void **ring;
};

struct queue *queue_new(size_t capacity)
{
    struct queue *q = mem_zero(1, sizeof *q);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->not_empty, &attr);
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
    pthread_cond_destroy(&q->not_empty);
    pthread_cond_destroy(&q->not_full);
    free(q->ring);
    free(q);
}

void queue_put(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->capacity)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->ring[(q->head + q->count) % q->capacity] = item;
    if (q->count++ == 0)
        pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

void *queue_get(struct queue *q, int64_t wait_us)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (wait_us % 1000000) * 1000;
    until.tv_sec += (time_t)(wait_us / 1000000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && wait_us > 0)
        if (pthread_cond_timedwait(&q->not_empty, &q->lock, &until) != 0)
            break;
    if (q->count > 0) {
        item = q->ring[q->head];
        q->head = (q->head + 1) % q->capacity;
        q->count--;
        pthread_cond_signal(&q->not_full);
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
