/* rate.c - intervals of one binomial rate. Knows nothing of repeats, arms and printing. */
#include "rate.h"

#include <math.h>
#include <stdbool.h>

#include "beta.h"
#include "dist.h"

static const struct interval nothing = {NAN, NAN};

static bool valid(double x, double n, double conf)
{
    return x >= 0 && x <= n && n > 0 && isfinite(n) && conf > 0 && conf < 1;
}

/* 1 - a^(1/n): the rate at which n clean sessions have probability a. */
static double clean_bound(double n, double a)
{
    return -expm1(log(a) / n);
}

static struct interval clopper(double x, double n, double conf)
{
    if (!valid(x, n, conf))
        return nothing;
    double a = (1 - conf) / 2;
    struct interval r = {0, 1};
    if (x > 0)
        r.low = x < n ? beta_quantile(x, n - x + 1, a) : exp(log(a) / n);
    if (x < n)
        r.high = x > 0 ? beta_quantile_upper(x + 1, n - x, a) : clean_bound(n, a);
    return r;
}

struct interval rate_clopper_pearson(long x, long n, double conf)
{
    return clopper((double)x, (double)n, conf);
}

struct interval rate_clopper_noise(long x, long n, double phi, double conf)
{
    if (!(phi > 0))
        return nothing;
    if (x == n) /* x/phi <= n/phi must hold to the last bit */
        return clopper((double)n / phi, (double)n / phi, conf);
    return clopper((double)x / phi, (double)n / phi, conf);
}

struct interval rate_wilson_z(double x, double n, double z)
{
    if (!valid(x, n, 0.5) || !(z > 0) || isinf(z))
        return nothing;
    double y = n - x, z2 = z * z;
    double s = z * sqrt(z2 + 4 * x * (y / n));
    struct interval r;
    r.low = x == 0 ? 0 : 2 * x * x / (n * (2 * x + z2 + s));
    r.high = y == 0 ? 1 : (2 * x + z2 + s) / (2 * (n + z2));
    return r;
}

struct interval rate_wilson(long x, long n, double conf)
{
    if (!valid((double)x, (double)n, conf))
        return nothing;
    return rate_wilson_z((double)x, (double)n, -dist_normal_quantile((1 - conf) / 2));
}

struct interval rate_jeffreys(long x, long n, double conf)
{
    if (!valid((double)x, (double)n, conf))
        return nothing;
    double a = (1 - conf) / 2, one = (double)x + 0.5, two = (double)(n - x) + 0.5;
    struct interval r;
    r.low = x == 0 ? 0 : beta_quantile(one, two, a);
    r.high = x == n ? 1 : beta_quantile_upper(one, two, a);
    return r;
}

double rate_zero_bound(long n, double conf)
{
    if (!valid(0, (double)n, conf))
        return NAN;
    return clean_bound((double)n, 1 - conf);
}

double rate_zero_failure_n(double p, double conf)
{
    if (!(p > 0 && p < 1 && conf > 0 && conf < 1))
        return NAN;
    double n = log1p(-conf) / log1p(-p);
    return fmax(1, ceil(n - 1e-9 * fmax(1, n)));
}

double rate_true(double observed, double false_alarm, double miss)
{
    if (!(observed >= 0 && observed <= 1 && false_alarm >= 0 && miss >= 0 &&
          false_alarm + miss < 1))
        return NAN;
    return fmin(1, fmax(0, (observed - false_alarm) / (1 - false_alarm - miss)));
}
