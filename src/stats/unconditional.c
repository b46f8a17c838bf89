/* unconditional.c - Boschloo's and Barnard's test.
 *
 * A rejection region is kept as two bounds for each x1: x2 up to `upto`, and x2 from `from`. Its
 * probability at one nuisance rate then costs O(n1 + n2). */
#include "unconditional.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dist.h"
#include "mem.h"

#define TIE        1e-10
#define HALF_PI    1.57079632679489661923
#define GOLDEN     0.61803398874989484820
#define NEAR_PEAK  0.98 /* peaks of the coarse grid this close to the best are refined */
#define PLATEAU    1e-10
#define FINE_STEPS 60

struct region {
    long n1, n2;
    long *upto; /* per x1: reject for x2 <= upto, -1 for none */
    long *from; /* per x1: reject for x2 >= from, n2 + 1 for none */
};

static struct region region_new(long n1, long n2)
{
    struct region r = {n1, n2, NULL, NULL};
    r.upto = mem_zero((size_t)n1 + 1, sizeof(*r.upto));
    r.from = mem_zero((size_t)n1 + 1, sizeof(*r.from));
    for (long x = 0; x <= n1; x++) {
        r.upto[x] = -1;
        r.from[x] = n2 + 1;
    }
    return r;
}

static void region_release(struct region *r)
{
    free(r->upto);
    free(r->from);
    r->upto = r->from = NULL;
}

/* P(X2 <= j) for j = 0..n2 (up) and P(X2 >= j) for j = 0..n2 (down). */
static void tails_of(const struct dist_table *t, long n2, double *up, double *down)
{
    double sum = 0;
    for (long j = 0; j <= n2; j++)
        up[j] = sum += dist_at(t, j);
    sum = 0;
    for (long j = n2; j >= 0; j--)
        down[j] = sum += dist_at(t, j);
}

/* The region's probability when both arms have this rate. `work` holds 2 (n2 + 1) numbers. */
static double probability(const struct region *r, double rate, double *work)
{
    struct dist_table one = dist_binomial(r->n1, rate), two = dist_binomial(r->n2, rate);
    double *up = work, *down = work + r->n2 + 1, sum = 0;
    tails_of(&two, r->n2, up, down);
    for (long x = one.low; x <= one.high; x++) {
        double inside = 0;
        if (r->upto[x] >= 0)
            inside += up[r->upto[x]];
        if (r->from[x] <= r->n2)
            inside += down[r->from[x]];
        sum += one.p[x - one.low] * inside;
    }
    dist_release(&one);
    dist_release(&two);
    return sum;
}

static double at_angle(const struct region *r, double angle, double *work)
{
    double s = sin(angle);
    return probability(r, fmin(1, s * s), work);
}

/* Golden section for the peak between two angles. */
static double refine(const struct region *r, double left, double right, double *work)
{
    double a = right - GOLDEN * (right - left), b = left + GOLDEN * (right - left);
    double fa = at_angle(r, a, work), fb = at_angle(r, b, work);
    for (int i = 0; i < FINE_STEPS && right - left > 1e-9; i++) {
        if (fa > fb) {
            right = b;
            b = a;
            fb = fa;
            a = right - GOLDEN * (right - left);
            fa = at_angle(r, a, work);
        } else {
            left = a;
            a = b;
            fa = fb;
            b = left + GOLDEN * (right - left);
            fb = at_angle(r, b, work);
        }
    }
    return fmax(fa, fb);
}

/* Not below its neighbours and more than rounding above one of them: no point of a plateau. */
static bool is_peak(const double *at)
{
    double left = at[0] - at[-1], right = at[0] - at[1];
    return left >= 0 && right >= 0 && fmax(left, right) > PLATEAU * at[0];
}

/* The largest probability over all rates: a grid even in arcsin sqrt(rate), then its peaks. */
static double supremum(const struct region *r)
{
    size_t points = 200 + 2 * (size_t)(r->n1 + r->n2);
    double *grid = mem_zero(points + 1, sizeof(*grid));
    double *work = mem_zero(2 * ((size_t)r->n2 + 1), sizeof(*work));
    double step = HALF_PI / (double)points, best = 0;
    for (size_t i = 0; i <= points; i++) {
        grid[i] = at_angle(r, step * (double)i, work);
        best = fmax(best, grid[i]);
    }
    double limit = NEAR_PEAK * best;
    for (size_t i = 1; i < points; i++) {
        if (grid[i] >= limit && is_peak(grid + i))
            best = fmax(best, refine(r, step * (double)(i - 1), step * (double)(i + 1), work));
    }
    free(work);
    free(grid);
    return fmin(1, best);
}

/* Fisher's one-sided P(X1 >= x1). */
static double fisher_greater(long x1, long n1, long x2, long n2)
{
    struct dist_table t = dist_hypergeometric(n1, n2, x1 + x2);
    double p = dist_at_least(&t, x1);
    dist_release(&t);
    return p;
}

static double boschloo_greater(long x1, long n1, long x2, long n2)
{
    double limit = fisher_greater(x1, n1, x2, n2) * (1 + TIE);
    struct region r = region_new(n1, n2);
    long y = -1; /* the bound never falls as x grows: one walk along the staircase */
    for (long x = 0; x <= n1; x++) {
        while (y < n2 && fisher_greater(x, n1, y + 1, n2) <= limit)
            y++;
        r.upto[x] = y;
    }
    double p = supremum(&r);
    region_release(&r);
    return p;
}

static bool possible(long x1, long n1, long x2, long n2)
{
    return x1 >= 0 && x2 >= 0 && x1 <= n1 && x2 <= n2 && n1 > 0 && n2 > 0 &&
           n1 <= UNCONDITIONAL_LIMIT && n2 <= UNCONDITIONAL_LIMIT - n1;
}

double unconditional_boschloo(long x1, long n1, long x2, long n2, enum unconditional_side side)
{
    if (!possible(x1, n1, x2, n2))
        return NAN;
    switch (side) {
    case SIDE_GREATER: return boschloo_greater(x1, n1, x2, n2);
    case SIDE_LESS: return boschloo_greater(x2, n2, x1, n1);
    case SIDE_BOTH: break;
    default: return NAN;
    }
    double greater = boschloo_greater(x1, n1, x2, n2), less = boschloo_greater(x2, n2, x1, n1);
    return fmin(1, 2 * fmin(greater, less));
}

/* The pooled z squared; 0 where nothing or everything is corrupted. */
static double score(long x1, long n1, long x2, long n2)
{
    double a = (double)n1, b = (double)n2, hit = (double)(x1 + x2), n = a + b;
    double apart = (double)x1 * b - (double)x2 * a;
    double spread = hit * (n - hit) * a * b / n;
    return spread > 0 ? apart * apart / spread : 0;
}

double unconditional_barnard(long x1, long n1, long x2, long n2)
{
    if (!possible(x1, n1, x2, n2))
        return NAN;
    double limit = score(x1, n1, x2, n2) * (1 - TIE);
    if (limit <= 0)
        return 1;
    struct region r = region_new(n1, n2);
    for (long x = 0; x <= n1; x++) {
        for (long y = 0; y <= n2 && y * n1 <= x * n2 && score(x, n1, y, n2) >= limit; y++)
            r.upto[x] = y;
        for (long y = n2; y >= 0 && y * n1 >= x * n2 && score(x, n1, y, n2) >= limit; y--)
            r.from[x] = y;
    }
    double p = supremum(&r);
    region_release(&r);
    return p;
}
