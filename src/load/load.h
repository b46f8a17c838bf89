/* load.h - N sessions through W workers, C in flight: a closed loop by refilling. */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct load;
struct outcome;
struct progress;
struct settings;

/* Starts the workers. Borrows `settings`. Error: status 5 (threads, descriptors). */
struct load *load_start(const struct settings *settings, struct err *err);

/* The next finished session, or NULL if none came within wait_us. The caller's. */
struct outcome *load_next(struct load *l, int64_t wait_us);

/* True when every session has been handed out, or the workers have stopped. */
bool load_is_over(struct load *l);

/* Workers cancel what is in flight; sessions that were not finished are forgotten. */
void load_stop(struct load *l);

struct progress *load_progress(struct load *l);

/* How many sessions this process will play, and how many the run has by its settings, those that
 * were played before included. */
long load_total(const struct load *l);
long load_sessions(const struct settings *settings);

struct load_figures {
    int64_t late_p99_us; /* of our own handling, the worst worker's */
    int peak_in_flight;
    long requests;
};

/* Joins the workers. Call once, when load_is_over() or after load_stop() and a last drain. */
struct load_figures load_end(struct load *l);

#endif
