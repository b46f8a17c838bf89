/* matrix_text.c - the result of a sweep in words, for a terminal and for an issue. It names what
 * goes with the damage, never a cause: a setting that makes damage vanish hides it or fixes it. */
#include "matrix.h"

#include <math.h>
#include <string.h>

#include "buf.h"
#include "compare.h"
#include "effects.h"
#include "rate_text.h"
#include "report.h"
#include "text.h"

#define INDENT 2
#define WIDE   10000 /* columns of a table that must not be cut */

/* --- pieces of both forms ------------------------------------------------------------------------
 */

/* The rate; over several starts with the interval that their noise widens. */
static const char *cell_rate(const struct matrix *m, const struct matrix_cell *c, char *out)
{
    if (c->judged == 0) {
        out[0] = '\0';
        strncat(out, c->n_starts ? "no session judged" : "not played", RATE_TEXT_SIZE - 1);
        return out;
    }
    if (c->n_starts < 2 || c->corrupt == 0 || !m->compare)
        return rate_text(out, RATE_TEXT_SIZE, c->corrupt, c->judged);
    struct interval wide =
        c->against ? c->against->result.pooled_b : m->compare->comparisons[0].result.pooled_a;
    return rate_text_with(out, RATE_TEXT_SIZE, c->corrupt, c->judged, wide);
}

/* A clean cell has none worth a line. */
static void add_details(const struct matrix_cell *c, struct buf *out)
{
    for (size_t i = 0; c->corrupt && c->n_starts > 1 && i < c->n_starts; i++)
        buf_addf(out, "%s%ld/%ld", i ? ", " : "starts: ", c->x[i], c->n[i]);
    if (c->reasons[0])
        buf_addf(out, "%s%s", out->len ? "; " : "", c->reasons);
    if (c->errors)
        buf_addf(out, "%s%ld could not be judged", out->len ? "; " : "", c->errors);
}

static void add_verdict(const struct matrix *m, const struct matrix_cell *c, struct buf *out)
{
    char p[RATE_TEXT_SIZE];
    if (c == m->baseline)
        buf_adds(out, "(baseline)");
    else if (c->against)
        buf_addf(out, "%s, %s", verdict_word(c->against->result.verdict),
                 rate_text_p(p, sizeof p, c->against->p_holm));
}

static long smallest_cell(const struct matrix *m)
{
    long least = 0;
    for (size_t c = 0; c < m->n_cells; c++)
        if (m->cells[c].judged > 0 && (least == 0 || m->cells[c].judged < least))
            least = m->cells[c].judged;
    return least;
}

static void add_effect(const struct matrix *m, const struct effect *e, struct buf *out)
{
    char diff[RATE_TEXT_SIZE], p1[RATE_TEXT_SIZE], p2[RATE_TEXT_SIZE];
    buf_addf(out,
             "%s: %s; %s over sessions after Holm, %s over server starts (%zu setting%s of the "
             "others)",
             verdict_word(e->verdict),
             rate_text_difference(diff, sizeof diff, e->diff, e->ci95, smallest_cell(m)),
             rate_text_p(p1, sizeof p1, e->p_holm), rate_text_p(p2, sizeof p2, e->p_starts),
             e->n_strata, e->n_strata == 1 ? "" : "s");
}

static void add_effect_name(const struct matrix *m, const struct effect *e, struct buf *out)
{
    const struct matrix_factor *f = &m->factors[e->factor];
    buf_addf(out, "%s=%s against %s=%s", f->name, f->levels[e->level], f->name,
             f->levels[f->reference]);
}

static void add_trend(const struct matrix *m, struct buf *out)
{
    const struct load_trend *t = &m->effects->trend;
    char p[RATE_TEXT_SIZE], q[RATE_TEXT_SIZE];
    bool shown = t->p_holm <= m->alpha;
    buf_addf(out, "%s with log2(%s): z=%+.1f, %s over sessions, %s over server starts",
             !shown     ? "No trend was shown"
             : t->z > 0 ? "The rate rises"
                        : "The rate falls",
             m->factors[t->factor].name, t->z, rate_text_p(p, sizeof p, t->p_holm),
             rate_text_p(q, sizeof q, t->p_starts));
    if (t->has_contrast)
        buf_addf(out, "; more than 1 against 1: z=%+.1f, %s", t->contrast_z,
                 rate_text_p(p, sizeof p, t->contrast_p_holm));
}

