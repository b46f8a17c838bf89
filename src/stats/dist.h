/* dist.h - tails and quantiles of the normal, t, F, chi-square, and tables of the binomial and
 * hypergeometric. Arguments outside the domain give NaN. */
#ifndef DIST_H
#define DIST_H

/* The x with P(Z <= x) = p, 0 < p < 1 (0 gives -inf, 1 gives inf). Rational start (Abramowitz and
 * Stegun 26.2.23), Halley steps on erfc. */
double dist_normal_quantile(double p);

/* P(Z > z). */
double dist_normal_sf(double z);

/* P(|T| > |t|), df > 0 (infinite df: normal). The incomplete beta at df / (df + t^2). */
double dist_t_two_sided(double t, double df);

/* The t with P(T <= t) = p, 0 < p < 1, df > 0 (infinite df: normal). */
double dist_t_quantile(double p, double df);

/* P(F > f), f >= 0, d1 > 0, d2 > 0; d2 may be infinite. */
double dist_f_sf(double f, double d1, double d2);

/* P(X > x), x >= 0, df > 0 (need not be whole). Series or continued fraction of the incomplete
 * gamma function (DLMF 8.7.1, 8.9.2). */
double dist_chi2_sf(double x, double df);

/* A probability table over the whole numbers low..high; p[j - low]. Sums to 1. */
struct dist_table {
    long low, high; /* high < low: empty, the arguments were invalid or too large */
    double *p;
};

/* Bin(n, rate) over 0..n; n < 1e7. Ratio recursion from the mode. Terms below 1e-300 of the mode
 * are left out at both ends. */
struct dist_table dist_binomial(long n, double rate);

/* How many of s corrupted sessions fall into n1, of n1 + n2 in all: the hypergeometric, by ratio
 * recursion from the mode, normalised; the same cut at the ends. Fewer than 1e7 terms. */
struct dist_table dist_hypergeometric(long n1, long n2, long s);

void dist_release(struct dist_table *t);

double dist_at(const struct dist_table *t, long j);       /* P(J = j), 0 outside */
double dist_at_most(const struct dist_table *t, long j);  /* P(J <= j), smallest terms first */
double dist_at_least(const struct dist_table *t, long j); /* P(J >= j), smallest terms first */

#endif
