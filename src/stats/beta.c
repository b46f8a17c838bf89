/* beta.c - incomplete beta by continued fraction, its inverse by Newton steps.
 *
 * lgamma is not used: differences of its large values lose ten digits at n = 1e6, and it writes a
 * global. Paired Stirling terms take its place. Knows nothing of tests and intervals. */
#include "beta.h"

#include <math.h>
#include <stdbool.h>

#define LOG_SQRT_2PI 0.91893853320467274178
#define TWO_PI       6.28318530717958647692
#define LOGIT_END    745.0 /* exp(-745) is the smallest double */
#define MAX_TERMS    1000000
#define MAX_STEPS    300

double beta_stirling_error(double z)
{
    if (!(z > 0))
        return NAN;
    double sum = 0;
    for (; z < 16; z++)
        sum += (z + 0.5) * log1p(1 / z) - 1;
    double w = 1 / (z * z);
    double series = 1.0 / 1188 - w * (691.0 / 360360);
    series = 1.0 / 1680 - w * series;
    series = 1.0 / 1260 - w * series;
    series = 1.0 / 360 - w * series;
    series = 1.0 / 12 - w * series;
    return sum + series / z;
}

double beta_deviance(double x, double m)
{
    if (!(x >= 0 && m > 0))
        return NAN;
    if (x == 0)
        return m;
    double v = (x - m) / (x + m);
    if (fabs(v) > 0.1)
        return x * log(x / m) + m - x;
    double sum = (x - m) * v, power = 2 * x * v;
    for (int j = 3; j < 60; j += 2) {
        power *= v * v;
        double next = sum + power / j;
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

double beta_log(double a, double b)
{
    if (!(a > 0 && b > 0))
        return NAN;
    double n = a + b;
    double shares = -a * log1p(b / a) - b * log1p(a / b);
    return shares + LOG_SQRT_2PI + 0.5 * (log(n / a) - log(b)) + beta_stirling_error(a) +
           beta_stirling_error(b) - beta_stirling_error(n);
}

/* x^a y^b / B(a, b), which is also the density of logit(x). */
static double logit_density(double a, double b, double x, double y)
{
    double n = a + b;
    if (x <= 0 || y <= 0)
        return 0;
    double nx = n * x, ny = n * y;
    if (nx == 0 || ny == 0)
        return 0;
    double e = beta_stirling_error(n) - beta_stirling_error(a) - beta_stirling_error(b) -
               beta_deviance(a, nx) - beta_deviance(b, ny);
    return sqrt(a * (b / n) / TWO_PI) * exp(e);
}

/* I_x(a, b) over logit_density: DLMF 8.17.22 with each two steps drawn together, as Didonato and
 * Morris 1992 do. Nothing in it is 1 - x, which would lose digits for x near 1. Modified Lentz
 * rule; NaN if it does not settle. */
static double fraction(double a, double b, double x, double y)
{
    const double tiny = 1e-300;
    double lambda = a * y - b * x; /* a - (a + b) x */
    double f = a / (a + 1) * (lambda + 1), c = f, d = 0;
    for (int n = 1; n < MAX_TERMS; n++) {
        double e = a + 2 * n - 1, up = n * (b - n) * x / e;
        double alpha = up * x * ((a + n - 1) / e) * (a + b + n - 1);
        double beta = n + up + (a + n) / (e + 2) * (lambda + 1 + n * (1 + y));
        d = beta + alpha * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = beta + alpha / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        if (fabs(c * d - 1) < 2e-16)
            return 1 / f;
    }
    return NAN;
}

/* Both tails; the one on x's side of the mean is computed, the other is what remains. */
static void both_tails(double a, double b, double x, double y, double tails[2])
{
    double density = logit_density(a, b, x, y);
    if (a * y > b * x) {
        tails[0] = density == 0 ? 0 : density * fraction(a, b, x, y);
        tails[1] = 1 - tails[0];
    } else {
        tails[1] = density == 0 ? 0 : density * fraction(b, a, y, x);
        tails[0] = 1 - tails[1];
    }
}

static bool in_domain(double a, double b, double x)
{
    return a > 0 && b > 0 && isfinite(a) && isfinite(b) && x >= 0 && x <= 1;
}

double beta_cdf_xy(double a, double b, double x, double y)
{
    if (!in_domain(a, b, x) || !(y >= 0 && y <= 1))
        return NAN;
    if (x == 0 || y == 0)
        return x == 0 ? 0 : 1;
    double tails[2];
    both_tails(a, b, x, y, tails);
    return tails[0];
}

double beta_cdf(double a, double b, double x)
{
    return beta_cdf_xy(a, b, x, 1 - x);
}

double beta_sf(double a, double b, double x)
{
    return beta_cdf_xy(b, a, 1 - x, x);
}

/* logit(x) with lower tail p <= 1/2. The log of the tail is concave in logit(x), so Newton steps
 * from the left never pass the root; the bracket guards the rounding. */
static double solve_lower(double a, double b, double p)
{
    double low = -LOGIT_END, high = LOGIT_END;
    double from_power = (log(p) + log(a) + beta_log(a, b)) / a; /* tail ~ x^a / (a B) near 0 */
    double u = fmin(from_power, log(a / b));
    if (!(u > low))
        u = low;
    for (int step = 0, settled = 0; step < MAX_STEPS && settled < 2; step++) {
        double x = 1 / (1 + exp(-u)), y = 1 / (1 + exp(u)), tails[2];
        both_tails(a, b, x, y, tails);
        if (isnan(tails[0]))
            return NAN;
        if (tails[0] < p)
            low = u;
        else
            high = u;
        double slope = logit_density(a, b, x, y) / tails[0];
        double next = u - log(tails[0] / p) / slope;
        if (fabs(next - u) <= 1e-7 * fmax(1, fabs(u)))
            settled++; /* steps square the error: the second one reaches the rounding */
        else if (!(next > low && next < high))
            next = low + (high - low) / 2;
        u = next;
    }
    return u;
}

/* logit(x) with lower tail p and upper tail q, one of which is exact. */
static double solve(double a, double b, double p, double q)
{
    return p <= q ? solve_lower(a, b, p) : -solve_lower(b, a, q);
}

static double from_logit(double u)
{
    if (u <= -LOGIT_END)
        return 0;
    return u >= LOGIT_END ? 1 : 1 / (1 + exp(-u));
}

double beta_quantile_logit(double a, double b, double p)
{
    if (!in_domain(a, b, p) || p == 0 || p == 1)
        return NAN;
    return solve(a, b, p, 1 - p);
}

double beta_quantile(double a, double b, double p)
{
    if (!in_domain(a, b, p))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    return from_logit(solve(a, b, p, 1 - p));
}

double beta_quantile_upper(double a, double b, double q)
{
    if (!in_domain(a, b, q))
        return NAN;
    if (q == 0 || q == 1)
        return 1 - q;
    return from_logit(solve(a, b, 1 - q, q));
}
