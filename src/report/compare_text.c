/* compare_text.c - a comparison in words. It never says "no difference", "same" or "fixed", and
 * names no cause: a change that makes damage vanish hides it or fixes it. */
#include "compare.h"

#include <math.h>
#include <string.h>

#include "buf.h"
#include "rate_text.h"
#include "report.h"
#include "text.h"

#define INDENT 2

static char letter(size_t arm)
{
    return (char)('A' + (char)(arm % 26));
}

/* The arm's rate; over several server starts with the interval that their noise widens. */
static const char *arm_rate(const struct compare *c, size_t arm, char *out)
{
    const struct arm *a = &c->arms[arm];
    struct interval pooled =
        arm ? c->comparisons[arm - 1].result.pooled_b : c->comparisons[0].result.pooled_a;
    if (a->n_starts < 2 || a->corrupt == 0)
        return rate_text(out, RATE_TEXT_SIZE, a->corrupt, a->judged);
    return rate_text_with(out, RATE_TEXT_SIZE, a->corrupt, a->judged, pooled);
}

static void write_arms(const struct compare *c, const struct report_style *style, struct buf *out)
{
    struct grid g = {.align = "llll"};
    for (size_t i = 0; i < c->n_arms; i++) {
        const struct arm *a = &c->arms[i];
        char rate[RATE_TEXT_SIZE];
        struct buf starts = BUF_INIT;
        if (a->unfinished)
            buf_addf(&starts, "%ld run%s did not finish; ", a->unfinished,
                     a->unfinished == 1 ? "" : "s");
        for (size_t k = 0; k < a->n_starts; k++)
            buf_addf(&starts, "%s%ld/%ld", k ? ", " : "starts: ", a->starts[k].x, a->starts[k].n);
        if (a->errors)
            buf_addf(&starts, "%s%ld could not be judged", starts.len ? "; " : "", a->errors);
        grid_addf(&g, "%c", letter(i));
        grid_add(&g, a->name);
        grid_add(&g, arm_rate(c, i, rate));
        grid_add(&g, buf_str(&starts));
        buf_release(&starts);
    }
    grid_print(&g, style, INDENT, out);
}

static enum paint verdict_paint(enum verdict v)
{
    switch (v) {
    case VERDICT_REGRESSED: return PAINT_BAD;
    case VERDICT_IMPROVED:
    case VERDICT_EQUIVALENT:
    case VERDICT_NEGLIGIBLE: return PAINT_GOOD;
    case VERDICT_NOTHING_REPRODUCED:
    case VERDICT_SUGGESTIVE:
    case VERDICT_INCONCLUSIVE: return PAINT_WARN;
    }
    return PAINT_BOLD;
}

static long smaller_arm(const struct comparison *c)
{
    return c->a->judged < c->b->judged ? c->a->judged : c->b->judged;
}

/* The verdict's sentence. */
static void add_sentence(const struct compare *all, const struct comparison *c, struct buf *out)
{
    char a[RATE_TEXT_SIZE], b[RATE_TEXT_SIZE];
    double margin_pp = all->request.margin * 100;
    rate_text(a, sizeof a, c->a->corrupt, c->a->judged);
    rate_text(b, sizeof b, c->b->corrupt, c->b->judged);
    switch (c->result.verdict) {
    case VERDICT_REGRESSED:
        buf_addf(out, "'%s' corrupts more than '%s'.", c->b->name, c->a->name);
        break;
    case VERDICT_IMPROVED:
        buf_addf(out,
                 "'%s' corrupts less than '%s'. That a change makes damage vanish does not say "
                 "whether it fixes the cause or hides it.",
                 c->b->name, c->a->name);
        break;
    case VERDICT_NEGLIGIBLE:
        buf_addf(out, "A real change, but inside the margin of %g pp.", margin_pp);
        break;
    case VERDICT_EQUIVALENT:
        buf_addf(out, "Any difference is smaller than the margin of %g pp (95%% confidence).",
                 margin_pp);
        break;
    case VERDICT_NOTHING_REPRODUCED:
        buf_addf(out,
                 "Neither corrupted: %s; %s. The damage did not show in '%s' either, so this says "
                 "nothing about a fix.",
                 a, b, c->a->name);
        break;
    case VERDICT_SUGGESTIVE:
        buf_adds(out, "The sessions differ, but repeats vary too much, or there are too few server "
                      "starts, to call it a change.");
        break;
    case VERDICT_INCONCLUSIVE: buf_adds(out, "No evidence of a change at this sample size."); break;
    }
}

