/* effects.c - statistics over a matrix of cells. It reads nothing and writes nothing. */
#include "effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist.h"
#include "matrix.h"
#include "mem.h"
#include "multiple.h"
#include "strata.h"
#include "trend.h"

/* The cell that has `level` of `factor` and is like `like` in all others; NULL if none was judged.
 */
static const struct matrix_cell *sibling(const struct matrix *m, const struct matrix_cell *like,
                                         size_t factor, size_t level)
{
    for (size_t c = 0; c < m->n_cells; c++) {
        const struct matrix_cell *one = &m->cells[c];
        bool alike = one->judged > 0 && one->levels[factor] == level;
        for (size_t f = 0; f < m->n_factors && alike; f++)
            alike = f == factor || one->levels[f] == like->levels[f];
        if (alike)
            return one;
    }
    return NULL;
}

/* --- noise ---------------------------------------------------------------------------------------
 */

static void measure_noise(struct effects *e, const struct matrix *m,
                          const struct dispersion_prior *prior)
{
    struct dispersion *arms = mem_zero(m->n_cells, sizeof *arms);
    size_t n = 0;
    for (size_t c = 0; c < m->n_cells; c++) {
        struct dispersion d = dispersion_chi2(m->cells[c].x, m->cells[c].n, m->cells[c].n_starts);
        if (!isnan(d.chi2))
            arms[n++] = d;
    }
    struct dispersion_noise noise = dispersion_moderate(prior, arms, n);
    e->phi = noise.phi;
    e->df = noise.df;
    free(arms);
}

/* --- main effects --------------------------------------------------------------------------------
 */

static struct effect measure(const struct matrix *m, const struct effects *e, size_t factor,
                             size_t level)
{
    struct strata_table *tables = mem_zero(m->n_cells, sizeof *tables);
    struct effect r = {.factor = factor, .level = level};
    for (size_t c = 0; c < m->n_cells; c++) {
        const struct matrix_cell *one = &m->cells[c];
        if (one->judged == 0 || one->levels[factor] != level)
            continue;
        const struct matrix_cell *ref = sibling(m, one, factor, m->factors[factor].reference);
        if (ref)
            tables[r.n_strata++] =
                (struct strata_table){one->corrupt, one->judged, ref->corrupt, ref->judged};
    }
    struct strata_cmh cmh = strata_cmh_test(tables, r.n_strata);
    double half = 1.959963984540054 * cmh.diff_se * sqrt(e->phi);
    r.diff = cmh.diff;
    r.ci95 = (struct interval){cmh.diff - half, cmh.diff + half};
    r.p = strata_exact_test(tables, r.n_strata).midp;
    r.p_starts = dist_f_sf(cmh.chi2 / e->phi, 1, e->df);
    free(tables);
    return r;
}

/* As in comparisons of arms: sessions and server starts must agree, at this effect's share of the
 * level. */
static enum verdict decide(const struct matrix *m, const struct effect *r)
{
    if (matrix_is_clean(m))
        return VERDICT_NOTHING_REPRODUCED;
    if (!(r->p_holm <= m->alpha))
        return VERDICT_INCONCLUSIVE;
    double share = r->p_holm > 0 ? r->p / r->p_holm : 1;
    if (!(r->p_starts <= m->alpha * share))
        return VERDICT_SUGGESTIVE;
    return r->diff > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
}

static void measure_effects(struct effects *e, const struct matrix *m)
{
    size_t most = 0;
    for (size_t f = 0; f < m->n_factors; f++)
        most += m->factors[f].n_levels;
    e->list = mem_zero(most, sizeof *e->list);
    for (size_t f = 0; f < m->n_factors; f++)
        for (size_t k = 0; k < m->factors[f].n_levels; k++) {
            if (k == m->factors[f].reference)
                continue;
            struct effect r = measure(m, e, f, k);
            if (r.n_strata > 0)
                e->list[e->n++] = r;
        }
    double *p = mem_zero(e->n, sizeof *p);
    for (size_t i = 0; i < e->n; i++)
        p[i] = e->list[i].p;
    multiple_holm(p, e->n, p);
    for (size_t i = 0; i < e->n; i++) {
        e->list[i].p_holm = p[i];
        e->list[i].verdict = decide(m, &e->list[i]);
    }
    free(p);
}

