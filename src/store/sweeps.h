/* sweeps.h - the rows of sweeps: what was planned, every server start, what hooks said. Each is
 * committed at once: a sweep that is killed goes on from what is stored. */
#ifndef SWEEPS_H
#define SWEEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

struct store;

/* A series of runs over several configurations, each on a server start of its own. */
struct sweep_row {
    const char *kind; /* "sweep", "isolate" */
    const char *name, *version;
    const char *plan; /* JSON, secrets left out */
};

/* Stores it and makes it visible at once. Returns its number (from 1), or -1. */
long sweeps_begin(struct store *s, const struct sweep_row *row, struct err *err);

struct sweep_cell_row {
    const char *name;
    const char *levels; /* JSON: factor to level */
    bool baseline;
};

/* Adds configuration `cell` (from 1), or replaces it. */
int sweeps_cell(struct store *s, long sweep, int cell, const struct sweep_cell_row *row,
                struct err *err);

struct sweep_start_row {
    long place, block, cell;      /* place in the plan's order, from 1 */
    const char *step;             /* what it is for; or NULL */
    const char *boot;             /* the start's name, as in the run's tag */
    const char *state;            /* "starting", "running", "done", "failed", "refused", ... */
    const char *detail;           /* why it failed; or NULL */
    long run;                     /* -1 = none yet */
    int64_t started_us, ended_us; /* since 1970; -1 = not yet */
};

/* Adds server start `start` (from 1), or replaces it, and commits. */
int sweeps_start(struct store *s, long sweep, int start, const struct sweep_start_row *row,
                 struct err *err);

struct hook_call_row {
    long start;
    const char *action;
    bool failed;
    const char *end; /* "exit status 1" */
    int64_t elapsed_us;
    struct span output;
};

/* Adds what a hook said, and commits. */
int sweeps_hook_call(struct store *s, long sweep, const struct hook_call_row *row, struct err *err);

#endif
