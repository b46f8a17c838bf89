/* summary.c - what one run came to, as text or JSON. It adds no figure of its own: all of them
 * stand in the result of reports/summary.sql. */
#include <math.h>
#include <string.h>

#include "figures.h"
#include "json.h"
#include "report.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

/* Quirks and first bad rounds shown; the rest is counted. */
#define MAX_ROWS 8

#define LABEL_WIDTH 17

struct view {
    const struct figures *f;
    const struct report_style *style;
    struct buf *out;
    size_t columns;
};

/* "  label            " and then wrapped text. */
static void line(const struct view *v, const char *label, const char *text)
{
    buf_addf(v->out, "  %-*s", LABEL_WIDTH, label);
    text_wrap(v->out, text, LABEL_WIDTH + 2, v->columns);
}

static void heading(const struct view *v, const char *text)
{
    buf_addc(v->out, '\n');
    text_paint(v->out, v->style, PAINT_BOLD, text);
    buf_addc(v->out, '\n');
}

static void add_safe(struct buf *out, const char *text)
{
    text_safe(out, span_of(text), false);
}

static void headline(const struct view *v)
{
    const struct section *c = figures_get(v->f, "counts");
    long corrupted = figures_long(c, 0, "corrupted"), judged = figures_long(c, 0, "judged");
    const char *whole = figures_text(c, 0, "headline"), *counts = strstr(whole, "  (");
    struct buf text = BUF_INIT;
    buf_add(&text, whole, counts ? (size_t)(counts - whole) : strlen(whole));
    text_paint(v->out, v->style,
               corrupted ? PAINT_BAD
               : judged  ? PAINT_GOOD
                         : PAINT_WARN,
               buf_str(&text));
    buf_addf(v->out, "%s\n", counts ? counts : "");
    buf_clear(&text);
    if (judged) {
        buf_addf(&text, "%s%s", figures_text(c, 0, "text"), corrupted ? " (95% interval)" : "");
        line(v, "rate", buf_str(&text));
    }
    long error = figures_long(c, 0, "error");
    if (error) {
        buf_clear(&text);
        buf_addf(&text, "%ld of %ld finished session%s ended in an error: %s not among the %ld",
                 error, judged + error, judged + error == 1 ? "" : "s",
                 error == 1 ? "it is" : "they are", judged);
        line(v, "not judged", buf_str(&text));
    }
    buf_release(&text);
}

static void steady_line(const struct view *v)
{
    const struct section *c = figures_get(v->f, "counts");
    long judged = figures_long(c, 0, "judged"), steady = figures_long(c, 0, "steady_judged");
    struct buf text = BUF_INIT;
    if (steady == judged)
        return;
    if (steady)
        buf_addf(&text, "%s; %ld ran while the load rose or fell",
                 figures_text(c, 0, "steady_text"), judged - steady);
    else
        buf_adds(&text, "none: all sessions ran while the load rose or fell");
    line(v, "at full load", buf_str(&text));
    buf_release(&text);
}