/* --- the trend over load -------------------------------------------------------------------------
 */

/* The levels as numbers; false if one is none, or below 1. */
static bool numeric_levels(const struct matrix_factor *f, double *numbers)
{
    for (size_t k = 0; k < f->n_levels; k++) {
        char *end;
        numbers[k] = strtod(f->levels[k], &end);
        if (*end || !(numbers[k] >= 1))
            return false;
    }
    return f->n_levels > 1;
}

/* Adds up the cells of every setting of the others that has all levels. */
static void pool_levels(const struct matrix *m, size_t factor, long *x, long *n)
{
    size_t n_levels = m->factors[factor].n_levels;
    for (size_t c = 0; c < m->n_cells; c++) {
        const struct matrix_cell *first = &m->cells[c];
        size_t k = 0;
        if (first->levels[factor] != 0)
            continue;
        while (k < n_levels && sibling(m, first, factor, k))
            k++;
        if (k < n_levels)
            continue;
        for (k = 0; k < n_levels; k++) {
            x[k] += sibling(m, first, factor, k)->corrupt;
            n[k] += sibling(m, first, factor, k)->judged;
        }
    }
}

static void measure_trend(struct effects *e, const struct matrix *m)
{
    size_t f = 0;
    while (f < m->n_factors && strcmp(m->factors[f].name, "concurrency") != 0)
        f++;
    if (f == m->n_factors)
        return;
    size_t n_levels = m->factors[f].n_levels;
    double *level = mem_zero(n_levels, sizeof *level), *more = mem_zero(n_levels, sizeof *more);
    long *x = mem_zero(n_levels, sizeof *x), *n = mem_zero(n_levels, sizeof *n);
    bool has_one = false;
    if (numeric_levels(&m->factors[f], level)) {
        pool_levels(m, f, x, n);
        for (size_t k = 0; k < n_levels; k++) {
            has_one = has_one || level[k] == 1;
            more[k] = level[k] > 1;
            level[k] = log2(level[k]);
        }
        struct trend t = trend_cochran_armitage(x, n, level, n_levels);
        struct trend c = trend_cochran_armitage(x, n, more, n_levels);
        struct load_trend *out = &e->trend;
        *out = (struct load_trend){.valid = !isnan(t.z), .factor = f, .z = t.z, .p_holm = t.p};
        out->p_starts = dist_f_sf(t.z * t.z / e->phi, 1, e->df);
        out->has_contrast = has_one && n_levels > 2;
        if (out->has_contrast) {
            double p[2] = {t.p, c.p};
            multiple_holm(p, 2, p);
            out->p_holm = p[0];
            out->contrast_z = c.z;
            out->contrast_p_holm = p[1];
        }
    }
    free(level);
    free(more);
    free(x);
    free(n);
}

/* --- what must come together ---------------------------------------------------------------------
 */

static void find_set(struct effects *e, const struct matrix *m)
{
    size_t *levels = mem_zero(m->n_cells * m->n_factors, sizeof *levels);
    size_t *n_levels = mem_zero(m->n_factors, sizeof *n_levels);
    long *x = mem_zero(m->n_cells, sizeof *x), *n = mem_zero(m->n_cells, sizeof *n);
    struct andset_data d = {.n_factors = m->n_factors, .levels = levels, .n_levels = n_levels};
    d.x = x;
    d.n = n;
    for (size_t c = 0; c < m->n_cells; c++) {
        x[c] = m->cells[c].corrupt;
        n[c] = m->cells[c].judged;
        for (size_t f = 0; f < m->n_factors; f++)
            levels[c * m->n_factors + f] = m->cells[c].levels[f];
    }
    for (size_t f = 0; f < m->n_factors; f++)
        n_levels[f] = m->factors[f].n_levels;
    d.n_cells = m->n_cells;
    e->set = andset_best(&d);
    free(levels);
    free(n_levels);
    free(x);
    free(n);
}

struct effects *effects_new(const struct matrix *m, const struct dispersion_prior *prior)
{
    struct effects *e = mem_zero(1, sizeof *e);
    measure_noise(e, m, prior);
    measure_effects(e, m);
    measure_trend(e, m);
    find_set(e, m);
    return e;
}

void effects_free(struct effects *e)
{
    if (!e)
        return;
    free(e->list);
    free(e);
}