static void add_detectable(const struct comparison *c, struct buf *out)
{
    char rate[RATE_TEXT_SIZE];
    double low = c->result.detectable.low, high = c->result.detectable.high;
    if (!isnan(low))
        buf_addf(out, "A drop below %s would have been seen with 80%% power. ",
                 rate_text_percent(rate, sizeof rate, low, smaller_arm(c)));
    else if (!isnan(high))
        buf_addf(out, "Only a rise above %s would have been seen with 80%% power. ",
                 rate_text_percent(rate, sizeof rate, high, smaller_arm(c)));
    if (!isnan(c->result.sessions_needed))
        buf_addf(out, "To settle these two rates takes about %.0f sessions per arm. ",
                 ceil(c->result.sessions_needed));
}

static void add_show(const struct comparison *c, const char *db, struct buf *out)
{
    const struct section *worst = figures_get(&c->b->figures, "worst");
    if (!worst->n_rows)
        return;
    buf_addf(out, "Look at one: toolstorm show %ld %ld", figures_long(worst, 0, "run"),
             figures_long(worst, 0, "session"));
    if (db) {
        buf_adds(out, " --db ");
        text_shell_word(out, db);
    }
}

/* What to do now. */
static void add_next(const struct comparison *c, const char *db, struct buf *out)
{
    switch (c->result.verdict) {
    case VERDICT_REGRESSED: add_show(c, db, out); break;
    case VERDICT_IMPROVED:
        buf_adds(out, "Repeat it over fresh server starts before relying on it.");
        break;
    case VERDICT_NOTHING_REPRODUCED:
        buf_adds(out, "Raise concurrency, rounds or context until the baseline corrupts.");
        break;
    case VERDICT_SUGGESTIVE:
        if (c->result.blocks_to_add > 0)
            buf_addf(out,
                     "Add about %.0f more block%s: restart the server for each run, order A B "
                     "B A.",
                     ceil(c->result.blocks_to_add), c->result.blocks_to_add > 1 ? "s" : "");
        else
            buf_adds(out, "Add blocks: restart the server for each run, order A B B A.");
        break;
    case VERDICT_INCONCLUSIVE: add_detectable(c, out); break;
    case VERDICT_NEGLIGIBLE:
    case VERDICT_EQUIVALENT: break;
    }
}

static void write_line(const struct report_style *style, const char *text, struct buf *out)
{
    size_t columns = style->columns > 0 ? (size_t)style->columns : 80;
    buf_addf(out, "%*s", INDENT, "");
    text_wrap(out, text, INDENT, columns);
}

static void write_figures(const struct compare *all, const struct comparison *c,
                          const struct report_style *style, struct buf *out)
{
    const struct verdict_result *r = &c->result;
    char diff[RATE_TEXT_SIZE], p1[RATE_TEXT_SIZE], p2[RATE_TEXT_SIZE];
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s; %s over sessions, %s over server starts",
             rate_text_difference(diff, sizeof diff, r->diff, r->ci95, smaller_arm(c)),
             rate_text_p(p1, sizeof p1, r->p_session), rate_text_p(p2, sizeof p2, r->p_run));
    if (all->n_arms > 2)
        buf_addf(&line, "; %s after Holm", rate_text_p(p1, sizeof p1, c->p_holm));
    write_line(style, buf_str(&line), out);
    buf_clear(&line);
    buf_addf(&line, "noise between starts: %.2f (%.0f df; a weak prior%s%s)", r->phi, r->df,
             r->df > all->prior.df + all->prior.history_df ? ", these repeats" : "",
             all->prior.history_df > 0 ? ", earlier repeats in the database" : "");
    write_line(style, buf_str(&line), out);
    buf_release(&line);
}

static void write_weaknesses(const struct comparison *c, const struct report_style *style,
                             struct buf *out)
{
    for (int bit = 0; bit < VERDICT_BITS; bit++) {
        if (!(c->result.reasons >> bit & 1))
            continue;
        struct buf line = BUF_INIT;
        buf_addf(&line, "! %s: %s", verdict_reason_word(bit), verdict_reason_means(bit));
        write_line(style, buf_str(&line), out);
        buf_release(&line);
    }
    if (c->result.bounds_matter) {
        struct buf line = BUF_INIT;
        buf_addf(&line, "with the unjudged sessions counted as clean: %s; as corrupted: %s",
                 verdict_word(c->result.if_errors_clean),
                 verdict_word(c->result.if_errors_corrupt));
        write_line(style, buf_str(&line), out);
        buf_release(&line);
    }
}

