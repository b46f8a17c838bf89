/* survival.h - in which round sessions are first corrupted. */
#ifndef SURVIVAL_H
#define SURVIVAL_H

#include <stddef.h>

#include "strata.h"

struct survival_round {
    long corrupted; /* first corrupted in this round */
    long at_risk;   /* started the round and were clean before */
};

struct survival_point {
    double clean; /* S(r): share still clean after the round */
    double se;    /* Greenwood; NaN once S = 0 */
};

/* Kaplan-Meier over rounds: S = product of 1 - corrupted/at_risk. A round nobody was at risk in
 * changes nothing. Writes `count` points; impossible counts give NaN from there on. */
void survival_kaplan_meier(const struct survival_round *rounds, size_t count,
                           struct survival_point *out);

struct survival_logrank {
    double chi2, p; /* 1 df */
};

/* Log-rank test of two arms: Cochran-Mantel-Haenszel with one table per round. */
struct survival_logrank survival_logrank_test(const struct strata_table *rounds, size_t count);

#endif
