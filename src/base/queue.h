/* queue.h - a bounded queue of pointers from many threads to one. */
#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue;

struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q); /* items still inside are not freed */

/* Takes over `item` (not NULL). Waits while the queue is full. */
void queue_put(struct queue *q, void *item);

/* The oldest item, or NULL when none came within `wait_us` microseconds (0 = don't wait). Who waits
 * is woken at once by an item that comes after a pause, and for several at a time where they come
 * fast: an item may then lie for 40 ms. */
void *queue_get(struct queue *q, int64_t wait_us);

/* Ends a wait: for who has put the last item. */
void queue_hurry(struct queue *q);

/* How many items wait. */
size_t queue_count(struct queue *q);

#endif