static void run_lines(const struct view *v)
{
    const struct section *r = figures_get(v->f, "run"), *c = figures_get(v->f, "counts");
    struct buf text = BUF_INIT;
    buf_addf(&text, "%ld", figures_long(r, 0, "run"));
    if (figures_text(r, 0, "label")[0]) {
        buf_adds(&text, " (");
        add_safe(&text, figures_text(r, 0, "label"));
        buf_addc(&text, ')');
    }
    long sessions = figures_long(r, 0, "sessions"), rounds = figures_long(r, 0, "rounds");
    buf_addf(&text, ", %s, %ld session%s of %ld round%s", figures_text(r, 0, "started"), sessions,
             sessions == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s");
    if (figures_long(c, 0, "warmup"))
        buf_addf(&text, " (%ld %s)", figures_long(c, 0, "warmup"),
                 strcmp(figures_text(r, 0, "status"), "decided") == 0
                     ? "not counted: beyond the decision, or to warm up"
                     : "of them to warm up");
    line(v, "run", buf_str(&text));
    buf_clear(&text);
    add_safe(&text, figures_text(r, 0, "scenario"));
    buf_addf(&text, ", seed %ld", figures_long(r, 0, "seed"));
    line(v, "scenario", buf_str(&text));
    buf_clear(&text);
    add_safe(&text, figures_text(r, 0, "model"));
    buf_adds(&text, " at ");
    add_safe(&text, figures_text(r, 0, "base_url"));
    if (figures_long(r, 0, "simulated"))
        buf_adds(&text, " (the simulated endpoint)");
    line(v, "endpoint", buf_str(&text));
    buf_release(&text);
}

static void reasons(const struct view *v)
{
    const struct section *s = figures_get(v->f, "reasons");
    struct grid g = {.align = "lrrl", .wraps = true};
    for (size_t i = 0; i < s->n_rows; i++) {
        const char *class = figures_text(s, i, "class");
        if (strcmp(class, "ok") == 0)
            continue;
        grid_add(&g, figures_text(s, i, "reason"));
        grid_paint(&g, strcmp(class, "error") == 0 ? PAINT_WARN : PAINT_BAD);
        grid_addf(&g, "%ld", figures_long(s, i, "sessions"));
        grid_add(&g, figures_text(s, i, "share_text"));
        grid_add(&g, figures_text(s, i, "meaning"));
        grid_paint(&g, PAINT_DIM);
    }
    if (!g.n)
        return;
    heading(v, "Reasons (sessions, share of all finished)");
    grid_print(&g, v->style, 2, v->out);
}

static void first_bad(const struct view *v)
{
    const struct section *s = figures_get(v->f, "first_bad");
    if (!s->n_rows)
        return;
    heading(v, "First damaged round, among the sessions that began it clean");
    struct grid g = {.align = "ll"};
    for (size_t i = 0; i < s->n_rows && i < MAX_ROWS; i++) {
        grid_addf(&g, "round %ld", figures_long(s, i, "round"));
        grid_add(&g, figures_text(s, i, "text"));
    }
    grid_print(&g, v->style, 2, v->out);
    if (s->n_rows > MAX_ROWS)
        buf_addf(v->out, "  and %zu later rounds\n", s->n_rows - MAX_ROWS);
}

static void add_time(struct grid *g, const struct section *s, size_t row, const char *column)
{
    struct buf text = BUF_INIT;
    text_duration(&text, figures_double(s, row, column));
    grid_add(g, buf_str(&text));
    buf_release(&text);
}

static void latency(const struct view *v)
{
    static const char *const names[][2] = {
        {"ttft", "first token (TTFT)"},
        {"itl", "between tokens (ITL)"},
        {"gap", "longest pause"},
        {"round", "whole round"},
    };
    static const char *const heads[] = {"Latency", "p50", "p95", "p99", "max", "rounds"};
    const struct section *s = figures_get(v->f, "latency");
    if (!s->n_rows)
        return;
    struct grid g = {.align = "lrrrrr"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        grid_add(&g, heads[i]);
        grid_paint(&g, PAINT_BOLD);
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        const char *name = figures_text(s, i, "name");
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (strcmp(name, names[k][0]) == 0)
                grid_addf(&g, "  %s", names[k][1]);
        add_time(&g, s, i, "p50_us");
        add_time(&g, s, i, "p95_us");
        add_time(&g, s, i, "p99_us");
        add_time(&g, s, i, "max_us");
        grid_addf(&g, "%ld", figures_long(s, i, "n"));
    }
    buf_addc(v->out, '\n');
    grid_print(&g, v->style, 0, v->out);
    if (figures_null(s, s->n_rows - 1, "p99_us"))
        text_paint(v->out, v->style, PAINT_DIM, "  (p95 takes 59 rounds, p99 takes 299)\n");
}

static void add_number(struct buf *out, const char *before, double n, const char *behind)
{
    buf_adds(out, before);
    if (isnan(n)) /* nothing was there to be counted */
        buf_adds(out, "no");
    else
        text_count(out, lround(n));
    buf_adds(out, behind);
}

static void tokens(const struct view *v)
{
    const struct section *s = figures_get(v->f, "tokens");
    struct buf text = BUF_INIT;
    if (figures_long(s, 0, "prompt_said")) {
        add_number(&text, "", figures_double(s, 0, "prompt_min"), " to ");
        add_number(&text, "", figures_double(s, 0, "prompt_max"), " a round, median ");
        add_number(&text, "", figures_double(s, 0, "prompt_median"), "; ");
        add_number(&text, "", figures_double(s, 0, "prompt_total"), " in all");
        if (figures_long(s, 0, "cached_total"))
            add_number(&text, ", of them ", figures_double(s, 0, "cached_total"), " cached");
        line(v, "prompt", buf_str(&text));
    } else {
        line(v, "prompt", "the server did not report its tokens");
    }
    buf_clear(&text);
    if (figures_long(s, 0, "completion_said")) {
        add_number(&text, "", figures_double(s, 0, "completion_total"), " in all");
        if (figures_long(s, 0, "reasoning_total"))
            add_number(&text, ", of them ", figures_double(s, 0, "reasoning_total"), " reasoning");
        if (!figures_null(s, 0, "completion_per_second"))
            add_number(&text, ", ", figures_double(s, 0, "completion_per_second"), " a second");
    } else {
        add_number(&text, "not reported; ", figures_double(s, 0, "token_events"),
                   " stream events carried text");
    }
    line(v, "completion", buf_str(&text));
    buf_release(&text);
}

static void load_lines(const struct view *v)
{
    const struct section *s = figures_get(v->f, "load");
    struct buf text = BUF_INIT;
    if (figures_null(s, 0, "peak_in_flight"))
        buf_addf(&text, "%ld asked for; the run has no end yet", figures_long(s, 0, "reachable"));
    else
        buf_addf(&text, "%ld at most, %ld asked for", figures_long(s, 0, "peak_in_flight"),
                 figures_long(s, 0, "reachable"));
    line(v, "in flight", buf_str(&text));
    buf_clear(&text);
    text_duration(&text, figures_double(s, 0, "wall_us"));
    buf_adds(&text, "; this client: ");
    if (figures_null(s, 0, "cpu_us"))
        buf_adds(&text, "CPU time not known");
    else {
        text_duration(&text, figures_double(s, 0, "cpu_us"));
        buf_adds(&text, " of CPU");
    }
    if (!figures_null(s, 0, "late_p99_us")) {
        buf_adds(&text, ", late by ");
        text_duration(&text, figures_double(s, 0, "late_p99_us"));
        buf_adds(&text, " (p99)");
    }
    if (!figures_null(s, 0, "wall_us"))
        line(v, "took", buf_str(&text));
    buf_release(&text);
}

static void quirks(const struct view *v)
{
    const struct section *s = figures_get(v->f, "quirks");
    if (!s->n_rows)
        return;
    heading(v, "Quirks of this server (rounds; they damage nothing)");
    struct grid g = {.align = "lrl", .wraps = true};
    for (size_t i = 0; i < s->n_rows && i < MAX_ROWS; i++) {
        struct buf name = BUF_INIT;
        add_safe(&name, figures_text(s, i, "quirk"));
        grid_add(&g, buf_str(&name));
        buf_release(&name);
        grid_addf(&g, "%ld/%ld", figures_long(s, i, "rounds"), figures_long(s, i, "of_rounds"));
        grid_add(&g, figures_text(s, i, "meaning"));
        grid_paint(&g, PAINT_DIM);
    }
    grid_print(&g, v->style, 2, v->out);
    if (s->n_rows > MAX_ROWS)
        buf_addf(v->out, "  and %zu more\n", s->n_rows - MAX_ROWS);
}

static void twins(const struct view *v)
{
    const struct section *s = figures_get(v->f, "twins");
    if (!s->n_rows)
        return;
    heading(v, "The same request in both forms (rounds)");
    struct grid g = {.align = "llr"};
    grid_add(&g, "streamed");
    grid_add(&g, "whole");
    grid_add(&g, "rounds");
    for (size_t i = 0; i < s->n_rows; i++) {
        const char *forms[] = {figures_text(s, i, "streamed"), figures_text(s, i, "whole")};
        for (size_t k = 0; k < 2; k++) {
            bool error = strncmp(forms[k], "error.", 6) == 0;
            grid_add(&g, forms[k]);
            if (strcmp(forms[k], "ok") != 0)
                grid_paint(&g, error ? PAINT_WARN : PAINT_BAD);
        }
        grid_addf(&g, "%ld", figures_long(s, i, "rounds"));
    }
    grid_print(&g, v->style, 2, v->out);
}

static void notes(const struct view *v)
{
    const struct section *warnings = figures_get(v->f, "warnings");
    const struct section *facts = figures_get(v->f, "facts");
    if (warnings->n_rows)
        heading(v, "Mind");
    for (size_t i = 0; i < warnings->n_rows; i++) {
        text_paint(v->out, v->style, PAINT_WARN, "  * ");
        text_wrap(v->out, figures_text(warnings, i, "text"), 4, v->columns);
    }
    if (facts->n_rows)
        heading(v, "Also noted");
    for (size_t i = 0; i < facts->n_rows; i++) {
        struct buf text = BUF_INIT;
        add_safe(&text, figures_text(facts, i, "key"));
        buf_adds(&text, ": ");
        add_safe(&text, figures_text(facts, i, "value"));
        buf_adds(v->out, "  ");
        text_wrap(v->out, buf_str(&text), 4, v->columns);
        buf_release(&text);
    }
}

static void look_at(const struct view *v)
{
    const struct section *s = figures_get(v->f, "damaged");
    const char *db = v->style->db;
    if (!s->n_rows || (db && strcmp(db, ":memory:") == 0))
        return;
    heading(v, "Look at the first damaged session");
    buf_addf(v->out, "  toolstorm show %ld %ld", figures_long(figures_get(v->f, "run"), 0, "run"),
             figures_long(s, 0, "session"));
    if (db) {
        buf_adds(v->out, " --db ");
        text_shell_word(v->out, db);
    }
    buf_addc(v->out, '\n');
}

static void summary_text(const struct view *v)
{
    headline(v);
    steady_line(v);
    load_lines(v);
    run_lines(v);
    reasons(v);
    first_bad(v);
    latency(v);
    heading(v, "Tokens");
    tokens(v);
    quirks(v);
    twins(v);
    notes(v);
    look_at(v);
}

int report_summary(struct store *s, long run, const struct report_style *style, struct buf *out,
                   struct err *err)
{
    struct figures f = {0};
    const struct binding bindings[] = {{.name = "run", .number = run}};
    int rc = -1;
    if (report_check_run(s, run, err) < 0 || words_sql_define(s, err) < 0 ||
        figures_read(&f, s, "reports/summary.sql", bindings, 1, err) < 0)
        goto out;
    if (style->json) {
        struct jsonw w = {.out = out};
        jsonw_object(&w);
        figures_write(&f, &w);
        jsonw_end_object(&w);
        buf_addc(out, '\n');
    } else {
        const struct view v = {&f, style, out, style->columns > 0 ? (size_t)style->columns : 80};
        summary_text(&v);
    }
    rc = 0;
out:
    figures_release(&f);
    return rc;
}
