/* difference.c - Newcombe's interval in closed form, the score intervals by bisection.
 *
 * The constrained rates come from bisection of the score itself, not from the cubic's closed form:
 * slower, and nothing in it to get wrong at the edges. */
#include "difference.h"

#include <math.h>
#include <stdbool.h>

#include "dist.h"

#define MAX_HALVINGS 200

static const struct interval nothing = {NAN, NAN};

static bool valid(struct difference_arms a, double conf)
{
    return a.x1 >= 0 && a.x2 >= 0 && a.x1 <= a.n1 && a.x2 <= a.n2 && a.n1 > 0 && a.n2 > 0 &&
           conf > 0 && conf < 1;
}

static struct interval newcombe(struct difference_arms arms, double phi, double z)
{
    double n1 = (double)arms.n1 / phi, n2 = (double)arms.n2 / phi;
    double p1 = (double)arms.x1 / (double)arms.n1, p2 = (double)arms.x2 / (double)arms.n2;
    struct interval w1 = rate_wilson_z(fmin(n1, n1 * p1), n1, z);
    struct interval w2 = rate_wilson_z(fmin(n2, n2 * p2), n2, z);
    struct interval r;
    r.low = p1 - p2 - hypot(p1 - w1.low, w2.high - p2);
    r.high = p1 - p2 + hypot(w1.high - p1, p2 - w2.low);
    return r;
}

struct interval difference_newcombe(struct difference_arms arms, double conf)
{
    if (!valid(arms, conf))
        return nothing;
    return newcombe(arms, 1, -dist_normal_quantile((1 - conf) / 2));
}

struct interval difference_newcombe_noise(struct difference_arms arms, double phi, double df,
                                          double conf)
{
    if (!valid(arms, conf) || !(phi > 0) || isinf(phi))
        return nothing;
    return newcombe(arms, phi, -dist_t_quantile((1 - conf) / 2, df));
}

/* The slope of the log likelihood in p2 when p1 = p2 + delta; falls as p2 grows. */
static double slope(struct difference_arms a, double p2, double delta)
{
    double p1 = p2 + delta, sum = 0;
    if (a.x1 > 0)
        sum += (double)a.x1 / p1;
    if (a.x1 < a.n1)
        sum -= (double)(a.n1 - a.x1) / (1 - p1);
    if (a.x2 > 0)
        sum += (double)a.x2 / p2;
    if (a.x2 < a.n2)
        sum -= (double)(a.n2 - a.x2) / (1 - p2);
    return sum;
}

static double constrained_p2(struct difference_arms a, double delta)
{
    double low = fmax(0, -delta), high = fmin(1, 1 - delta);
    for (int i = 0; i < MAX_HALVINGS; i++) {
        double mid = low + (high - low) / 2;
        if (mid <= low || mid >= high)
            break;
        if (slope(a, mid, delta) > 0)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}

/* (observed - delta) / its standard error, less z; falls as delta grows. */
static double score_excess(struct difference_arms a, double delta, double factor, double z)
{
    double n1 = (double)a.n1, n2 = (double)a.n2;
    double p2 = constrained_p2(a, delta), p1 = p2 + delta;
    double variance = factor * (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2);
    double apart = (double)a.x1 / n1 - (double)a.x2 / n2 - delta;
    return apart - z * sqrt(fmax(0, variance));
}

static double score_end(struct difference_arms a, double factor, double z)
{
    double d = (double)a.x1 / (double)a.n1 - (double)a.x2 / (double)a.n2;
    double low = z > 0 ? -1 : d, high = z > 0 ? d : 1;
    for (int i = 0; i < MAX_HALVINGS; i++) {
        double mid = low + (high - low) / 2;
        if (mid <= low || mid >= high)
            break;
        if (score_excess(a, mid, factor, z) > 0)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}

struct interval difference_score(struct difference_arms arms, double conf,
                                 enum difference_variance variance)
{
    if (!valid(arms, conf))
        return nothing;
    double n = (double)arms.n1 + (double)arms.n2;
    double factor = variance == VARIANCE_CORRECTED ? n / (n - 1) : 1;
    double z = -dist_normal_quantile((1 - conf) / 2);
    return (struct interval){score_end(arms, factor, z), score_end(arms, factor, -z)};
}

/* p1 - ratio p2 over its standard error, less z, with both rates constrained to the ratio: p2 is
 * the smaller root of n ratio p2^2 - (ratio (n1 + x2) + x1 + n2) p2 + x1 + x2. */
static double ratio_excess(struct difference_arms arms, double ratio, double z)
{
    double x1 = (double)arms.x1, n1 = (double)arms.n1, x2 = (double)arms.x2, n2 = (double)arms.n2;
    double n = n1 + n2, a = n * ratio, b = ratio * (n1 + x2) + x1 + n2, c = x1 + x2;
    double p2 = fmin(1, 2 * c / (b + sqrt(fmax(0, b * b - 4 * a * c))));
    double p1 = fmin(1, ratio * p2);
    double variance = p1 * (1 - p1) / n1 + ratio * ratio * p2 * (1 - p2) / n2;
    return x1 / n1 - ratio * x2 / n2 - z * sqrt(variance * n / (n - 1));
}

static double ratio_end(struct difference_arms arms, double z)
{
    double low = -60, high = 60; /* of log ratio: beyond what counts below 1e18 can show */
    for (int i = 0; i < MAX_HALVINGS; i++) {
        double mid = low + (high - low) / 2;
        if (mid <= low || mid >= high)
            break;
        if (ratio_excess(arms, exp(mid), z) > 0)
            low = mid;
        else
            high = mid;
    }
    return exp(low + (high - low) / 2);
}

struct interval difference_ratio(struct difference_arms arms, double conf)
{
    if (!valid(arms, conf))
        return nothing;
    double z = -dist_normal_quantile((1 - conf) / 2);
    struct interval r = {0, INFINITY};
    if (arms.x1 > 0)
        r.low = ratio_end(arms, z);
    if (arms.x2 > 0)
        r.high = ratio_end(arms, -z);
    return r;
}