/* Which settings must come together, by the data alone. */
static void add_set(const struct matrix *m, struct buf *out)
{
    const struct andset *s = &m->effects->set;
    char with[RATE_TEXT_SIZE], without[RATE_TEXT_SIZE];
    if (s->size == 0) {
        buf_adds(out, "No set of settings explains the counts better than one rate everywhere.");
        return;
    }
    buf_adds(out, "Likeliest set of settings that must come together: ");
    size_t shown = 0;
    for (size_t f = 0; f < m->n_factors; f++)
        if (s->levels[f] != ANDSET_ANY)
            buf_addf(out, "%s%s=%s", shown++ ? " AND " : "", m->factors[f].name,
                     m->factors[f].levels[s->levels[f]]);
    buf_addf(out, ": with it %s, elsewhere %s", rate_text(with, sizeof with, s->x, s->n),
             rate_text(without, sizeof without, s->x_elsewhere, s->n_elsewhere));
    if (s->lead >= 3)
        buf_addf(out, "; more than %.0f times likelier than any other set.",
                 fmin(exp(floor(s->lead)), 1e6));
    else
        buf_adds(out, "; but other sets are nearly as likely: more sessions, or `toolstorm "
                      "isolate`, will tell.");
}

static const char nothing_seen[] = "No cell corrupted a session. Raise concurrency, rounds or "
                                   "context until the baseline does.";

static const char one_server[] =
    "no hook restarted the server: what is said holds for the one start that ran, not for its "
    "configuration";

/* What weakens the result, and starts that did not go as they should, in the words of each. */
static void each_trouble(const struct matrix *m, void (*line)(struct buf *out, const char *text),
                         struct buf *out)
{
    if (m->one_server)
        line(out, one_server);
    if (m->not_compared) {
        struct buf text = BUF_INIT;
        buf_addf(&text, "no cell was compared with the baseline: %s", m->not_compared);
        line(out, buf_str(&text));
        buf_release(&text);
    }
    const struct section *s = figures_get(m->figures, "starts");
    for (size_t i = 0; i < s->n_rows; i++) {
        const char *state = figures_text(s, i, "state"), *detail = figures_text(s, i, "detail");
        bool done = strcmp(state, "done") == 0;
        if (done && !detail[0])
            continue;
        struct buf text = BUF_INIT;
        long cell = figures_long(s, i, "cell");
        buf_addf(&text, "start %ld (", figures_long(s, i, "start"));
        for (size_t c = 0; c < m->n_cells; c++)
            if ((long)c + 1 == cell)
                buf_adds(&text, m->cells[c].name);
        buf_addf(&text, ") %s: ", done ? "played" : state);
        text_safe(&text, span_of(detail), false);
        line(out, buf_str(&text));
        buf_release(&text);
    }
}

/* --- terminal ------------------------------------------------------------------------------------
 */

static void write_head(const struct matrix *m, struct buf *out)
{
    const struct section *s = figures_get(m->figures, "sweep");
    buf_addf(out, "%s: %zu cells, %ld of %ld server starts played\n\n", figures_text(s, 0, "name"),
             m->n_cells, m->n_planned - m->n_missing, m->n_planned);
}

static void write_cells(const struct matrix *m, const struct report_style *style, struct buf *out)
{
    struct report_style wide = *style;
    char align[MATRIX_MAX_FACTORS + 3] = "", rate[RATE_TEXT_SIZE];
    memset(align, 'l', m->n_factors + 2);
    struct grid g = {.align = align};
    wide.columns = WIDE;
    for (size_t f = 0; f < m->n_factors; f++)
        grid_add(&g, m->factors[f].name);
    grid_add(&g, "corrupted [95%]");
    grid_add(&g, "against the baseline");
    for (size_t c = 0; c < m->n_cells; c++) {
        const struct matrix_cell *one = &m->cells[c];
        struct buf b = BUF_INIT;
        for (size_t f = 0; f < m->n_factors; f++)
            grid_add(&g, m->factors[f].levels[one->levels[f]]);
        grid_add(&g, cell_rate(m, one, rate));
        if (one->corrupt)
            grid_paint(&g, PAINT_BAD);
        add_verdict(m, one, &b);
        grid_add(&g, buf_str(&b));
        buf_clear(&b);
        add_details(one, &b);
        if (b.len)
            grid_note(&g, buf_str(&b));
        buf_release(&b);
    }
    grid_print(&g, &wide, INDENT, out);
}

static void write_line(const struct report_style *style, const char *text, struct buf *out)
{
    size_t columns = style->columns > 0 ? (size_t)style->columns : 80;
    buf_addf(out, "%*s", INDENT, "");
    text_wrap(out, text, 2 * INDENT, columns);
}

