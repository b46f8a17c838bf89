/* loop.h - waiting for sockets and times: epoll, a heap of timers, a way to be woken. Inside wire
 * only; owned by one thread. */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct loop;

enum loop_want { LOOP_NONE = 0, LOOP_READ = 1, LOOP_WRITE = 2, LOOP_BROKEN = 4 };

/* `what`: LOOP_READ, LOOP_WRITE, LOOP_BROKEN in any combination. */
typedef void loop_ready(void *arg, int fd, unsigned what);
typedef void loop_fire(void *arg, int64_t now_us);

/* Part of whoever needs it; zeroed but for `fire` and `arg`. May move only while it is not set. */
struct loop_timer {
    loop_fire *fire;
    void *arg;
    int64_t at_us;
    size_t place; /* in the heap, from 1; 0 = not set */
};

struct loop *loop_new(loop_ready *ready, struct err *err);
void loop_free(struct loop *l); /* what is still set is forgotten */

/* Watches `fd` for LOOP_READ and LOOP_WRITE from now on; LOOP_NONE ends that, while the descriptor
 * is open. False if the kernel refuses. */
bool loop_watch(struct loop *l, int fd, unsigned want, void *arg);

/* Lets `ready` handle what a watched descriptor is ready for, in place of loop_new()'s, until the
 * watch ends or loop_undivert() is called with the same `arg`. */
void loop_divert(struct loop *l, int fd, loop_ready *ready, void *arg);
void loop_undivert(struct loop *l, int fd, const void *arg);

/* Ends the watch of a descriptor that is closed, or is going to be at once: the number may be
 * another thread's by now, so that the kernel must not be told. */
void loop_forget(struct loop *l, int fd);

/* Sets or moves a timer. A timer that is due fires once, from loop_run(). */
void loop_set(struct loop *l, struct loop_timer *t, int64_t at_us);
void loop_unset(struct loop *l, struct loop_timer *t);

/* Calls `call` once, at or after `at_us`. */
typedef void loop_call(void *arg);
void loop_at(struct loop *l, int64_t at_us, loop_call *call, void *arg);

/* Waits up to `wait_us` for something, then handles all that is ready and due. */
void loop_run(struct loop *l, int64_t wait_us);

int64_t loop_now_us(const struct loop *l);  /* when the handler that is running was called */
int64_t loop_late_us(const struct loop *l); /* how late that was */

/* How long handling what was ready took in the last turn, or has taken in this one, if longer. */
int64_t loop_turn_us(const struct loop *l);

/* Makes a waiting loop_run() return soon; from any thread. */
void loop_wake(struct loop *l);

/* Quantile q of the lateness of all handling so far, as the upper end of a bucket that is at most
 * an eighth of its value wide; 0 if there was none. */
int64_t loop_lateness_us(const struct loop *l, double q);

#endif