static void write_reasons(const struct comparison *c, const struct report_style *style,
                          struct buf *out)
{
    if (!c->n_reasons)
        return;
    struct grid g = {.align = "lrrl"};
    for (size_t i = 0; i < c->n_reasons; i++) {
        char p[RATE_TEXT_SIZE];
        grid_add(&g, c->reasons[i].reason);
        grid_addf(&g, "%ld ->", c->reasons[i].a);
        grid_addf(&g, "%ld", c->reasons[i].b);
        grid_add(&g, rate_text_p(p, sizeof p, c->reasons[i].p_holm));
    }
    grid_print(&g, style, 2 * INDENT, out);
}

static void write_comparison(const struct compare *all, size_t i, const struct report_style *style,
                             struct buf *out)
{
    const struct comparison *c = &all->comparisons[i];
    struct buf words = BUF_INIT;
    buf_addf(out, "\n%c to %c: ", letter(0), letter(i + 1));
    text_paint(out, style, verdict_paint(c->result.verdict), verdict_word(c->result.verdict));
    buf_addc(out, '\n');
    add_sentence(all, c, &words);
    write_line(style, buf_str(&words), out);
    write_figures(all, c, style, out);
    write_weaknesses(c, style, out);
    write_reasons(c, style, out);
    buf_clear(&words);
    add_next(c, style->db, &words);
    if (words.len)
        write_line(style, buf_str(&words), out);
    buf_release(&words);
}

void compare_write_text(const struct compare *c, const struct report_style *style, struct buf *out)
{
    write_arms(c, style, out);
    const struct section *unlike = figures_get(&c->unlike, "settings");
    for (size_t i = 0; i < unlike->n_rows; i++) {
        struct buf line = BUF_INIT;
        buf_addf(&line, "varying: %s (%s)", figures_text(unlike, i, "name"),
                 figures_text(unlike, i, "values"));
        write_line(style, buf_str(&line), out);
        buf_release(&line);
    }
    for (size_t i = 0; i + 1 < c->n_arms; i++)
        write_comparison(c, i, style, out);
}

void compare_write_sentence(const struct compare *c, size_t i, struct buf *out)
{
    add_sentence(c, &c->comparisons[i], out);
}

void compare_write_lines(const struct compare *c, size_t i, struct buf *out)
{
    static const struct report_style plain = {.columns = 10000};
    const struct comparison *one = &c->comparisons[i];
    struct buf words = BUF_INIT;
    write_figures(c, one, &plain, &words);
    write_weaknesses(one, &plain, &words);
    /* The terminal's lines without their indent. */
    for (const char *p = buf_str(&words); *p;) {
        size_t n = strcspn(p, "\n"), blank = strspn(p, " ");
        buf_addf(out, "%.*s\n", (int)(n - blank), p + blank);
        p += n + (p[n] == '\n');
    }
    for (size_t k = 0; k < one->n_reasons; k++) {
        char p[RATE_TEXT_SIZE];
        buf_addf(out, "`%s`: %ld -> %ld, %s\n", one->reasons[k].reason, one->reasons[k].a,
                 one->reasons[k].b, rate_text_p(p, sizeof p, one->reasons[k].p_holm));
    }
    buf_release(&words);
}

void compare_write_md(const struct compare *c, struct buf *out)
{
    buf_adds(out,
             "| arm | configuration | corrupted | starts | not judged |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < c->n_arms; i++) {
        char rate[RATE_TEXT_SIZE];
        buf_addf(out, "| %c | `%s` | %s | %zu | %ld |\n", letter(i), c->arms[i].name,
                 arm_rate(c, i, rate), c->arms[i].n_starts, c->arms[i].errors);
    }
    for (size_t i = 0; i + 1 < c->n_arms; i++) {
        const struct comparison *one = &c->comparisons[i];
        struct buf words = BUF_INIT;
        add_sentence(c, one, &words);
        buf_addf(out, "\n**%c to %c: %s.** %s\n\n", letter(0), letter(i + 1),
                 verdict_word(one->result.verdict), buf_str(&words));
        buf_clear(&words);
        compare_write_lines(c, i, &words);
        for (const char *p = buf_str(&words); *p;) {
            size_t n = strcspn(p, "\n");
            buf_addf(out, "- %.*s\n", (int)n, p);
            p += n + (p[n] == '\n');
        }
        buf_release(&words);
    }
}
