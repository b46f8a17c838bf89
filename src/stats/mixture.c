/* mixture.c - beta-binomial mixture evidence. Written with deviances, since the log beta function
 * and the log likelihood nearly cancel for large n. */
#include "mixture.h"

#include <math.h>
#include <stdbool.h>

#include "beta.h"

#define LOG_2PI 1.83787706640934548356

static bool valid(long x, long n, struct mixture_prior prior)
{
    return x >= 0 && x <= n && prior.a > 0 && prior.b > 0 && isfinite(prior.a) && isfinite(prior.b);
}

double mixture_log_evidence(long x, long n, double p0, struct mixture_prior prior)
{
    if (!valid(x, n, prior) || !(p0 > 0 && p0 < 1))
        return NAN;
    if (n == 0)
        return 0;
    double a = prior.a + (double)x, b = prior.b + (double)(n - x), sum = a + b;
    double deviance = beta_deviance(a, sum * p0) + beta_deviance(b, sum * (1 - p0));
    double prior_part = prior.a * log(p0) + prior.b * log1p(-p0) - beta_log(prior.a, prior.b);
    double stirling = beta_stirling_error(a) + beta_stirling_error(b) - beta_stirling_error(sum);
    return deviance + prior_part + stirling + 0.5 * (LOG_2PI + log(sum / a) - log(b));
}

/* log of the end below x/n: the evidence falls from there up to x/n, where it is at most 1. */
static double lower_end(long x, long n, double alpha, struct mixture_prior prior)
{
    if (x == 0)
        return -INFINITY;
    double low = -700, high = log((double)x / (double)n), limit = -log(alpha);
    if (x == n)
        high = -1e-17;
    for (int i = 0; i < 200; i++) {
        double mid = low + (high - low) / 2;
        if (mid <= low || mid >= high)
            break;
        double p = fmin(exp(mid), 1 - 1e-16);
        if (mixture_log_evidence(x, n, p, prior) >= limit)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}

/* The end above x/n, found in log(1 - p) when it is near 1 and in log p otherwise. */
static double upper_end(long x, long n, double alpha, struct mixture_prior prior)
{
    struct mixture_prior mirrored = {prior.b, prior.a};
    return -expm1(lower_end(n - x, n, alpha, mirrored));
}

struct interval mixture_interval(long x, long n, double alpha, struct mixture_prior prior)
{
    if (!valid(x, n, prior) || !(alpha > 0 && alpha < 1))
        return (struct interval){NAN, NAN};
    if (n == 0)
        return (struct interval){0, 1};
    return (struct interval){exp(lower_end(x, n, alpha, prior)), upper_end(x, n, alpha, prior)};
}
