/* betabinom.h - the beta-binomial fit to repeats: how alike are sessions of one run. */
#ifndef BETABINOM_H
#define BETABINOM_H

#include <stddef.h>

struct betabinom {
    double mu;  /* the mean rate */
    double rho; /* correlation within a run, 0..1; theta = rho/(1 - rho) */
    double lr;  /* twice the gain in log likelihood over rho = 0 */
    double p;   /* half the chi-square(1) tail of lr (rho = 0 is the edge); 1 when rho = 0 */
};

/* Maximum likelihood with sum over runs of [sum_{j<x} log(mu + j theta) + sum_{j<n-x} log(1 - mu +
 * j theta) - sum_{j<n} log(1 + j theta)], exact at theta = 0. rho to about 1e-7, for display; lr
 * and p are better. Runs with n = 0 are left out. Impossible counts, no sessions, or more than
 * BETABINOM_RUNS runs: NaN. */
#define BETABINOM_RUNS 10000
struct betabinom betabinom_fit(const long *x, const long *n, size_t count);

#endif
