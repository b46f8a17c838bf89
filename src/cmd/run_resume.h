/* run_resume.h - a run that was killed or interrupted, and what of it is stored. */
#ifndef RUN_RESUME_H
#define RUN_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "words.h"

struct run_setup;
struct store;

/* A stored session that counts for a sequential test. */
struct run_stored {
    long start_order;
    enum verdict_class class;
};

struct run_resume {
    long run;
    bool over; /* it has come to its end: nothing is to be written */
    struct run_stored *stored;
    size_t n_stored, stored_cap;
    long *missing; /* places of the start order, from 0 */
    long n_missing;
    int64_t played_us;           /* without the breaks */
    int64_t cpu_us, late_p99_us; /* -1: not known, since it was killed */
    long peak_in_flight;
    size_t evidence_bytes;
};

/* Finds the newest run of the setup's label and shard, which must have been begun with the same
 * setup, and reads what is stored. Unless it is over, its row says from now on that it goes on
 * again. Errors: status 2 if there is none, or it was another setup; 5 if it may be going on. `r`
 * is zeroed; release it after a failure too. */
int run_resume_begin(struct run_resume *r, struct store *store, const struct run_setup *s,
                     struct err *err) MUST_CHECK;
void run_resume_release(struct run_resume *r);

#endif
