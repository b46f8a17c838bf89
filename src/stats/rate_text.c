/* rate_text.c - the one printer of rates and p-values. Rounds, and computes nothing else. */
#include "rate_text.h"

#include <math.h>
#include <stdio.h>

/* A bound that is a round number in truth may be off in its last bits; it stays where it is. */
#define ROUND_SLACK 1e-9

static int decimals(long n)
{
    if (n < 1000)
        return 1;
    return n < 100000 ? 2 : 3;
}

/* In percent, rounded down (-1) or up (+1) to so many decimals. */
static double outward(double rate, int direction, int places)
{
    double unit = pow(10, places), v = rate * 100 * unit;
    v = direction < 0 ? floor(v + ROUND_SLACK) : ceil(v - ROUND_SLACK);
    return v == 0 ? 0 : v / unit; /* no "-0.0" */
}

char *rate_text_with(char *out, size_t size, long x, long n, struct interval bounds)
{
    int places = decimals(n);
    if (n <= 0 || x < 0 || x > n)
        snprintf(out, size, "%ld/%ld: no rate", x, n);
    else if (x == 0)
        snprintf(out, size, "0/%ld: below %.*f%% (95%% upper bound)", n, places,
                 outward(bounds.high, 1, places));
    else
        snprintf(out, size, "%ld/%ld = %.*f%% [%.*f, %.*f]", x, n, places,
                 100 * (double)x / (double)n, places, outward(bounds.low, -1, places), places,
                 outward(bounds.high, 1, places));
    return out;
}

char *rate_text(char *out, size_t size, long x, long n)
{
    struct interval bounds = rate_clopper_pearson(x, n, 0.95);
    if (x == 0)
        bounds.high = rate_zero_bound(n, 0.95);
    return rate_text_with(out, size, x, n, bounds);
}

char *rate_text_difference(char *out, size_t size, double diff, struct interval bounds, long n)
{
    int places = decimals(n);
    if (isnan(diff))
        snprintf(out, size, "n/a");
    else if (isnan(bounds.low) || isnan(bounds.high))
        snprintf(out, size, "%+.*f pp", places, 100 * diff);
    else
        snprintf(out, size, "%+.*f pp [%+.*f, %+.*f]", places, 100 * diff, places,
                 outward(bounds.low, -1, places), places, outward(bounds.high, 1, places));
    return out;
}

char *rate_text_percent(char *out, size_t size, double rate, long n)
{
    if (isnan(rate))
        snprintf(out, size, "n/a");
    else
        snprintf(out, size, "%.*f%%", decimals(n), 100 * rate);
    return out;
}

char *rate_text_p(char *out, size_t size, double p)
{
    if (isnan(p)) {
        snprintf(out, size, "p=n/a");
    } else if (p < 0.0001) {
        snprintf(out, size, "p<0.0001");
    } else {
        int places = 1;
        for (double edge = 0.995; p < edge && places < 5; edge /= 10)
            places++;
        snprintf(out, size, "p=%.*f", places, p);
    }
    return out;
}
