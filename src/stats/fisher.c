/* fisher.c - the 2x2 table with both margins fixed. */
#include "fisher.h"

#include <math.h>

#include "dist.h"

double fisher_central_midp(double less, double greater, double observed)
{
    double smaller = fmin(less, greater) - observed / 2;
    return fmin(1, 2 * smaller);
}

/* All tables no more probable than the observed one, from both ends inwards. */
static double minimum_likelihood(const struct dist_table *t, double observed)
{
    double limit = observed * (1 + 1e-7), sum = 0;
    for (long j = t->low; j <= t->high; j++) {
        double p = t->p[j - t->low];
        if (p <= limit)
            sum += p;
    }
    return fmin(1, sum);
}

struct fisher fisher_test(long x1, long n1, long x2, long n2)
{
    struct fisher r = {NAN, NAN, NAN, NAN, NAN};
    if (x1 < 0 || x2 < 0 || x1 > n1 || x2 > n2 || n1 <= 0 || n2 <= 0)
        return r;
    struct dist_table t = dist_hypergeometric(n1, n2, x1 + x2);
    if (t.high < t.low)
        return r;
    double observed = dist_at(&t, x1);
    r.less = dist_at_most(&t, x1);
    r.greater = dist_at_least(&t, x1);
    r.midp = fisher_central_midp(r.less, r.greater, observed);
    r.two_sided = minimum_likelihood(&t, observed);
    r.midp_minlik = r.two_sided - observed / 2;
    dist_release(&t);
    return r;
}
