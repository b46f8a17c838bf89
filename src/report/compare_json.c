/* compare_json.c - a comparison for programs; schemas/compare.schema.json describes it. */
#include "compare.h"

#include "json.h"
#include "rate.h"

void compare_write_interval(struct jsonw *w, const char *key, struct interval i)
{
    jsonw_key(w, key);
    jsonw_array(w);
    jsonw_double(w, i.low);
    jsonw_double(w, i.high);
    jsonw_end_array(w);
}

static void write_arm(const struct arm *a, struct jsonw *w)
{
    jsonw_object(w);
    jsonw_member_text(w, "name", a->name);
    jsonw_key(w, "runs");
    jsonw_raw(w, span_of(a->runs));
    jsonw_member_long(w, "corrupt", a->corrupt);
    jsonw_member_long(w, "judged", a->judged);
    jsonw_member_long(w, "errors", a->errors);
    jsonw_member_long(w, "unfinished", a->unfinished);
    compare_write_interval(w, "interval", rate_clopper_pearson(a->corrupt, a->judged, 0.95));
    jsonw_key(w, "starts");
    jsonw_array(w);
    const struct section *starts = figures_get(&a->figures, "starts");
    for (size_t i = 0; i < starts->n_rows; i++)
        figures_write_row(starts, i, w);
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static void write_weaknesses(const struct comparison *c, struct jsonw *w)
{
    jsonw_key(w, "weakened_by");
    jsonw_array(w);
    for (int bit = 0; bit < VERDICT_BITS; bit++)
        if (c->result.reasons >> bit & 1)
            jsonw_text(w, verdict_reason_word(bit));
    jsonw_end_array(w);
}

static void write_reasons(const struct comparison *c, struct jsonw *w)
{
    jsonw_key(w, "reasons");
    jsonw_array(w);
    for (size_t i = 0; i < c->n_reasons; i++) {
        jsonw_object(w);
        jsonw_member_text(w, "reason", c->reasons[i].reason);
        jsonw_member_long(w, "a", c->reasons[i].a);
        jsonw_member_long(w, "b", c->reasons[i].b);
        jsonw_member_double(w, "p_holm", c->reasons[i].p_holm);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_comparison(const struct comparison *c, struct jsonw *w)
{
    const struct verdict_result *r = &c->result;
    jsonw_object(w);
    jsonw_member_text(w, "a", c->a->name);
    jsonw_member_text(w, "b", c->b->name);
    jsonw_member_text(w, "verdict", verdict_word(r->verdict));
    jsonw_member_text(w, "means", verdict_means(r->verdict));
    write_weaknesses(c, w);
    jsonw_member_double(w, "difference", r->diff);
    compare_write_interval(w, "difference_interval_95", r->ci95);
    compare_write_interval(w, "difference_interval_90", r->ci90);
    compare_write_interval(w, "ratio_interval_95", r->ratio);
    jsonw_member_double(w, "p_sessions", r->p_session);
    jsonw_member_double(w, "p_sessions_holm", c->p_holm);
    jsonw_member_double(w, "p_starts", r->p_run);
    jsonw_member_double(w, "noise_factor", r->phi);
    jsonw_member_double(w, "noise_df", r->df);
    jsonw_member_bool(w, "paired_blocks", c->paired);
    compare_write_interval(w, "detectable", r->detectable);
    jsonw_member_double(w, "sessions_needed_per_arm", r->sessions_needed);
    jsonw_member_double(w, "blocks_to_add", r->blocks_to_add);
    write_reasons(c, w);
    jsonw_end_object(w);
}

void compare_write_json(const struct compare *c, struct jsonw *w)
{
    jsonw_object(w);
    jsonw_member_double(w, "margin", c->request.margin);
    jsonw_member_double(w, "alpha", c->request.alpha);
    jsonw_key(w, "arms");
    jsonw_array(w);
    for (size_t i = 0; i < c->n_arms; i++)
        write_arm(&c->arms[i], w);
    jsonw_end_array(w);
    jsonw_key(w, "comparisons");
    jsonw_array(w);
    for (size_t i = 0; i + 1 < c->n_arms; i++)
        write_comparison(&c->comparisons[i], w);
    jsonw_end_array(w);
    jsonw_key(w, "varying");
    jsonw_array(w);
    const struct section *unlike = figures_get(&c->unlike, "settings");
    for (size_t i = 0; i < unlike->n_rows; i++)
        figures_write_row(unlike, i, w);
    jsonw_end_array(w);
    jsonw_end_object(w);
}
