/* rejudged.c - what other rules make of a run, as text or JSON. All figures stand in the result of
 * reports/rejudged.sql. */
#include <string.h>

#include "figures.h"
#include "json.h"
#include "report.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

#define LABEL_WIDTH 14

/* Replies and sessions shown one by one; JSON has all. */
#define MAX_ROWS 40

struct view {
    const struct figures *f;
    const struct report_style *style;
    struct buf *out;
};

static void line(const struct view *v, const char *label, struct buf *text)
{
    size_t columns = v->style->columns > 0 ? (size_t)v->style->columns : 80;
    buf_addf(v->out, "  %-*s", LABEL_WIDTH, label);
    text_wrap(v->out, buf_str(text), LABEL_WIDTH + 2, columns);
    buf_clear(text);
}

static void heading(const struct view *v, const char *text)
{
    buf_addc(v->out, '\n');
    text_paint(v->out, v->style, PAINT_BOLD, text);
    buf_addc(v->out, '\n');
}

static void more(const struct view *v, size_t n)
{
    if (n > MAX_ROWS)
        buf_addf(v->out, "  and %zu more; --output json has all\n", n - MAX_ROWS);
}

static void headline(const struct view *v)
{
    const struct section *j = figures_get(v->f, "rejudging");
    const struct section *k = figures_get(v->f, "kept");
    long n = figures_long(k, 0, "rounds_kept") + figures_long(k, 0, "twins_kept");
    size_t changed = figures_get(v->f, "replies")->n_rows;
    struct buf text = BUF_INIT;
    buf_addf(&text, "rejudging %ld of run %ld: ", figures_long(j, 0, "number"),
             figures_long(j, 0, "run"));
    if (!n)
        buf_adds(&text, "no reply was kept");
    else if (changed)
        buf_addf(&text, "%zu of %ld kept replies get another verdict", changed, n);
    else
        buf_addf(&text, "all %ld kept replies get the verdict that they had", n);
    text_paint(v->out, v->style, changed ? PAINT_WARN : PAINT_BOLD, buf_str(&text));
    buf_addc(v->out, '\n');
    buf_release(&text);
}

static void add_rules(const struct section *j, const char *file, const char *strict,
                      struct buf *text)
{
    const char *name = figures_text(j, 0, file);
    buf_adds(text, "the program's own rules");
    if (name[0]) {
        buf_adds(text, " and ");
        text_safe(text, span_of(name), false);
    }
    if (figures_long(j, 0, strict))
        buf_adds(text, ", strict");
}

static void rules_lines(const struct view *v, struct buf *text)
{
    const struct section *j = figures_get(v->f, "rejudging");
    add_rules(j, "rules_file", "strict", text);
    buf_addf(text, "; judge %ld of toolstorm %s", figures_long(j, 0, "judge_version"),
             figures_text(j, 0, "version"));
    line(v, "judged by", text);
    add_rules(j, "was_rules_file", "was_strict", text);
    buf_addf(text, "; judge %ld of toolstorm %s", figures_long(j, 0, "was_judge_version"),
             figures_text(j, 0, "was_version"));
    line(v, "before by", text);
}

static void kept_line(const struct view *v, struct buf *text)
{
    const struct section *k = figures_get(v->f, "kept");
    const struct section *j = figures_get(v->f, "rejudging");
    long whole = figures_long(k, 0, "wholly"), part = figures_long(k, 0, "partly");
    buf_addf(text, "of %ld sessions %ld wholly, %ld in part, %ld not at all",
             figures_long(k, 0, "sessions"), whole, part, figures_long(k, 0, "not_at_all"));
    if (whole < figures_long(k, 0, "sessions"))
        buf_addf(text,
                 "; a round that was not kept has the verdict that it had (the run was played "
                 "with --keep %s)",
                 figures_text(j, 0, "keep"));
    line(v, "bytes kept", text);
}

static void add_rate(const struct section *r, const char *column, const char *count,
                     struct buf *text)
{
    bool interval = figures_long(r, 0, count) > 0;
    buf_addf(text, "%s%s", figures_text(r, 0, column), interval ? " (95% interval)" : "");
}

static void rate_lines(const struct view *v, struct buf *text)
{
    const struct section *r = figures_get(v->f, "rates"), *k = figures_get(v->f, "kept");
    bool all = figures_long(k, 0, "not_at_all") == 0;
    add_rate(r, "was_text", "was_corrupted", text);
    line(v, all ? "rate before" : "kept, before", text);
    add_rate(r, "text", "corrupted", text);
    line(v, all ? "rate now" : "kept, now", text);
    if (all)
        return;
    add_rate(r, "run_was_text", "run_was_corrupted", text);
    line(v, "run, before", text);
    add_rate(r, "run_text", "run_corrupted", text);
    line(v, "run, now", text);
}

