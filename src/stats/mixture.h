/* mixture.h - a rate watched all the time: an interval that holds at every look at once. */
#ifndef MIXTURE_H
#define MIXTURE_H

#include "rate.h"

struct mixture_prior {
    double a, b; /* Beta(a, b), both > 0; 0.5 and 10 for corruption */
};

/* log of the mixture e-value against rate p0 after x corrupted of n:
 * log[B(a+x, b+n-x)/B(a, b)] - x log p0 - (n-x) log(1-p0). 0 < p0 < 1, 0 <= x <= n; else NaN. */
double mixture_log_evidence(long x, long n, double p0, struct mixture_prior prior);

/* Confidence sequence {p: e-value < 1/alpha} (Ville): at whatever n one looks, the chance of ever
 * having excluded the truth is at most alpha. alpha in (0, 1). */
struct interval mixture_interval(long x, long n, double alpha, struct mixture_prior prior);

#endif
