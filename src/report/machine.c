/* machine.c - a report for programs: JSON, lines of JSON, CSV, metrics. The figures are the cells
 * that the page and the Markdown show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "json.h"
#include "store.h"

void machine_json(const struct digest *d, struct buf *out)
{
    struct jsonw w = {.out = out};
    struct buf headline = BUF_INIT;
    digest_headline(d, &headline);
    jsonw_object(&w);
    jsonw_key(&w, "headline");
    jsonw_span(&w, buf_span(&headline));
    figures_write(&d->figures, &w);
    jsonw_key(&w, "comparison");
    if (d->compared)
        compare_write_json(&d->compare, &w);
    else
        jsonw_null(&w);
    jsonw_key(&w, "not_compared");
    jsonw_text(&w, d->why_not);
    jsonw_end_object(&w);
    buf_addc(out, '\n');
    buf_release(&headline);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* `{"kind":"session",` and the row's members. */
static void add_line(struct buf *out, const char *kind, const struct section *s, size_t row)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    jsonw_key(&w, "kind");
    jsonw_text(&w, kind);
    figures_write_members(s, row, &w);
    jsonw_end_object(&w);
    buf_addc(out, '\n');
}

struct lines {
    const struct digest *digest;
    struct buf *out;
    struct err *err;
};

static int session_line(void *arg, const struct section *s)
{
    struct lines *l = arg;
    if (s->n_rows)
        add_line(l->out, "session", s, 0);
    return digest_pass_on(l->digest, l->out, l->err);
}

int machine_jsonl(const struct digest *d, struct buf *out, struct err *err)
{
    static const char sql[] =
        "SELECT run, session, class, reason, first_bad_round, rounds_played, ramp AS \"ramp?\", "
        "warmup AS \"warmup?\", start_order, start_us, end_us FROM sessions "
        "WHERE run IN (SELECT value FROM json_each(:runs)) ORDER BY run, session";
    static const char *const kinds[][2] = {{"configs", "configuration"}, {"runs", "run"}};
    for (size_t k = 0; k < 2; k++) {
        const struct section *s = figures_get(&d->figures, kinds[k][0]);
        for (size_t i = 0; i < s->n_rows; i++)
            add_line(out, kinds[k][1], s, i);
    }
    const struct binding binding = {.name = "runs", .text = d->runs};
    struct lines lines = {d, out, err};
    return figures_stream(d->store, sql, &binding, 1, session_line, &lines, err);
}

/* --- CSV, after RFC 4180 with plain line feeds --------------------------------------------------
 */

static void add_field(struct buf *out, const struct section *s, size_t row, const char *column)
{
    struct span text = figures_span(s, row, column);
    struct jsonw number = {.out = out};
    double d = figures_double(s, row, column);
    if (!isnan(d)) {
        jsonw_double(&number, d);
        return;
    }
    /* A cell that begins so is a formula to spreadsheets. */
    bool formula = text.len && strchr("=+-@\t", text.data[0]);
    buf_addc(out, '"');
    if (formula)
        buf_addc(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buf_addc(out, '"');
        buf_addc(out, text.data[i]);
    }
    buf_addc(out, '"');
}

void machine_csv(const struct digest *d, struct buf *out)
{
    static const char *const columns[] = {
        "config",   "name",  "tags",        "runs",           "unfinished", "starts",
        "scenario", "model", "concurrency", "peak_in_flight", "finished",   "corrupted",
        "judged",   "leak",  "no_tool",     "error",          "ok",         "rate",
        "low",      "bound", "percent",     "text",
    };
    const struct section *s = figures_get(&d->figures, "configs");
    size_t n = sizeof columns / sizeof columns[0];
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%s", i ? "," : "", columns[i]);
    buf_addc(out, '\n');
    for (size_t row = 0; row < s->n_rows; row++) {
        for (size_t i = 0; i < n; i++) {
            buf_adds(out, i ? "," : "");
            if (!figures_null(s, row, columns[i]))
                add_field(out, s, row, columns[i]);
        }
        buf_addc(out, '\n');
    }
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void add_label(struct buf *out, const char *name, struct span value)
{
    buf_addf(out, "%s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c == '\n')
            buf_adds(out, "\\n");
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else
            buf_addc(out, c);
    }
    buf_addc(out, '"');
}

/* `NAME{configuration="...",...,KEY="WORD"} VALUE`; nothing if there is no value. */
static void add_sample(struct buf *out, const char *name, const struct section *s, size_t row,
                       const char *extra, double value)
{
    if (isnan(value))
        return;
    struct jsonw number = {.out = out};
    buf_addf(out, "%s{", name);
    add_label(out, "configuration", figures_span(s, row, "name"));
    buf_addf(out, "%s%s} ", extra[0] ? "," : "", extra);
    jsonw_double(&number, value);
    buf_addc(out, '\n');
}

static void add_help(struct buf *out, const char *name, const char *help)
{
    buf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void prom_latency(const struct digest *d, struct buf *out)
{
    static const struct {
        const char *column, *label;
    } quantiles[] = {{"p50_us", "quantile=\"0.5\""},
                     {"p95_us", "quantile=\"0.95\""},
                     {"p99_us", "quantile=\"0.99\""}};
    static const char *const metrics[][3] = {
        {"ttft", "toolstorm_ttft_seconds", "Time to the first token."},
        {"itl", "toolstorm_itl_seconds", "Time between two tokens, mean of a round."},
        {"round", "toolstorm_round_seconds", "Time of a whole round."}};
    const struct section *s = figures_get(&d->figures, "latency");
    for (size_t m = 0; m < 3; m++) {
        add_help(out, metrics[m][1], metrics[m][2]);
        for (size_t i = 0; i < s->n_rows; i++)
            for (size_t q = 0; q < 3 && strcmp(figures_text(s, i, "metric"), metrics[m][0]) == 0;
                 q++)
                add_sample(out, metrics[m][1], s, i, quantiles[q].label,
                           figures_double(s, i, quantiles[q].column) / 1e6);
    }
}

void machine_prom(const struct digest *d, struct buf *out)
{
    static const struct {
        const char *name, *column, *extra, *help;
    } rows[] = {
        {"toolstorm_sessions", "leak", "class=\"leak\"", "Finished sessions by class."},
        {"toolstorm_sessions", "no_tool", "class=\"no_tool\"", NULL},
        {"toolstorm_sessions", "error", "class=\"error\"", NULL},
        {"toolstorm_sessions", "ok", "class=\"ok\"", NULL},
        {"toolstorm_judged_sessions", "judged", "", "Sessions that could be judged."},
        {"toolstorm_corrupted_sessions", "corrupted", "", "Sessions of class leak or no_tool."},
        {"toolstorm_corruption_ratio", "rate", "", "Corrupted among judged sessions."},
        {"toolstorm_corruption_ratio_low", "low", "", "Lower end of its 95% interval."},
        {"toolstorm_corruption_ratio_high", "bound", "",
         "Upper end of it; the one-sided 95% bound if none was corrupted."},
        {"toolstorm_runs", "runs", "", "Runs of the configuration."},
        {"toolstorm_unfinished_runs", "unfinished", "",
         "Runs that did not finish: killed, interrupted, or still going on."},
    };
    const struct section *s = figures_get(&d->figures, "configs");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (rows[k].help)
            add_help(out, rows[k].name, rows[k].help);
        for (size_t i = 0; i < s->n_rows; i++)
            add_sample(out, rows[k].name, s, i, rows[k].extra,
                       figures_double(s, i, rows[k].column));
    }
    prom_latency(d, out);
}
