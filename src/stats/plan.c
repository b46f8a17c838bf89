/* plan.c - power and sample sizes. Every search has a fixed end. */
#include "plan.h"

#include <math.h>
#include <stdbool.h>

#include "dist.h"

#define NEGLIGIBLE  1e-25
#define IN_A_ROW    5
#define LEVEL_SLACK 1e-12 /* a p-value equal to alpha but for rounding rejects */

static bool is_rate(double p)
{
    return p >= 0 && p <= 1;
}

static bool is_level(double p)
{
    return p > 0 && p < 1;
}

static double z_upper(double tail)
{
    return -dist_normal_quantile(tail);
}

double plan_power(double n1, double n2, double p1, double p2, double alpha)
{
    if (!(n1 > 0 && n2 > 0) || !is_rate(p1) || !is_rate(p2) || !is_level(alpha))
        return NAN;
    double p = (n1 * p1 + n2 * p2) / (n1 + n2);
    double null_se = sqrt(p * (1 - p) * (1 / n1 + 1 / n2));
    double se = sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2);
    double room = fabs(p1 - p2) - z_upper(alpha / 2) * null_se;
    if (se == 0)
        return room > 0 ? 1 : 0;
    return dist_normal_sf(-room / se);
}

static struct dist_table trimmed_binomial(long n, double rate)
{
    struct dist_table t = dist_binomial(n, rate);
    long first = t.low, last = t.high;
    while (first < last && t.p[first - t.low] < NEGLIGIBLE)
        first++;
    while (last > first && t.p[last - t.low] < NEGLIGIBLE)
        last--;
    for (long j = first; j <= last; j++)
        t.p[j - first] = t.p[j - t.low];
    t.low = first;
    t.high = last;
    return t;
}

/* P(X1 + X2 = s and the test rejects). The rejected x1 are those up to one end of each tail of the
 * hypergeometric. */
static double rejected_at(const struct dist_table *one, const struct dist_table *two,
                          const struct dist_table *given, long s, double alpha)
{
    double sum = 0, tail = 0;
    long j;
    for (j = given->low; j <= given->high; j++) {
        double p = given->p[j - given->low];
        if (2 * (tail + p / 2) > alpha)
            break;
        tail += p;
    }
    for (long x = one->low; x < j && x <= one->high; x++)
        sum += dist_at(one, x) * dist_at(two, s - x);
    long end = j;
    tail = 0;
    for (j = given->high; j >= end; j--) {
        double p = given->p[j - given->low];
        if (2 * (tail + p / 2) > alpha)
            break;
        tail += p;
    }
    for (long x = one->high; x > j && x >= one->low; x--)
        sum += dist_at(one, x) * dist_at(two, s - x);
    return sum;
}

double plan_power_midp(long n1, long n2, double p1, double p2, double alpha)
{
    if (n1 < 1 || n2 < 1 || n1 > PLAN_POWER_LIMIT || n2 > PLAN_POWER_LIMIT || !is_rate(p1) ||
        !is_rate(p2) || !is_level(alpha))
        return NAN;
    struct dist_table one = trimmed_binomial(n1, p1), two = trimmed_binomial(n2, p2);
    double sum = 0, level = alpha * (1 + LEVEL_SLACK);
    for (long s = one.low + two.low; s <= one.high + two.high; s++) {
        struct dist_table given = dist_hypergeometric(n1, n2, s);
        sum += rejected_at(&one, &two, &given, s, level);
        dist_release(&given);
    }
    dist_release(&one);
    dist_release(&two);
    return fmin(1, sum);
}

double plan_size(double p1, double p2, double alpha, double power)
{
    if (!is_rate(p1) || !is_rate(p2) || p1 == p2 || !is_level(alpha) || !is_level(power))
        return NAN;
    double p = (p1 + p2) / 2;
    double root = z_upper(alpha / 2) * sqrt(2 * p * (1 - p)) +
                  z_upper(1 - power) * sqrt(p1 * (1 - p1) + p2 * (1 - p2));
    if (root <= 0) /* any n does */
        return 0;
    return root * root / ((p1 - p2) * (p1 - p2));
}

double plan_size_midp(double p1, double p2, double alpha, double power)
{
    double about = plan_size(p1, p2, alpha, power);
    if (!(about <= PLAN_SIZE_LIMIT))
        return NAN;
    /* Coarse steps up to the target, some steps back, then one by one: power is a saw. */
    long step = about < 100 ? 1 : (long)(about / 100), end = 2 * (long)about + 50;
    long n = (long)(about / 2) < 2 ? 2 : (long)(about / 2), first = n;
    while (n < end && plan_power_midp(n, n, p1, p2, alpha) < power)
        n += step;
    n = n - 6 * step > first ? n - 6 * step : first;
    int row = 0;
    for (; n < end && row < IN_A_ROW; n++)
        row = plan_power_midp(n, n, p1, p2, alpha) >= power ? row + 1 : 0;
    return row == IN_A_ROW ? (double)(n - IN_A_ROW) : NAN;
}

double plan_size_equivalence(double p, double margin, double alpha, double power)
{
    if (!is_rate(p) || !(margin > 0) || !is_level(alpha) || !is_level(power))
        return NAN;
    double z = z_upper(alpha) + z_upper((1 - power) / 2);
    return 2 * p * (1 - p) * z * z / (margin * margin);
}

/* Between `near` (too close to p1) and `far`, where the power is enough, the closest that is. */
static double closest_seen(double p1, double far, const double n[2], const double want[2])
{
    double near = p1;
    if (near == far || !(plan_power(n[0], n[1], p1, far, want[0]) >= want[1]))
        return NAN;
    for (int i = 0; i < 100; i++) {
        double mid = near + (far - near) / 2;
        if (mid == near || mid == far)
            break;
        if (plan_power(n[0], n[1], p1, mid, want[0]) >= want[1])
            far = mid;
        else
            near = mid;
    }
    return far;
}

struct interval plan_detectable(double p1, double n1, double n2, double alpha, double power)
{
    const double n[2] = {n1, n2}, want[2] = {alpha, power};
    if (!is_rate(p1) || !is_level(power))
        return (struct interval){NAN, NAN};
    return (struct interval){closest_seen(p1, 0, n, want), closest_seen(p1, 1, n, want)};
}
