/* matrix.c - from the rows of a sweep to cells, and from cells to comparisons. It writes nothing.
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compare.h"
#include "effects.h"
#include "json.h"
#include "mem.h"
#include "noise.h"

/* --- factors and levels --------------------------------------------------------------------------
 */

static size_t level_number(struct matrix_factor *f, const char *level)
{
    for (size_t k = 0; k < f->n_levels; k++)
        if (strcmp(f->levels[k], level) == 0)
            return k;
    f->levels = mem_grow(f->levels, &f->cap, f->n_levels, sizeof *f->levels);
    f->levels[f->n_levels] = mem_str(level);
    return f->n_levels++;
}

static size_t factor_number(struct matrix *m, const char *name)
{
    for (size_t f = 0; f < m->n_factors; f++)
        if (strcmp(m->factors[f].name, name) == 0)
            return f;
    m->factors = mem_grow(m->factors, &m->factors_cap, m->n_factors, sizeof *m->factors);
    m->factors[m->n_factors] = (struct matrix_factor){.name = mem_str(name)};
    return m->n_factors++;
}

static int read_levels(struct matrix *m, struct matrix_cell *cell, const char *text,
                       struct err *err)
{
    struct json *levels = json_parse(span_of(text), err);
    if (!levels)
        return -1;
    for (const struct json *v = json_first(levels); v; v = json_next(v)) {
        size_t f = factor_number(m, json_key(v));
        if (f >= MATRIX_MAX_FACTORS)
            break;
        cell->levels[f] = level_number(&m->factors[f], json_text(v) ? json_text(v) : "");
        if (cell->baseline)
            m->factors[f].reference = cell->levels[f];
    }
    bool fits = m->n_factors <= MATRIX_MAX_FACTORS;
    json_free(levels);
    return fits ? 0 : err_set(err, STATUS_TOOL, "a stored sweep has too many factors");
}

/* --- cells ---------------------------------------------------------------------------------------
 */

static void read_starts(struct matrix_cell *cell, const struct section *starts, long number)
{
    cell->x = mem_zero(cell->n_starts, sizeof *cell->x);
    cell->n = mem_zero(cell->n_starts, sizeof *cell->n);
    size_t at = 0;
    for (size_t i = 0; i < starts->n_rows && at < cell->n_starts; i++) {
        if (figures_long(starts, i, "cell") != number ||
            strcmp(figures_text(starts, i, "state"), "done") != 0)
            continue;
        cell->x[at] = figures_long(starts, i, "corrupt");
        cell->n[at++] = figures_long(starts, i, "judged");
    }
}

static int read_cells(struct matrix *m, struct err *err)
{
    const struct section *cells = figures_get(m->figures, "cells");
    const struct section *starts = figures_get(m->figures, "starts");
    m->cells = mem_zero(cells->n_rows, sizeof *m->cells);
    for (m->n_cells = 0; m->n_cells < cells->n_rows; m->n_cells++) {
        size_t i = m->n_cells;
        struct matrix_cell *c = &m->cells[i];
        *c = (struct matrix_cell){.name = figures_text(cells, i, "name"),
                                  .reasons = figures_text(cells, i, "reason_text"),
                                  .baseline = figures_long(cells, i, "baseline") != 0,
                                  .corrupt = figures_long(cells, i, "corrupt"),
                                  .judged = figures_long(cells, i, "judged"),
                                  .errors = figures_long(cells, i, "errors"),
                                  .n_starts = (size_t)figures_long(cells, i, "starts")};
        if (read_levels(m, c, figures_text(cells, i, "levels"), err) != 0)
            return -1;
        read_starts(c, starts, figures_long(cells, i, "cell"));
        if (c->baseline)
            m->baseline = c;
        m->n_missing -= (long)c->n_starts;
    }
    return 0;
}

/* --- comparisons ---------------------------------------------------------------------------------
 */

/* The runs of a cell as compare takes them: "3,7,9". The caller's. */
static char *operand(const struct matrix *m, const struct matrix_cell *c)
{
    const struct section *cells = figures_get(m->figures, "cells");
    const char *list = figures_text(cells, (size_t)(c - m->cells), "runs");
    return mem_copy(list + 1, strlen(list) - 2);
}

static void name_arms(struct matrix *m, const size_t *cell_of)
{
    for (size_t i = 0; i < m->compare->n_arms; i++) {
        struct arm *a = &m->compare->arms[i];
        free(a->name);
        a->name = mem_str(m->cells[cell_of[i]].name);
        if (i > 0)
            m->cells[cell_of[i]].against = &m->compare->comparisons[i - 1];
    }
}

