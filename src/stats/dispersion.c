/* dispersion.c - scatter between repeats: chi-square, its exact conditional p, the moderated noise
 * factor. */
#include "dispersion.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dist.h"
#include "mem.h"
#include "rng.h"

#define TIE     1e-7
#define DRAWS   100000
#define SEED    20240229
#define LONGEST 5000.0 /* corrupted x repeats that random splits are drawn for */

struct dispersion dispersion_chi2(const long *x, const long *n, size_t count)
{
    const struct dispersion none = {NAN, NAN, NAN};
    double hit = 0, all = 0, used = 0;
    for (size_t i = 0; i < count; i++) {
        if (x[i] < 0 || x[i] > n[i])
            return none;
        hit += (double)x[i];
        all += (double)n[i];
        used += n[i] > 0;
    }
    if (used < 2)
        return none;
    struct dispersion r = {0, 0, 1};
    double p = hit / all;
    if (hit == 0 || hit == all)
        return r;
    r.df = used - 1;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)x[i] - (double)n[i] * p;
        if (n[i] > 0)
            r.chi2 += apart * apart / ((double)n[i] * p * (1 - p));
    }
    r.p = dist_chi2_sf(r.chi2, r.df);
    return r;
}

/* One cell per repeat with n > 0: weight and chi2 share of every count it may hold. */
struct splits {
    size_t count;
    const long *n;            /* of the cells */
    long total;               /* corrupted in all */
    long *room;               /* room[i]: sum of n[j] for j >= i */
    struct dist_table *cells; /* Bin(n[i], P): proportional to the choices C(n[i], x) */
    double rate, limit;
    double outside, all; /* weight of the splits at least as extreme, and of all */
};

static double share(const struct splits *s, size_t i, long x)
{
    double apart = (double)x - (double)s->n[i] * s->rate;
    return apart * apart / ((double)s->n[i] * s->rate * (1 - s->rate));
}

/* Visits every way to put `left` corrupted sessions into the cells from i on. */
static void visit(struct splits *s, size_t i, long left, double weight, double chi2)
{
    if (i == s->count) {
        s->all += weight;
        if (chi2 >= s->limit)
            s->outside += weight;
        return;
    }
    long most = left < s->n[i] ? left : s->n[i];
    long least = left > s->room[i + 1] ? left - s->room[i + 1] : 0;
    for (long x = least; x <= most; x++)
        visit(s, i + 1, left - x, weight * dist_at(&s->cells[i], x), chi2 + share(s, i, x));
}

/* Is it few enough to visit every split? Ways to fill the first cells are counted only where the
 * other cells can take what is left: each then leads to a split, and one count above the limit
 * settles it. */
static bool are_few(const struct splits *s)
{
    size_t width = (size_t)s->total + 1;
    double *ways = mem_zero(width, sizeof(*ways)), *next = mem_zero(width, sizeof(*next));
    bool few = true;
    ways[0] = 1;
    for (size_t i = 0; i < s->count && few; i++) {
        double window = 0; /* sum of ways[j - n .. j] */
        for (long j = 0; j <= s->total && few; j++) {
            window += ways[j];
            if (j > s->n[i])
                window -= ways[j - s->n[i] - 1];
            next[j] = s->total - j <= s->room[i + 1] ? window : 0;
            few = next[j] <= DISPERSION_SPLITS;
        }
        double *old = ways;
        ways = next;
        next = old;
    }
    free(ways);
    free(next);
    return few;
}

static double by_enumeration(struct splits *s)
{
    s->cells = mem_zero(s->count, sizeof(*s->cells));
    for (size_t i = 0; i < s->count; i++)
        s->cells[i] = dist_binomial(s->n[i], s->rate);
    visit(s, 0, s->total, 1, 0);
    for (size_t i = 0; i < s->count; i++)
        dist_release(&s->cells[i]);
    free(s->cells);
    return fmin(1, s->outside / s->all);
}

/* Puts one corrupted session after the other into the cells, as from an urn. */
static double random_chi2(const struct splits *s, struct rng *rng, long *x)
{
    for (size_t i = 0; i < s->count; i++)
        x[i] = 0;
    for (long k = 0; k < s->total; k++) {
        long at = (long)rng_below(rng, (uint64_t)(s->room[0] - k));
        size_t i = 0;
        while (at >= s->n[i] - x[i]) {
            at -= s->n[i] - x[i];
            i++;
        }
        x[i]++;
    }
    double chi2 = 0;
    for (size_t i = 0; i < s->count; i++)
        chi2 += share(s, i, x[i]);
    return chi2;
}

static double by_drawing(const struct splits *s)
{
    struct rng rng = rng_stream(SEED, 0, "dispersion");
    long *x = mem_zero(s->count, sizeof(*x));
    long hits = 0;
    for (long draw = 0; draw < DRAWS; draw++)
        hits += random_chi2(s, &rng, x) >= s->limit;
    free(x);
    return (double)(hits + 1) / (DRAWS + 1.0);
}

double dispersion_exact(const long *x, const long *n, size_t count)
{
    struct dispersion seen = dispersion_chi2(x, n, count);
    if (isnan(seen.chi2) || seen.chi2 == 0)
        return isnan(seen.chi2) ? NAN : 1;
    long *cells = mem_zero(count, sizeof(*cells));
    struct splits s = {.n = cells, .limit = seen.chi2 * (1 - TIE)};
    s.room = mem_zero(count + 1, sizeof(*s.room));
    for (size_t i = 0; i < count; i++) {
        s.total += x[i];
        if (n[i] > 0)
            cells[s.count++] = n[i];
    }
    for (size_t i = s.count; i-- > 0;)
        s.room[i] = s.room[i + 1] + cells[i];
    s.rate = (double)s.total / (double)s.room[0];
    double effort = (double)s.total * (double)s.count, p = seen.p;
    bool few = effort <= 1e8 && s.count <= 1000 && are_few(&s);
    if (few)
        p = by_enumeration(&s);
    else if (effort <= LONGEST)
        p = by_drawing(&s);
    free(s.room);
    free(cells);
    return p;
}

struct dispersion_noise dispersion_moderate(const struct dispersion_prior *prior,
                                            const struct dispersion *arms, size_t count)
{
    double sum = prior->df * prior->phi + prior->chi2;
    struct dispersion_noise r = {NAN, prior->df + prior->history_df};
    for (size_t i = 0; i < count; i++) {
        if (isnan(arms[i].chi2))
            continue;
        sum += arms[i].chi2;
        r.df += arms[i].df;
    }
    if (r.df > 0)
        r.phi = fmax(1, sum / r.df);
    return r;
}
