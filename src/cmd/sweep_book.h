/* sweep_book.h - a sweep in the database: begun anew, or gone on with. */
#ifndef SWEEP_BOOK_H
#define SWEEP_BOOK_H

#include <stdbool.h>

#include "err.h"

struct buf;
struct planfile;
struct store;

struct sweep_book {
    struct store *store;
    const struct planfile *plan;
    const char *kind; /* "sweep", "isolate" */
    const char *db;
    bool quiet;
    long sweep;
    int n_starts; /* so far */
};

/* Begins a sweep, or with `resume` finds the newest one of the plan's name and kind, ends what a
 * killed program left of it, and refuses (status 2) if the plan has changed since. The caller sets
 * store, plan, kind, db and quiet. */
int sweep_book_open(struct sweep_book *b, bool resume, struct err *err) MUST_CHECK;

/* Number (from 1) of the cell with these levels; a new one is added. -1 = failed. */
int sweep_book_cell(struct sweep_book *b, const size_t *levels, struct err *err) MUST_CHECK;

/* 1 if the place has been played to its end, 0 if not, -1 = failed. */
int sweep_book_is_done(const struct sweep_book *b, long place, struct err *err) MUST_CHECK;

/* Adds "6/40 = 15.0% [5.7, 29.9]" of a cell's finished starts, or of one run if `run` > 0. */
int sweep_book_rate(const struct sweep_book *b, int cell, long run, struct buf *out,
                    struct err *err) MUST_CHECK;

#endif
