/* rank.h - quantiles and rank tests, for latencies. */
#ifndef RANK_H
#define RANK_H

#include <stddef.h>

struct rank_test {
    double u;        /* pairs with a > b, ties half */
    double p_exact;  /* two-sided; -1 if there are ties or too many values */
    double p_normal; /* two-sided, tie-corrected variance, continuity 1/2; 1 if all are tied */
};

/* Mann and Whitney: are values of a larger or smaller than values of b. Exact up to
 * RANK_EXACT_PAIRS pairs. An empty sample, or a NaN in one: all NaN. */
#define RANK_EXACT_PAIRS 20000
struct rank_test rank_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b);

struct rank_interval {
    long low;  /* 1-based rank of the lower end; 0 = no lower end */
    long high; /* n + 1 = no upper end */
};

/* Order statistics that hold quantile q of n values between them: the largest low with P(B <= low -
 * 1) <= a/2 and the smallest high with P(B >= high) <= a/2, B ~ Bin(n, q), a = 1 - conf. Outside
 * 0 < q < 1, 0 < conf < 1, 1 <= n <= 1e9: {0, 0}. */
struct rank_interval rank_quantile_interval(long n, double q, double conf);

/* Quantile q of `n` values sorted upwards, linear between neighbours (R's type 7). None: NaN. */
double rank_quantile(const double *sorted, size_t n, double q);

#endif