static void moves(const struct view *v)
{
    const struct section *s = figures_get(v->f, "moves");
    struct grid g = {.align = "llr"};
    for (size_t i = 0; i < s->n_rows; i++) {
        grid_add(&g, figures_text(s, i, "was"));
        grid_addf(&g, "-> %s", figures_text(s, i, "now"));
        grid_addf(&g, "%ld", figures_long(s, i, "replies"));
    }
    heading(v, "Verdicts that change (replies)");
    grid_print(&g, v->style, 2, v->out);
}

static void replies(const struct view *v)
{
    const struct section *s = figures_get(v->f, "replies");
    struct grid g = {.align = "rrlll", .wraps = true};
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < s->n_rows && i < MAX_ROWS; i++) {
        grid_addf(&g, "%ld", figures_long(s, i, "session"));
        grid_addf(&g, "%ld%s", figures_long(s, i, "round"),
                  figures_long(s, i, "twin") ? " twin" : "");
        grid_add(&g, figures_text(s, i, "was"));
        grid_addf(&g, "-> %s", figures_text(s, i, "now"));
        buf_clear(&text);
        if (!figures_null(s, i, "rule")) {
            buf_addf(&text, "%s, ", figures_text(s, i, "channel"));
            text_safe(&text, figures_span(s, i, "rule"), false);
            buf_adds(&text, ": ");
            text_safe(&text, figures_span(s, i, "note"), false);
        }
        grid_add(&g, buf_str(&text));
        grid_paint(&g, PAINT_DIM);
    }
    heading(v, "Replies (session, round)");
    grid_print(&g, v->style, 2, v->out);
    more(v, s->n_rows);
    buf_release(&text);
}

static void add_verdict(struct grid *g, const char *arrow, const char *reason, long round)
{
    if (round)
        grid_addf(g, "%s%s in round %ld", arrow, reason, round);
    else
        grid_addf(g, "%s%s", arrow, reason);
}

static void sessions(const struct view *v)
{
    const struct section *s = figures_get(v->f, "sessions");
    struct grid g = {.align = "rll"};
    if (!s->n_rows)
        return;
    for (size_t i = 0; i < s->n_rows && i < MAX_ROWS; i++) {
        grid_addf(&g, "%ld", figures_long(s, i, "session"));
        add_verdict(&g, "", figures_text(s, i, "was"), figures_long(s, i, "was_round"));
        add_verdict(&g, "-> ", figures_text(s, i, "now"), figures_long(s, i, "now_round"));
    }
    heading(v, "Sessions");
    grid_print(&g, v->style, 2, v->out);
    more(v, s->n_rows);
}

static void point(const struct view *v, struct buf *text)
{
    buf_adds(v->out, "  * ");
    text_wrap(v->out, buf_str(text), 4, v->style->columns > 0 ? (size_t)v->style->columns : 80);
    buf_clear(text);
}

static void mind(const struct view *v, struct buf *text)
{
    const struct section *r = figures_get(v->f, "rates"), *k = figures_get(v->f, "kept");
    long cut_short = figures_long(r, 0, "cut_short");
    bool partial = figures_long(k, 0, "wholly") < figures_long(k, 0, "sessions");
    if (!partial && !cut_short)
        return;
    heading(v, "Mind");
    if (partial) {
        buf_adds(text, "what was not kept can't be judged again: damage that the old rules "
                       "overlooked there stays overlooked, and the rate of the kept sessions is "
                       "not that of the run");
        point(v, text);
    }
    if (cut_short) {
        buf_addf(text,
                 "%ld session%s ended at what is no damage now: the rounds behind it were never "
                 "played",
                 cut_short, cut_short == 1 ? "" : "s");
        point(v, text);
    }
}

static void rejudged_text(const struct view *v)
{
    struct buf text = BUF_INIT;
    headline(v);
    rate_lines(v, &text);
    kept_line(v, &text);
    rules_lines(v, &text);
    if (figures_get(v->f, "replies")->n_rows) {
        moves(v);
        replies(v);
        sessions(v);
    }
    mind(v, &text);
    buf_release(&text);
}

int report_rejudged(struct store *s, long run, long number, const struct report_style *style,
                    struct report_rejudged *sum, struct buf *out, struct err *err)
{
    struct figures f = {0};
    const struct binding bindings[] = {{.name = "run", .number = run},
                                       {.name = "number", .number = number}};
    int rc = -1;
    if (words_sql_define(s, err) < 0 ||
        figures_read(&f, s, "reports/rejudged.sql", bindings, 2, err) < 0)
        goto out;
    const struct section *k = figures_get(&f, "kept"), *r = figures_get(&f, "rates");
    *sum = (struct report_rejudged){.kept = figures_long(k, 0, "rounds_kept") +
                                            figures_long(k, 0, "twins_kept"),
                                    .newly_corrupted = figures_long(r, 0, "newly_corrupted")};
    if (style->json) {
        struct jsonw w = {.out = out};
        jsonw_object(&w);
        figures_write(&f, &w);
        jsonw_end_object(&w);
        buf_addc(out, '\n');
    } else {
        const struct view v = {&f, style, out};
        rejudged_text(&v);
    }
    rc = 0;
out:
    figures_release(&f);
    return rc;
}
