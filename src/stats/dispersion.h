/* dispersion.h - do repeats of one configuration agree, and how much more do they scatter.
 *
 * Repeat i: x[i] corrupted of n[i]. Repeats with n = 0 are left out. Impossible counts, or fewer
 * than two repeats left, give NaN. */
#ifndef DISPERSION_H
#define DISPERSION_H

#include <stddef.h>

struct dispersion {
    double chi2; /* sum of (x - nP)^2 / (nPQ), P the pooled rate; 0 if none or all are corrupted */
    double df;   /* repeats - 1; 0 if none or all are corrupted */
    double p;    /* chi-square tail; for expected counts of 5 and more */
};

struct dispersion dispersion_chi2(const long *x, const long *n, size_t count);

/* P(chi2 at least as large) given the total, over all splits of it (multivariate hypergeometric);
 * ties within a relative 1e-7. Above DISPERSION_SPLITS splits: 100000 random splits from a fixed
 * seed, (hits + 1)/(draws + 1); where even that is long (corrupted x repeats > 5000): the
 * chi-square tail. */
#define DISPERSION_SPLITS 5e6
double dispersion_exact(const long *x, const long *n, size_t count);

struct dispersion_prior {
    double df, phi;          /* weak prior: 4 and 1.25 */
    double chi2, history_df; /* the same sums over earlier groups of repeats */
};

/* The run-to-run noise factor and the degrees of freedom behind it:
 * max(1, (prior.df prior.phi + history + chi2 of the arms) / (sum of the df)), as limma moderates
 * variances. An arm where none or all are corrupted adds neither chi2 nor df. */
struct dispersion_noise {
    double phi, df;
};

struct dispersion_noise dispersion_moderate(const struct dispersion_prior *prior,
                                            const struct dispersion *arms, size_t count);

#endif
