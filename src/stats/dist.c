/* dist.c - the classical distributions on top of the incomplete beta and erfc.
 *
 * Each tail is computed on the side where it is small. Tables of discrete distributions start at
 * the mode and need no gamma function. */
#include "dist.h"

#include <math.h>
#include <stdlib.h>

#include "beta.h"
#include "mem.h"

#define SQRT_HALF   0.70710678118654752440
#define SQRT_2PI    2.50662827463100050242
#define TABLE_LIMIT 10000000L
#define TABLE_CUT   1e-300

double dist_normal_sf(double z)
{
    return 0.5 * erfc(z * SQRT_HALF);
}

/* Abramowitz and Stegun 26.2.23: off by less than 4.5e-4. */
static double normal_start(double p)
{
    double t = sqrt(-2 * log(p));
    double above = 2.515517 + t * (0.802853 + t * 0.010328);
    double below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    return above / below - t;
}

/* Quantile of a lower tail p <= 1/2; `centre` is p - 1/2, exact near the middle. */
static double normal_lower(double p, double centre)
{
    double x = normal_start(p);
    for (int step = 0; step < 4; step++) {
        double miss =
            fabs(centre) < 0.2 ? 0.5 * erf(x * SQRT_HALF) - centre : 0.5 * erfc(-x * SQRT_HALF) - p;
        double e = miss * SQRT_2PI * exp(0.5 * x * x);
        x -= e / (1 + 0.5 * x * e);
    }
    return x;
}

double dist_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (p == 0.5)
        return 0;
    return p < 0.5 ? normal_lower(p, p - 0.5) : -normal_lower(1 - p, 0.5 - p);
}

double dist_t_two_sided(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (isinf(df))
        return 2 * dist_normal_sf(fabs(t));
    if (isinf(t))
        return 0;
    double r = t * t / df; /* x = 1/(1+r), y = r/(1+r) */
    return beta_cdf_xy(df / 2, 0.5, 1 / (1 + r), isinf(r) ? 1 : r / (1 + r));
}

double dist_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1 && df > 0))
        return NAN;
    if (isinf(df))
        return dist_normal_quantile(p);
    if (p == 0.5)
        return 0;
    /* logit of df/(df+t^2) is log(df/t^2); its lower tail is both tails of t. */
    double both = 2 * fmin(p, 1 - p);
    double u = both <= 0.5 ? beta_quantile_logit(df / 2, 0.5, both)
                           : -beta_quantile_logit(0.5, df / 2, 2 * fabs(p - 0.5));
    double t = sqrt(df) * exp(-0.5 * u);
    return p < 0.5 ? -t : t;
}

double dist_f_sf(double f, double d1, double d2)
{
    if (!(f >= 0 && d1 > 0 && d2 > 0) || isinf(d1))
        return NAN;
    if (isinf(d2))
        return dist_chi2_sf(f * d1, d1);
    double r = f * d1 / d2;
    if (isinf(r))
        return 0;
    return beta_cdf_xy(d2 / 2, d1 / 2, 1 / (1 + r), r / (1 + r));
}

/* x^a e^-x / Gamma(a + 1) */
static double gamma_term(double a, double x)
{
    double tail = exp(-beta_deviance(a, x) - beta_stirling_error(a));
    return tail / (SQRT_2PI * sqrt(a));
}

static double gamma_series(double a, double x) /* lower tail, x < a + 1 */
{
    double term = 1, sum = 1;
    for (int k = 1; k < 1000000 && term > sum * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum * gamma_term(a, x);
}

static double gamma_fraction(double a, double x) /* upper tail, x >= a + 1 */
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, f = d;
    for (int k = 1; k < 1000000; k++) {
        double t = -k * (k - a);
        b += 2;
        d = 1 / (t * d + b);
        c = b + t / c;
        double change = c * d;
        f *= change;
        if (fabs(change - 1) < 2e-16)
            break;
    }
    return f * a * gamma_term(a, x);
}

