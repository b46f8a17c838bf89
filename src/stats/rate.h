/* rate.h - one rate: its interval, and how many clean sessions bound it.
 *
 * x corrupted of n judged sessions, 0 <= x <= n, n >= 1; conf in (0, 1). Anything else: NaN. */
#ifndef RATE_H
#define RATE_H

struct interval {
    double low, high;
};

/* Clopper-Pearson: beta quantiles, each side misses with at most (1 - conf)/2 at any true rate.
 * x = 0: [0, 1 - a^(1/n)] with a = (1 - conf)/2; x = n mirrored. */
struct interval rate_clopper_pearson(long x, long n, double conf);

/* Clopper-Pearson on the effective counts x/phi of n/phi, phi > 0: for rates pooled over server
 * starts whose counts scatter phi times more than one rate alone would make them. */
struct interval rate_clopper_noise(long x, long n, double phi, double conf);

/* Wilson's score interval, the lower end in the form without cancellation. */
struct interval rate_wilson(long x, long n, double conf);

/* The same for counts that need not be whole, with z given in place of a confidence. */
struct interval rate_wilson_z(double x, double n, double z);

/* Jeffreys: beta quantiles of (x + 1/2, n - x + 1/2); low 0 at x = 0, high 1 at x = n (Brown, Cai
 * and DasGupta 2001). */
struct interval rate_jeffreys(long x, long n, double conf);

/* One-sided upper bound 1 - (1 - conf)^(1/n) of the rate after n sessions without corruption. */
double rate_zero_bound(long n, double conf);

/* Smallest n with (1 - p)^n <= 1 - conf, 0 < p < 1: so many clean sessions rule out the rate p.
 * Whole, but a double: it may be large. */
double rate_zero_failure_n(double p, double conf);

/* Rogan and Gladen: the rate behind an observed one, when the detector fires on a clean session
 * with rate `false_alarm` and overlooks a corrupted one with rate `miss`. In [0, 1]. */
double rate_true(double observed, double false_alarm, double miss);

#endif
