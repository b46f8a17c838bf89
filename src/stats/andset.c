/* andset.c - goes through all sets. Pure counting. */
#include "andset.h"

#include <math.h>

struct counts {
    long x, n;
};

static double log_likelihood(struct counts c)
{
    double x = (double)c.x, n = (double)c.n, y = n - x;
    return (x > 0 ? x * log(x / n) : 0) + (y > 0 ? y * log(y / n) : 0);
}

static bool has(const struct andset_data *d, size_t cell, const size_t *set)
{
    for (size_t f = 0; f < d->n_factors; f++)
        if (set[f] != ANDSET_ANY && set[f] != d->levels[cell * d->n_factors + f])
            return false;
    return true;
}

/* The set with its likelihood; invalid if it does not raise the rate. */
static struct andset weigh(const struct andset_data *d, const size_t *set)
{
    struct counts in = {0}, out = {0};
    struct andset s = {.valid = true};
    for (size_t c = 0; c < d->n_cells; c++) {
        struct counts *side = has(d, c, set) ? &in : &out;
        side->x += d->x[c];
        side->n += d->n[c];
    }
    for (size_t f = 0; f < d->n_factors; f++) {
        s.levels[f] = set[f];
        s.size += set[f] != ANDSET_ANY;
    }
    s.x = in.x;
    s.n = in.n;
    s.x_elsewhere = out.x;
    s.n_elsewhere = out.n;
    double rate = (double)in.x / (double)in.n, elsewhere = (double)out.x / (double)out.n;
    if (!in.n || (s.size && !out.n) || (out.n && rate <= elsewhere))
        s.valid = false;
    else
        s.log_likelihood = log_likelihood(in) + (out.n ? log_likelihood(out) : 0);
    return s;
}

/* The next set: a number with digits ANY, 0, 1, ... of each factor. False behind the last. */
static bool next_set(const struct andset_data *d, size_t *set)
{
    for (size_t f = 0; f < d->n_factors; f++) {
        set[f]++; /* ANY + 1 is 0 */
        if (set[f] < d->n_levels[f])
            return true;
        set[f] = ANDSET_ANY;
    }
    return false;
}

static bool is_better(const struct andset *a, const struct andset *b)
{
    double gain = a->log_likelihood - b->log_likelihood;
    return !b->valid || gain > 1e-9 || (gain > -1e-9 && a->size < b->size);
}

struct andset andset_best(const struct andset_data *d)
{
    struct andset best = {0};
    size_t set[ANDSET_MAX_FACTORS];
    double steps = (double)d->n_cells, second = -INFINITY;
    if (d->n_factors > ANDSET_MAX_FACTORS)
        return best;
    for (size_t f = 0; f < d->n_factors; f++) {
        steps *= (double)(d->n_levels[f] + 1);
        set[f] = ANDSET_ANY;
    }
    if (steps > ANDSET_MOST_STEPS)
        return best;
    do {
        struct andset s = weigh(d, set);
        if (!s.valid)
            continue;
        if (is_better(&s, &best)) {
            if (best.valid)
                second = best.log_likelihood;
            best = s;
        } else if (s.log_likelihood > second) {
            second = s.log_likelihood;
        }
    } while (next_set(d, set));
    best.lead = best.log_likelihood - second;
    return best;
}
