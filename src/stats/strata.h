/* strata.h - two arms compared within strata: blocks of runs, rounds, settings of other factors.
 *
 * One table per stratum. A stratum where an arm has no session, or where none or all sessions are
 * corrupted, says nothing about the arms and changes nothing. */
#ifndef STRATA_H
#define STRATA_H

#include <stddef.h>

struct strata_table {
    long x1, n1; /* arm 1: corrupted, judged */
    long x2, n2; /* arm 2 */
};

struct strata_exact {
    double less, greater; /* P(T <= t), P(T >= t), T = sum of x1 given every stratum's total */
    double midp;          /* central, two-sided: the p-value of the verdicts */
};

/* The exact conditional test: a convolution of hypergeometric distributions, no continuity or size
 * condition. With one stratum: Fisher's. Impossible counts, or work beyond 5e8 steps: all NaN. */
struct strata_exact strata_exact_test(const struct strata_table *tables, size_t count);

struct strata_cmh {
    double chi2, p;       /* Cochran-Mantel-Haenszel, 1 df, no continuity correction */
    double chi2_cc, p_cc; /* |difference| less 1/2 */
    double odds_ratio;    /* Mantel-Haenszel; infinite if arm 2 is clean, NaN for 0/0 */
    double diff, diff_se; /* Mantel-Haenszel p1 - p2, standard error of Greenland and Robins 1985 */
};

/* With one stratum chi2 is the N-1 chi-square. No informative stratum: chi2 = 0, p = 1. Impossible
 * counts: all NaN. */
struct strata_cmh strata_cmh_test(const struct strata_table *tables, size_t count);

#endif
