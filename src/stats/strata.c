/* strata.c - conditional tests over strata, exact and by chi-square. */
#include "strata.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dist.h"
#include "fisher.h"
#include "mem.h"

#define WORK_LIMIT 5e8

static bool possible(const struct strata_table *t)
{
    return t->x1 >= 0 && t->x2 >= 0 && t->x1 <= t->n1 && t->x2 <= t->n2;
}

static bool all_possible(const struct strata_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!possible(&tables[i]))
            return false;
    }
    return count > 0;
}

static long width(const struct dist_table *t)
{
    return t->high - t->low + 1;
}

/* The distribution of the sum of two independent numbers. Consumes a and b. */
static struct dist_table convolve(struct dist_table *a, struct dist_table *b)
{
    long wide = width(a), other = width(b);
    struct dist_table sum = {a->low + b->low, a->high + b->high, NULL};
    sum.p = mem_zero((size_t)(wide + other - 1), sizeof(*sum.p));
    for (long i = 0; i < wide; i++) {
        for (long j = 0; j < other; j++)
            sum.p[i + j] += a->p[i] * b->p[j];
    }
    dist_release(a);
    dist_release(b);
    return sum;
}

/* Whether the convolution of all tables stays below the limit: known before the first. */
static bool is_feasible(const struct strata_table *tables, size_t count)
{
    double work = 0, so_far = 1;
    for (size_t i = 0; i < count; i++) {
        const struct strata_table *t = &tables[i];
        struct dist_table next = dist_hypergeometric(t->n1, t->n2, t->x1 + t->x2);
        double wide = (double)width(&next);
        dist_release(&next);
        work += wide * so_far;
        so_far += wide - 1;
        if (wide < 1 || work > WORK_LIMIT)
            return false;
    }
    return true;
}

struct strata_exact strata_exact_test(const struct strata_table *tables, size_t count)
{
    struct strata_exact r = {NAN, NAN, NAN};
    if (!all_possible(tables, count) || !is_feasible(tables, count))
        return r;
    struct dist_table total = dist_hypergeometric(0, 0, 0);
    long observed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct strata_table *t = &tables[i];
        struct dist_table next = dist_hypergeometric(t->n1, t->n2, t->x1 + t->x2);
        total = convolve(&total, &next);
        observed += t->x1;
    }
    r.less = dist_at_most(&total, observed);
    r.greater = dist_at_least(&total, observed);
    r.midp = fisher_central_midp(r.less, r.greater, dist_at(&total, observed));
    dist_release(&total);
    return r;
}

struct sums {
    double excess, variance;    /* of x1 over its expectation */
    double odds_up, odds_down;  /* sum of x1 y2/N, sum of y1 x2/N */
    double diff, weight, error; /* sum of w d, sum of w, variance of the former */
};

static void add_table(struct sums *s, const struct strata_table *t)
{
    double n1 = (double)t->n1, n2 = (double)t->n2, n = n1 + n2;
    double x1 = (double)t->x1, x2 = (double)t->x2, hit = x1 + x2;
    double y1 = n1 - x1, y2 = n2 - x2;
    if (n1 == 0 || n2 == 0)
        return;
    s->excess += (x1 * n2 - x2 * n1) / n;
    s->variance += n1 / n * n2 / n * hit * (n - hit) / (n - 1);
    s->odds_up += x1 * y2 / n;
    s->odds_down += y1 * x2 / n;
    s->weight += n1 * n2 / n;
    s->diff += (x1 * n2 - x2 * n1) / n;
    s->error += x1 * y1 / n1 * (n2 / n) * (n2 / n) + x2 * y2 / n2 * (n1 / n) * (n1 / n);
}

struct strata_cmh strata_cmh_test(const struct strata_table *tables, size_t count)
{
    struct strata_cmh r = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!all_possible(tables, count))
        return r;
    struct sums s = {0, 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < count; i++)
        add_table(&s, &tables[i]);
    double corrected = fmax(0, fabs(s.excess) - 0.5);
    r.chi2 = s.variance > 0 ? s.excess * s.excess / s.variance : 0;
    r.chi2_cc = s.variance > 0 ? corrected * corrected / s.variance : 0;
    r.p = dist_chi2_sf(r.chi2, 1);
    r.p_cc = dist_chi2_sf(r.chi2_cc, 1);
    if (s.odds_up > 0 || s.odds_down > 0)
        r.odds_ratio = s.odds_down > 0 ? s.odds_up / s.odds_down : INFINITY;
    if (s.weight > 0) {
        r.diff = s.diff / s.weight;
        r.diff_se = sqrt(s.error) / s.weight;
    }
    return r;
}
