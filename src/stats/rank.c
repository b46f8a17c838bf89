/* rank.c - order statistics. Sorting copies, the caller's values stay as they are. */
#include "rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "beta.h"
#include "dist.h"
#include "mem.h"

struct item {
    double value;
    bool in_a;
};

static int by_value(const void *left, const void *right)
{
    double a = ((const struct item *)left)->value, b = ((const struct item *)right)->value;
    return (a > b) - (a < b);
}

/* P(U >= u) without ties. Row j of the table holds the distribution of U for i values of a and j of
 * b; the largest value belongs to a with probability i/(i + j), and then beats all j. */
static double exact_tail(size_t n_a, size_t n_b, size_t u)
{
    size_t pairs = n_a * n_b, width = pairs - u + 1; /* by symmetry P(U <= pairs - u) */
    double *table = mem_zero((n_b + 1) * width, sizeof(*table));
    for (size_t j = 0; j <= n_b; j++)
        table[j * width] = 1;
    for (size_t i = 1; i <= n_a; i++) {
        for (size_t j = 1; j <= n_b; j++) {
            double *row = table + j * width;
            const double *less = row - width;
            double share = (double)i / (double)(i + j);
            for (size_t v = width; v-- > 0;)
                row[v] = (1 - share) * less[v] + (v >= j ? share * row[v - j] : 0);
        }
    }
    double sum = 0;
    for (size_t v = width; v-- > 0;)
        sum += table[n_b * width + v];
    free(table);
    return sum;
}

struct ranking {
    double u;    /* of a */
    double ties; /* sum of t^3 - t over groups of equal values */
};

static struct ranking rank_items(struct item *items, size_t n, size_t n_a)
{
    struct ranking r = {0, 0};
    double rank_sum = 0;
    qsort(items, n, sizeof(*items), by_value);
    for (size_t i = 0, end; i < n; i = end) {
        size_t in_a = 0;
        for (end = i; end < n && !(items[end].value > items[i].value); end++)
            in_a += items[end].in_a;
        double t = (double)(end - i);
        rank_sum += (double)in_a * ((double)i + (t + 1) / 2);
        r.ties += t * t * t - t;
    }
    r.u = rank_sum - (double)n_a * ((double)n_a + 1) / 2;
    return r;
}

struct rank_test rank_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b)
{
    struct rank_test r = {NAN, NAN, NAN};
    size_t n = n_a + n_b;
    bool usable = n_a > 0 && n_b > 0;
    struct item *items = mem_zero(n + 1, sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct item){i < n_a ? a[i] : b[i - n_a], i < n_a};
        usable = usable && !isnan(items[i].value);
    }
    if (!usable)
        goto out;
    struct ranking ranks = rank_items(items, n, n_a);
    double pairs = (double)n_a * (double)n_b, all = (double)n;
    double larger = fmax(ranks.u, pairs - ranks.u);
    double variance = pairs / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
    r.u = ranks.u;
    r.p_exact = -1;
    r.p_normal = 1;
    if (ranks.ties == 0 && pairs <= RANK_EXACT_PAIRS)
        r.p_exact = fmin(1, 2 * exact_tail(n_a > n_b ? n_a : n_b, n_a > n_b ? n_b : n_a,
                                           (size_t)larger)); /* the distribution is symmetric */
    if (variance > 1e-9 * pairs)
        r.p_normal = fmin(1, 2 * dist_normal_sf((larger - pairs / 2 - 0.5) / sqrt(variance)));
out:
    free(items);
    return r;
}

/* P(B <= k), B ~ Bin(n, q) */
static double at_most(long n, double q, long k)
{
    if (k < 0)
        return 0;
    return k >= n ? 1 : beta_sf((double)k + 1, (double)(n - k), q);
}

/* P(B >= k) */
static double at_least(long n, double q, long k)
{
    if (k <= 0)
        return 1;
    return k > n ? 0 : beta_cdf((double)k, (double)(n - k + 1), q);
}

struct rank_interval rank_quantile_interval(long n, double q, double conf)
{
    struct rank_interval r = {0, 0};
    if (n < 1 || n > 1000000000L || !(q > 0 && q < 1 && conf > 0 && conf < 1))
        return r;
    double a = (1 - conf) / 2;
    for (long below = n + 1; below - r.low > 1;) { /* rank 0 holds, rank n + 1 does not */
        long mid = r.low + (below - r.low) / 2;
        if (at_most(n, q, mid - 1) <= a)
            r.low = mid;
        else
            below = mid;
    }
    r.high = n + 1;
    for (long above = 0; r.high - above > 1;) {
        long mid = above + (r.high - above) / 2;
        if (at_least(n, q, mid) <= a)
            r.high = mid;
        else
            above = mid;
    }
    return r;
}

double rank_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1))
        return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}
