/* beta.h - the incomplete beta function, both tails and its inverse.
 *
 * Everything in this layer rests on it. Accuracy: relative 1e-11 or better for parameters up to
 * 1e6 in either tail. Arguments outside the domain give NaN. */
#ifndef BETA_H
#define BETA_H

/* Lower tail I_x(a, b), a > 0, b > 0, 0 <= x <= 1. Continued fraction DLMF 8.17.22 with a prefactor
 * of saddle-point terms (Loader 2000), on the side of the mean that x lies on. */
double beta_cdf(double a, double b, double x);

/* Upper tail 1 - I_x(a, b), without the subtraction where it is small. */
double beta_sf(double a, double b, double x);

/* Lower tail at x = x, where y = 1 - x is given too and nothing is lost when x is close to 1. */
double beta_cdf_xy(double a, double b, double x, double y);

/* The x with I_x(a, b) = p, 0 <= p <= 1: bracketed Newton steps on the log of the smaller tail in
 * logit(x). Below the smallest double: 0. */
double beta_quantile(double a, double b, double p);

/* The x with 1 - I_x(a, b) = q, 0 <= q <= 1; for small q more exact than beta_quantile(1 - q). */
double beta_quantile_upper(double a, double b, double q);

/* logit(x) of the x with I_x(a, b) = p, for 0 < p < 1. At the ends of double's range: +-745. */
double beta_quantile_logit(double a, double b, double p);

/* lgamma(z) - (z - 1/2) log z + z - log(2 pi)/2 for z > 0: the error of Stirling's formula. */
double beta_stirling_error(double z);

/* x log(x/m) + m - x for x >= 0, m > 0 (Loader's deviance), without cancellation near x = m. */
double beta_deviance(double x, double m);

/* log B(a, b), a > 0, b > 0, without the loss of differences of large lgamma values. */
double beta_log(double a, double b);

#endif
