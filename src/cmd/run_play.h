/* run_play.h - plays a run that has been set up and recorded, from its first session to the figures
 * that its exit status depends on. */
#ifndef RUN_PLAY_H
#define RUN_PLAY_H

#include "err.h"

struct run_options;
struct run_resume;
struct run_setup;
struct store;

struct run_play {
    const struct run_setup *setup;
    struct store *store;
    long run;                      /* its number, from run_record_begin() */
    const char *prefix;            /* before the progress line, or NULL */
    const struct run_resume *past; /* what of it was played before, or NULL */
};

/* What the run came to: figures of the store, without the sessions that warmed up. */
struct played {
    long corrupt, judged, errors, sessions, concurrency, peak;
    double low, high;        /* of the 95 % interval */
    enum exit_status status; /* by the limits that the options set */
};

/* Ends early where a sequential test decides or a stop signal came; the run's row says which. */
int run_play(const struct run_play *p, struct played *played, struct err *err) MUST_CHECK;

#endif
