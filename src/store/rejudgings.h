/* rejudgings.h - further verdicts on what a run has kept, beside its own, which stay. */
#ifndef REJUDGINGS_H
#define REJUDGINGS_H

#include <stdbool.h>

#include "err.h"

struct store;

struct rejudging_row {
    const char *version;
    int judge_version;
    bool strict;
    const char *rules_file, *rules; /* further rules and their text; or NULL */
};

struct rejudgement_row {
    long session;
    int round;
    bool twin;  /* of the answer in the other form */
    bool final; /* a right answer in this round ends the session */
    const char *class, *reason;
    /* the deciding sign; NULL and -1 if there is none */
    const char *channel, *rule, *note;
    long call, offset, length;
};

/* Begins a rejudging of a run; returns its number within the run (from 1), or -1. Nothing of it is
 * in the database before rejudgings_end(). */
long rejudgings_begin(struct store *s, long run, const struct rejudging_row *row, struct err *err);

int rejudgings_add(struct store *s, long run, long number, const struct rejudgement_row *row,
                   struct err *err) MUST_CHECK;

/* Commits it. */
int rejudgings_end(struct store *s, struct err *err) MUST_CHECK;

/* Takes back what was begun. */
void rejudgings_abandon(struct store *s);

#endif