static void write_effects(const struct matrix *m, const struct report_style *style, struct buf *out)
{
    const struct effects *e = m->effects;
    if (e->n == 0)
        return;
    buf_adds(out, "\nEach factor, within every setting of the others:\n");
    for (size_t i = 0; i < e->n; i++) {
        struct buf line = BUF_INIT;
        add_effect_name(m, &e->list[i], &line);
        buf_adds(&line, ": ");
        add_effect(m, &e->list[i], &line);
        write_line(style, buf_str(&line), out);
        buf_release(&line);
    }
    struct buf noise = BUF_INIT;
    buf_addf(&noise, "noise between starts: %.2f (%.0f df)", e->phi, e->df);
    write_line(style, buf_str(&noise), out);
    buf_release(&noise);
}

static void write_findings(const struct matrix *m, const struct report_style *style,
                           struct buf *out)
{
    struct buf line = BUF_INIT;
    write_effects(m, style, out);
    if (m->effects->trend.valid) {
        buf_adds(out, "\nLoad:\n");
        add_trend(m, &line);
        write_line(style, buf_str(&line), out);
        buf_clear(&line);
    }
    if (m->effects->set.valid) {
        buf_adds(out, "\nTogether:\n");
        add_set(m, &line);
        write_line(style, buf_str(&line), out);
    }
    buf_release(&line);
}

static void plain_line(struct buf *out, const char *text)
{
    buf_addf(out, "  ! %s\n", text);
}

void matrix_write_text(const struct matrix *m, const struct report_style *style, struct buf *out)
{
    struct buf line = BUF_INIT;
    write_head(m, out);
    write_cells(m, style, out);
    if (matrix_is_clean(m))
        buf_addf(out, "\n%s\n", nothing_seen);
    else
        write_findings(m, style, out);
    buf_clear(&line);
    each_trouble(m, plain_line, &line);
    if (line.len)
        buf_addf(out, "\nMind:\n%s", buf_str(&line));
    buf_release(&line);
}

/* --- Markdown ------------------------------------------------------------------------------------
 */

static void item_line(struct buf *out, const char *text)
{
    buf_addf(out, "- %s\n", text);
}

static void write_md_cells(const struct matrix *m, struct buf *out)
{
    char rate[RATE_TEXT_SIZE];
    for (size_t f = 0; f < m->n_factors; f++)
        buf_addf(out, "| `%s` ", m->factors[f].name);
    buf_adds(out, "| sessions | corrupted [95%] | against the baseline | details |\n");
    for (size_t f = 0; f < m->n_factors + 4; f++)
        buf_adds(out, "|---");
    buf_adds(out, "|\n");
    for (size_t c = 0; c < m->n_cells; c++) {
        const struct matrix_cell *one = &m->cells[c];
        for (size_t f = 0; f < m->n_factors; f++)
            buf_addf(out, "| %s ", m->factors[f].levels[one->levels[f]]);
        buf_addf(out, "| %ld | %s | ", one->judged, cell_rate(m, one, rate));
        add_verdict(m, one, out);
        buf_adds(out, " | ");
        struct buf details = BUF_INIT;
        add_details(one, &details);
        buf_addf(out, "%s |\n", buf_str(&details));
        buf_release(&details);
    }
}

static void write_md_findings(const struct matrix *m, struct buf *out)
{
    const struct effects *e = m->effects;
    for (size_t i = 0; i < e->n; i++) {
        buf_adds(out, "- `");
        add_effect_name(m, &e->list[i], out);
        buf_adds(out, "`: ");
        add_effect(m, &e->list[i], out);
        buf_addc(out, '\n');
    }
    if (e->trend.valid) {
        buf_adds(out, "- ");
        add_trend(m, out);
        buf_addc(out, '\n');
    }
    if (e->set.valid) {
        buf_adds(out, "- ");
        add_set(m, out);
        buf_addc(out, '\n');
    }
}

void matrix_write_md(const struct matrix *m, struct buf *out)
{
    const struct section *s = figures_get(m->figures, "sweep");
    buf_addf(out, "### Sweep `%s`\n\n%ld of %ld server starts played.\n\n",
             figures_text(s, 0, "name"), m->n_planned - m->n_missing, m->n_planned);
    write_md_cells(m, out);
    buf_addc(out, '\n');
    if (matrix_is_clean(m))
        item_line(out, nothing_seen);
    else
        write_md_findings(m, out);
    each_trouble(m, item_line, out);
}
