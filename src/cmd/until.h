/* until.h - a run that ends when its answer is clear: Wald's sequential test over its sessions. */
#ifndef UNTIL_H
#define UNTIL_H

#include <stdbool.h>

#include "err.h"
#include "sprt.h"
#include "words.h"

struct buf;

struct until {
    struct sprt test;
    signed char
        *outcomes; /* by place in the start order: 0 unknown, 1 clean, 2 corrupted, 3 error */
    long n, next;
};

/* A test of p0 against p1 that is wrong with at most the chance `error` either way, for a run of
 * `sessions` sessions, which is the cap: beyond it the test is undecided. */
void until_init(struct until *u, double p0, double p1, double error, long sessions);
void until_release(struct until *u);

/* A session's outcome, in any order; the test takes them in start order, since corrupted sessions
 * end early. Errors are left out. True once it has decided. */
bool until_add(struct until *u, long start_order, enum verdict_class class);

/* The exit status: pass, corrupt, or undecided. */
enum exit_status until_status(const struct until *u);

/* Adds what it came to, in words. */
void until_describe(const struct until *u, struct buf *out);

/* Places of the start order that the decision rests on: the first so many. */
long until_places(const struct until *u);

#endif
