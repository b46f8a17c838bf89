/* matrix_json.c - the result of a sweep for programs; schemas/matrix.schema.json describes it. */
#include "matrix.h"

#include "compare.h"
#include "effects.h"
#include "json.h"
#include "rate.h"

static void write_against(const struct comparison *c, struct jsonw *w)
{
    jsonw_key(w, "against_baseline");
    if (!c) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
    jsonw_member_text(w, "verdict", verdict_word(c->result.verdict));
    jsonw_member_double(w, "difference", c->result.diff);
    compare_write_interval(w, "difference_interval_95", c->result.ci95);
    jsonw_member_double(w, "p_sessions", c->result.p_session);
    jsonw_member_double(w, "p_sessions_holm", c->p_holm);
    jsonw_member_double(w, "p_starts", c->result.p_run);
    jsonw_key(w, "weakened_by");
    jsonw_array(w);
    for (int bit = 0; bit < VERDICT_BITS; bit++)
        if (c->result.reasons >> bit & 1)
            jsonw_text(w, verdict_reason_word(bit));
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static void write_cells(const struct matrix *m, struct jsonw *w)
{
    const struct section *cells = figures_get(m->figures, "cells");
    jsonw_key(w, "cells");
    jsonw_array(w);
    for (size_t c = 0; c < m->n_cells; c++) {
        jsonw_object(w);
        jsonw_key(w, "counts");
        figures_write_row(cells, c, w);
        if (m->cells[c].judged > 0)
            compare_write_interval(
                w, "interval", rate_clopper_pearson(m->cells[c].corrupt, m->cells[c].judged, 0.95));
        write_against(m->cells[c].against, w);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_effects(const struct matrix *m, struct jsonw *w)
{
    jsonw_key(w, "effects");
    jsonw_array(w);
    for (size_t i = 0; i < m->effects->n; i++) {
        const struct effect *e = &m->effects->list[i];
        const struct matrix_factor *f = &m->factors[e->factor];
        jsonw_object(w);
        jsonw_member_text(w, "factor", f->name);
        jsonw_member_text(w, "level", f->levels[e->level]);
        jsonw_member_text(w, "against", f->levels[f->reference]);
        jsonw_member_text(w, "verdict", verdict_word(e->verdict));
        jsonw_member_double(w, "difference", e->diff);
        compare_write_interval(w, "difference_interval_95", e->ci95);
        jsonw_member_double(w, "p_sessions", e->p);
        jsonw_member_double(w, "p_sessions_holm", e->p_holm);
        jsonw_member_double(w, "p_starts", e->p_starts);
        jsonw_member_long(w, "strata", (long)e->n_strata);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
    jsonw_member_double(w, "noise_factor", m->effects->phi);
    jsonw_member_double(w, "noise_df", m->effects->df);
}

static void write_trend(const struct matrix *m, struct jsonw *w)
{
    const struct load_trend *t = &m->effects->trend;
    jsonw_key(w, "trend");
    if (!t->valid) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
    jsonw_member_text(w, "factor", m->factors[t->factor].name);
    jsonw_member_double(w, "z", t->z);
    jsonw_member_double(w, "p_sessions_holm", t->p_holm);
    jsonw_member_double(w, "p_starts", t->p_starts);
    if (t->has_contrast) {
        jsonw_member_double(w, "more_than_one_z", t->contrast_z);
        jsonw_member_double(w, "more_than_one_p_holm", t->contrast_p_holm);
    }
    jsonw_end_object(w);
}

static void write_set(const struct matrix *m, struct jsonw *w)
{
    const struct andset *s = &m->effects->set;
    jsonw_key(w, "likeliest_set");
    if (!s->valid) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
    jsonw_key(w, "levels");
    jsonw_object(w);
    for (size_t f = 0; f < m->n_factors; f++)
        if (s->levels[f] != ANDSET_ANY)
            jsonw_member_text(w, m->factors[f].name, m->factors[f].levels[s->levels[f]]);
    jsonw_end_object(w);
    jsonw_member_long(w, "corrupt", s->x);
    jsonw_member_long(w, "judged", s->n);
    jsonw_member_long(w, "corrupt_elsewhere", s->x_elsewhere);
    jsonw_member_long(w, "judged_elsewhere", s->n_elsewhere);
    jsonw_member_double(w, "log_likelihood_lead", s->lead);
    jsonw_end_object(w);
}

static void write_starts(const struct matrix *m, struct jsonw *w)
{
    const struct section *starts = figures_get(m->figures, "starts");
    jsonw_key(w, "starts");
    jsonw_array(w);
    for (size_t i = 0; i < starts->n_rows; i++)
        figures_write_row(starts, i, w);
    jsonw_end_array(w);
}

void matrix_write_json(const struct matrix *m, struct jsonw *w)
{
    const struct section *s = figures_get(m->figures, "sweep");
    jsonw_object(w);
    jsonw_key(w, "sweep");
    figures_write_row(s, 0, w);
    jsonw_member_long(w, "planned_starts", m->n_planned);
    jsonw_member_long(w, "missing_starts", m->n_missing);
    jsonw_member_double(w, "margin", m->margin);
    jsonw_member_double(w, "alpha", m->alpha);
    jsonw_key(w, "one_server");
    jsonw_bool(w, m->one_server);
    jsonw_member_text(w, "not_compared", m->not_compared);
    write_cells(m, w);
    write_effects(m, w);
    write_trend(m, w);
    write_set(m, w);
    write_starts(m, w);
    jsonw_end_object(w);
}