/* Each judged cell against the baseline, which comes first. */
static int compare_cells(struct matrix *m, struct store *s, struct err *err)
{
    char **operands = mem_zero(m->n_cells + 1, sizeof *operands);
    size_t *cell_of = mem_zero(m->n_cells + 1, sizeof *cell_of), n = 0;
    const char **varying = mem_zero(m->n_factors + 1, sizeof *varying);
    for (size_t f = 0; f < m->n_factors; f++)
        varying[f] = m->factors[f].name;
    cell_of[n++] = (size_t)(m->baseline - m->cells);
    for (size_t c = 0; c < m->n_cells; c++)
        if (&m->cells[c] != m->baseline && m->cells[c].judged > 0)
            cell_of[n++] = c;
    for (size_t i = 0; i < n; i++)
        operands[i] = operand(m, &m->cells[cell_of[i]]);
    struct compare_request request = {.operands = (const char *const *)operands,
                                      .n_operands = n,
                                      .varying = varying,
                                      .n_varying = m->n_factors,
                                      .margin = m->margin,
                                      .alpha = m->alpha};
    int rc = 0;
    if (n > 1) {
        struct err why = {0};
        m->compare = mem_zero(1, sizeof *m->compare);
        rc = compare_read(m->compare, s, &request, &why);
        m->compare->request.operands = m->compare->request.varying = NULL;
        if (rc == 0) {
            name_arms(m, cell_of);
        } else if (why.status == STATUS_USAGE) {
            /* Hours of sessions are not lost for a comparison that can't be made. */
            m->not_compared = mem_str(why.text);
            compare_release(m->compare);
            free(m->compare);
            m->compare = NULL;
            rc = 0;
        } else {
            *err = why;
        }
    }
    for (size_t i = 0; i < n; i++)
        free(operands[i]);
    free(operands);
    free(cell_of);
    free(varying);
    return rc;
}

/* All runs of the sweep as a JSON list. The caller's. */
static char *all_runs(const struct matrix *m)
{
    struct buf list = BUF_INIT;
    const struct section *starts = figures_get(m->figures, "starts");
    buf_addc(&list, '[');
    for (size_t i = 0; i < starts->n_rows; i++)
        if (!figures_null(starts, i, "run"))
            buf_addf(&list, "%s%ld", list.len > 1 ? "," : "", figures_long(starts, i, "run"));
    buf_addc(&list, ']');
    return buf_take(&list);
}

static void read_levels_of_decision(struct matrix *m)
{
    const struct section *sweep = figures_get(m->figures, "sweep");
    struct json *plan = json_parse(span_of(figures_text(sweep, 0, "plan")), NULL);
    m->margin = json_double(json_get(plan, "margin"), 0.05);
    m->alpha = json_double(json_get(plan, "alpha"), 0.05);
    const struct section *starts = figures_get(m->figures, "starts");
    for (size_t i = 0; i < starts->n_rows && !json_get(plan, "hook"); i++)
        m->one_server = m->one_server || (!figures_null(starts, i, "simulated") &&
                                          !figures_long(starts, i, "simulated"));
    json_free(plan);
}

int matrix_read(struct matrix *m, struct store *s, long sweep, long n_planned, struct err *err)
{
    struct binding b = {.name = "sweep", .number = sweep};
    struct dispersion_prior prior;
    m->n_planned = m->n_missing = n_planned;
    m->figures = mem_zero(1, sizeof *m->figures);
    if (figures_read(m->figures, s, "reports/sweep.sql", &b, 1, err) != 0)
        return -1;
    read_levels_of_decision(m);
    if (read_cells(m, err) != 0)
        return -1;
    char *runs = all_runs(m);
    int rc = noise_read(s, runs, &prior, err);
    free(runs);
    if (rc == 0 && m->baseline && m->baseline->judged > 0)
        rc = compare_cells(m, s, err);
    if (rc == 0)
        m->effects = effects_new(m, &prior);
    return rc;
}

void matrix_release(struct matrix *m)
{
    effects_free(m->effects);
    free(m->not_compared);
    if (m->compare)
        compare_release(m->compare);
    free(m->compare);
    for (size_t c = 0; c < m->n_cells; c++) {
        free(m->cells[c].x);
        free(m->cells[c].n);
    }
    free(m->cells);
    for (size_t f = 0; f < m->n_factors; f++) {
        for (size_t k = 0; k < m->factors[f].n_levels; k++)
            free(m->factors[f].levels[k]);
        free(m->factors[f].levels);
        free(m->factors[f].name);
    }
    free(m->factors);
    if (m->figures)
        figures_release(m->figures);
    free(m->figures);
    *m = (struct matrix){0};
}

bool matrix_is_clean(const struct matrix *m)
{
    long judged = 0;
    for (size_t c = 0; c < m->n_cells; c++) {
        judged += m->cells[c].judged;
        if (m->cells[c].corrupt > 0)
            return false;
    }
    return judged > 0;
}

bool matrix_has_regression(const struct matrix *m)
{
    for (size_t c = 0; c < m->n_cells; c++)
        if (m->cells[c].against && m->cells[c].against->result.verdict == VERDICT_REGRESSED)
            return true;
    return false;
}
