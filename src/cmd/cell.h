/* cell.h - one server start of a sweep: applies a configuration, waits until the endpoint is ready,
 * checks what is in force, plays a run, stops the server. */
#ifndef CELL_H
#define CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct planfile;
struct store;

enum cell_end {
    CELL_DONE,
    CELL_FAILED,     /* the hook failed, the endpoint did not get ready, or no session was judged */
    CELL_REFUSED,    /* something else is in force than was asked for */
    CELL_INTERRUPTED /* by a stop signal */
};

struct cell {
    const struct planfile *plan;
    struct store *store;
    long sweep;
    const char *db;
    bool quiet;
    const char *prefix; /* of the progress line; or NULL */

    const size_t *levels;     /* one per factor */
    int start;                /* number of this start in the sweep */
    long place, block;        /* from 1 */
    int cell;                 /* from 1 */
    const char *step;         /* what it is for; or NULL */
    const char *const *words; /* further options of `run` */
    size_t n_words;
};

struct cell_result {
    enum cell_end end;
    long run;         /* or -1 */
    bool stop_failed; /* the server may still be there */
    char why[600];    /* of an end that is not CELL_DONE, and of a failed stop */
};

/* Every step is in the store before the next begins. -1 for failures of the tool or of the plan's
 * options, which no other cell would escape. */
int cell_play(const struct cell *c, struct cell_result *r, struct err *err) MUST_CHECK;

/* Ends a start that a killed program left behind: calls the hook's `stop`, and closes its rows. One
 * whose run was over counts as done. */
struct cell_leftover {
    int start, cell;
    long place, block, run; /* run -1 = none */
    const char *step, *boot;
    const char *levels; /* JSON, as stored */
    bool played;        /* its run was over */
    int64_t started_us;
};
int cell_abandon(const struct cell *c, const struct cell_leftover *left,
                 struct err *err) MUST_CHECK;

#endif