double dist_chi2_sf(double x, double df)
{
    if (!(x >= 0 && df > 0) || isinf(df))
        return NAN;
    if (x == 0 || isinf(x))
        return x == 0 ? 1 : 0;
    double a = df / 2, h = x / 2;
    return h < a + 1 ? 1 - gamma_series(a, h) : gamma_fraction(a, h);
}

/* Fills p[0..n] outwards from `mode` by ratio(j) = p(j + 1)/p(j), cuts, normalises. */
static struct dist_table table_fill(long low, long high, long mode,
                                    double (*ratio)(long j, const double *arg), const double *arg)
{
    double *p = mem_zero((size_t)(high - low + 1), sizeof(*p));
    long first = mode, last = mode;
    double sum = 1;
    p[mode - low] = 1;
    for (long j = mode; j < high; j++) {
        double next = p[j - low] * ratio(j, arg);
        if (!(next > TABLE_CUT))
            break;
        p[j + 1 - low] = next;
        sum += next;
        last = j + 1;
    }
    for (long j = mode; j > low; j--) {
        double next = p[j - low] / ratio(j - 1, arg);
        if (!(next > TABLE_CUT))
            break;
        p[j - 1 - low] = next;
        sum += next;
        first = j - 1;
    }
    for (long j = first; j <= last; j++)
        p[j - first] = p[j - low] / sum;
    return (struct dist_table){first, last, p};
}

static double binomial_ratio(long j, const double *arg)
{
    return (arg[0] - (double)j) / (double)(j + 1) * arg[1];
}

struct dist_table dist_binomial(long n, double rate)
{
    struct dist_table none = {0, -1, NULL};
    if (n < 0 || n >= TABLE_LIMIT || !(rate >= 0 && rate <= 1))
        return none;
    double arg[2] = {(double)n, rate / (1 - rate)};
    long mode = (long)((double)(n + 1) * rate);
    if (mode > n)
        mode = n;
    if (rate == 0 || rate == 1)
        return table_fill(mode, mode, mode, binomial_ratio, arg);
    return table_fill(0, n, mode, binomial_ratio, arg);
}

static double hypergeometric_ratio(long j, const double *arg)
{
    double d = (double)j;
    return (arg[0] - d) * (arg[1] - d) / ((d + 1) * (arg[2] + d + 1));
}

struct dist_table dist_hypergeometric(long n1, long n2, long s)
{
    struct dist_table none = {0, -1, NULL};
    const long most = 1000000000000L;
    if (n1 < 0 || n2 < 0 || s < 0 || n1 > most || n2 > most || s > n1 + n2)
        return none;
    long low = s > n2 ? s - n2 : 0, high = s < n1 ? s : n1;
    if (high - low >= TABLE_LIMIT)
        return none;
    double arg[3] = {(double)n1, (double)s, (double)n2 - (double)s};
    double peak = ((double)n1 + 1) * ((double)s + 1) / ((double)n1 + (double)n2 + 2);
    long mode = (long)peak;
    mode = mode < low ? low : mode > high ? high : mode;
    return table_fill(low, high, mode, hypergeometric_ratio, arg);
}

void dist_release(struct dist_table *t)
{
    free(t->p);
    *t = (struct dist_table){0, -1, NULL};
}

double dist_at(const struct dist_table *t, long j)
{
    return j < t->low || j > t->high ? 0 : t->p[j - t->low];
}

double dist_at_most(const struct dist_table *t, long j)
{
    double sum = 0;
    long end = j < t->high ? j : t->high;
    for (long i = t->low; i <= end; i++)
        sum += t->p[i - t->low];
    return fmin(1, sum);
}

double dist_at_least(const struct dist_table *t, long j)
{
    double sum = 0;
    long end = j > t->low ? j : t->low;
    for (long i = t->high; i >= end; i--)
        sum += t->p[i - t->low];
    return fmin(1, sum);
}
