/* plan.h - how many sessions an answer needs, and what a given number can see.
 *
 * Rates in [0, 1], alpha and power in (0, 1), two-sided tests; outside the domain: NaN. */
#ifndef PLAN_H
#define PLAN_H

#include "rate.h"

/* Power of the two-sample test by the normal approximation, variance pooled under the null, the
 * other tail ignored. n need not be whole: divide by the noise factor for pooled repeats. */
double plan_power(double n1, double n2, double p1, double p2, double alpha);

/* Power of the central Fisher mid-p test at level alpha, by summing over both binomials; terms
 * below 1e-25 are left out. n from 1 to PLAN_POWER_LIMIT per arm. */
#define PLAN_POWER_LIMIT 20000
double plan_power_midp(long n1, long n2, double p1, double p2, double alpha);

/* Sessions per arm for plan_power() to reach `power`, not rounded (R's power.prop.test):
 * [z_{a/2} sqrt(2PQ) + z_b sqrt(p1 q1 + p2 q2)]^2 / (p1 - p2)^2. */
double plan_size(double p1, double p2, double alpha, double power);

/* Smallest n per arm whose exact mid-p power reaches `power` and stays there for five n in a row.
 * NaN where plan_size() is above PLAN_SIZE_LIMIT: take plan_size() there. */
#define PLAN_SIZE_LIMIT 3000
double plan_size_midp(double p1, double p2, double alpha, double power);

/* Sessions per arm, not rounded, to show by two one-sided tests that two equal rates p differ by
 * less than `margin`: 2pq (z_{1-alpha} + z_{1-b/2})^2 / margin^2, b = 1 - power. */
double plan_size_equivalence(double p, double margin, double alpha, double power);

/* The rates that would have been told from p1 with this power at n1 and n2 (effective) sessions:
 * low = the highest one below p1, high = the lowest one above. NaN where there is none. */
struct interval plan_detectable(double p1, double n1, double n2, double alpha, double power);

#endif
