/* html.c - the page: which sections there are and in which order. It loads nothing, runs nothing,
 * and its figures are cells of the report's sections. */
#include "html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "digest.h"
#include "embed.h"
#include "mem.h"
#include "store.h"
#include "text.h"
#include "verdict.h"

#define N(columns)  (sizeof(columns) / sizeof(columns)[0])
#define MAX_FACTS   200         /* rows of tables of settings and facts */
#define MAX_SERVER  20000       /* bytes shown of what a server says of itself */
#define CONTEXT     160         /* bytes of long texts, at both ends and around damage */
#define MAX_SESSION 60000       /* bytes of one transcript */
#define MAX_PAGE    (4ul << 20) /* beyond this the sessions are listed, not shown */

static void heading(struct buf *out, const char *id, const char *text)
{
    buf_addf(out, "<h2 id=\"%s\">%s</h2>\n", id, text);
}

static void head(struct buf *out)
{
    const struct embedded *css = embed_find("reports/report.css");
    buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; img-src data:\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n"
                  "<title>toolstorm report</title>\n<style>\n");
    buf_add(out, css->data, css->len);
    buf_adds(out, "</style>\n</head>\n<body>\n");
}

/* --- verdict ---------------------------------------------------------------------------------- */

static void facts_line(const struct digest *d, struct buf *out)
{
    const struct section *a = figures_get(&d->figures, "about");
    buf_addf(out, "<p class=\"facts\"><span>%ld %s in %ld %s</span> <span>",
             figures_long(a, 0, "runs"), figures_long(a, 0, "runs") == 1 ? "run" : "runs",
             figures_long(a, 0, "configs"),
             figures_long(a, 0, "configs") == 1 ? "configuration" : "configurations");
    text_count(out, figures_long(a, 0, "finished"));
    buf_adds(out, " sessions finished</span> <span>");
    text_count(out, figures_long(a, 0, "error"));
    buf_adds(out, " not judged (errors)</span> <span>");
    html_text(out, figures_text(a, 0, "first_started"));
    if (strcmp(figures_text(a, 0, "first_started"), figures_text(a, 0, "last_started")) != 0) {
        buf_adds(out, " to ");
        html_text(out, figures_text(a, 0, "last_started"));
    }
    buf_adds(out, " UTC</span></p>\n");
}

static void warnings(const struct digest *d, struct buf *out)
{
    const struct section *w = figures_get(&d->figures, "warnings");
    if (!w->n_rows)
        return;
    buf_adds(out, "<h3>Mind</h3>\n<ul class=\"mind\">\n");
    for (size_t i = 0; i < w->n_rows && i < MAX_FACTS; i++) {
        buf_adds(out, "<li>");
        html_text(out, figures_text(w, i, "text"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ul>\n");
}

static void contents(struct buf *out, bool damaged)
{
    buf_addf(out,
             "<nav><a href=\"#rates\">Rates</a> <a href=\"#where\">Where it happens</a> <a "
             "href=\"#latency\">Latency</a> %s<a href=\"#settings\">Settings</a> <a "
             "href=\"#repeat\">How to repeat it</a></nav>\n",
             damaged ? "<a href=\"#sessions\">Damaged sessions</a> " : "");
}

static void verdict(const struct digest *d, struct buf *out)
{
    const struct section *a = figures_get(&d->figures, "about");
    struct buf text = BUF_INIT;
    const char *class = figures_long(a, 0, "corrupted") ? "bad"
                        : figures_long(a, 0, "judged")  ? "none"
                                                        : "unknown";
    digest_headline(d, &text);
    buf_addf(out,
             "<h1>Tool calls under load: what came back damaged</h1>\n<div class=\"verdict "
             "%s\"><p class=\"headline\">",
             class);
    html_text(out, buf_str(&text));
    buf_adds(out, "</p></div>\n");
    facts_line(d, out);
    contents(out, figures_long(a, 0, "corrupted") > 0);
    warnings(d, out);
    buf_release(&text);
}

/* --- rates and comparison --------------------------------------------------------------------- */

static void lines_as_list(struct buf *out, const char *lines)
{
    buf_adds(out, "<ul class=\"mind\">\n");
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        buf_adds(out, "<li>");
        html_span(out, (struct span){lines, n}, false);
        buf_adds(out, "</li>\n");
        lines += n + (lines[n] == '\n');
    }
    buf_adds(out, "</ul>\n");
}

static void comparison(const struct digest *d, struct buf *out)
{
    if (d->why_not) {
        buf_adds(out, "<h3>May one say that they differ?</h3>\n<p>They were not compared: ");
        html_text(out, d->why_not);
        buf_adds(out, ".</p>\n");
    }
    if (!d->compared)
        return;
    buf_adds(out, "<h3>May one say that they differ?</h3>\n");
    for (size_t i = 0; i + 1 < d->compare.n_arms; i++) {
        const struct comparison *c = &d->compare.comparisons[i];
        struct buf text = BUF_INIT;
        buf_adds(out, "<details class=\"comparison\"><summary><b>");
        html_text(out, c->a->name);
        buf_adds(out, "</b> to <b>");
        html_text(out, c->b->name);
        buf_addf(out, "</b>: %s. ", verdict_word(c->result.verdict));
        compare_write_sentence(&d->compare, i, &text);
        html_text(out, buf_str(&text));
        buf_adds(out, "</summary>\n");
        buf_clear(&text);
        compare_write_lines(&d->compare, i, &text);
        lines_as_list(out, buf_str(&text));
        buf_adds(out, "</details>\n");
        buf_release(&text);
    }
}

static void rates(const struct digest *d, struct buf *out)
{
    heading(out, "rates", "Rates per configuration");
    chart_rates(out, figures_get(&d->figures, "configs"), figures_get(&d->figures, "runs"));
    comparison(d, out);
    const struct section *matrix = figures_get(&d->figures, "matrix");
    if (matrix->n_rows > 1)
        buf_adds(out, "<h3>By tags</h3>\n");
    chart_matrix(out, matrix);
}

static void subheading(struct buf *out, const struct section *s, const char *text)
{
    if (s->n_rows)
        buf_addf(out, "<h3>%s</h3>\n", text);
}

static void where(const struct digest *d, struct buf *out)
{
    static const struct {
        const char *section, *title, *bin, *of;
    } bins[] = {
        {"first_bad", "First damaged round", "round of the session",
         "Sessions that began it clean"},
        {"in_flight", "By requests in flight when it was sent", "requests in flight",
         "Judged replies"},
        {"ordinal", "By what the run had sent before", "request number in the run",
         "Judged replies"},
    };
    heading(out, "where", "Where it happens");
    subheading(out, figures_get(&d->figures, "reasons"), "Reasons");
    chart_reasons(out, figures_get(&d->figures, "reasons"));
    for (size_t i = 0; i < N(bins); i++) {
        const struct section *s = figures_get(&d->figures, bins[i].section);
        subheading(out, s, bins[i].title);
        chart_bins(out, s, bins[i].bin, bins[i].of);
    }
    subheading(out, figures_get(&d->figures, "timeline"), "Timeline");
    chart_timeline(out, figures_get(&d->figures, "timeline"));
    if (!figures_get(&d->figures, "reasons")->n_rows)
        buf_adds(out, "<p>Nothing was damaged and nothing failed.</p>\n");
}

/* --- sessions --------------------------------------------------------------------------------- */

static int transcript(const struct digest *d, long run, long session, struct buf *out,
                      struct err *err)
{
    static const struct report_style style = {.colour = true, .columns = 100};
    const struct report_show request = {
        .run = run, .session = session, .context = CONTEXT, .wire = d->request->wire};
    struct buf text = {.cap = MAX_SESSION};
    int rc = report_show(d->store, &request, &style, &text, err);
    buf_adds(out, "<pre>");
    html_terminal(out, buf_span(&text));
    buf_adds(out, text.full ? "\n[...]</pre>" : "</pre>");
    buf_release(&text);
    return rc;
}

static int one_session(const struct digest *d, const struct section *s, size_t i, struct buf *out,
                       struct err *err)
{
    long run = figures_long(s, i, "run"), session = figures_long(s, i, "session");
    buf_addf(out,
             "<details class=\"session\" id=\"s-%ld-%ld\"><summary><code class=\"bad\">%s</code> "
             "session %ld of run %ld, round %ld <span class=\"what\">",
             run, session, figures_text(s, i, "reason"), session, run, figures_long(s, i, "round"));
    html_text(out, figures_text(s, i, "name"));
    if (figures_text(s, i, "note")[0]) {
        buf_adds(out, ": ");
        html_span(out, figures_span(s, i, "note"), false);
    }
    buf_adds(out, "</span></summary>");
    int rc = transcript(d, run, session, out, err);
    buf_adds(out, "</details>\n");
    return rc;
}

static int sessions(const struct digest *d, struct buf *out, struct err *err)
{
    static const struct listed columns[] = {
        {"run", "Run", LISTED_COUNT},           {"session", "Session", LISTED_COUNT},
        {"round", "Round", LISTED_COUNT},       {"reason", "Reason", LISTED_CODE},
        {"name", "Configuration", LISTED_TEXT}, {"in_flight", "In flight", LISTED_COUNT},
        {"note", "Note", LISTED_TEXT},
    };
    const struct section *s = figures_get(&d->figures, "damaged");
    if (!s->n_rows)
        return 0;
    heading(out, "sessions", "Damaged sessions");
    buf_adds(out,
             "<p>Each opens to what was said, with the damage marked; the first of each reason "
             "stands in front.</p>\n");
    size_t shown = 0;
    for (; shown < s->n_rows && (long)shown < d->request->transcripts && out->len < MAX_PAGE;
         shown++)
        if (one_session(d, s, shown, out, err) != 0)
            return -1;
    if (shown < s->n_rows) {
        buf_addf(out, "<details class=\"figures\"><summary>All %zu as a table%s</summary>",
                 s->n_rows, s->n_rows == 2000 ? ", the first 2,000" : "");
        html_table(out, s, columns, N(columns), 2000);
        buf_adds(out, "</details>\n");
    }
    return 0;
}

/* --- settings and repeating ------------------------------------------------------------------- */

static void settings(const struct digest *d, struct buf *out)
{
    static const struct listed run_columns[] = {
        {"run", "Run", LISTED_COUNT},
        {"name", "Configuration", LISTED_TEXT},
        {"tags", "Tags", LISTED_TEXT},
        {"text", "Rate and 95% interval", LISTED_TEXT},
        {"error", "Errors", LISTED_COUNT},
        {"sessions", "Sessions", LISTED_COUNT},
        {"concurrency", "In flight", LISTED_COUNT},
        {"peak_in_flight", "reached", LISTED_COUNT},
        {"rounds", "Rounds", LISTED_COUNT},
        {"context_tokens", "Context", LISTED_COUNT},
        {"scenario", "Scenario", LISTED_TEXT},
        {"seed", "Seed", LISTED_COUNT},
        {"model", "Model", LISTED_TEXT},
        {"took_us", "Took", LISTED_TIME},
        {"started", "Started (UTC)", LISTED_TEXT},
        {"status", "Ended", LISTED_TEXT},
        {"unfinished", "Did not finish", LISTED_TEXT},
    };
    static const struct listed columns[] = {{"key", "Option", LISTED_CODE},
                                            {"value", "Value", LISTED_CODE},
                                            {"runs", "Runs", LISTED_TEXT}};
    static const struct listed server[] = {{"runs", "Runs", LISTED_TEXT},
                                           {"said", "Said", LISTED_CODE}};
    static const struct listed quirks[] = {{"quirk", "Quirk", LISTED_CODE},
                                           {"rounds", "Rounds", LISTED_COUNT},
                                           {"of_rounds", "Of", LISTED_COUNT},
                                           {"meaning", "Meaning", LISTED_TEXT}};
    static const struct listed facts[] = {{"run", "Run", LISTED_COUNT},
                                          {"key", "What", LISTED_TEXT},
                                          {"value", "Value", LISTED_TEXT}};
    bool finished = figures_long(figures_get(&d->figures, "about"), 0, "unfinished") == 0;
    const struct {
        const char *section, *title;
        const struct listed *columns;
        size_t n;
    } tables[] = {
        {"runs", "Runs", run_columns, N(run_columns) - (finished ? 1 : 0)},
        {"settings", "Options in force", columns, N(columns)},
        {"server", "What the servers say of themselves", server, N(server)},
        {"quirks", "Quirks of the servers, which damage nothing", quirks, N(quirks)},
        {"facts", "Also noted by the runs", facts, N(facts)},
    };
    heading(out, "settings", "Settings and servers");
    for (size_t i = 0; i < N(tables); i++) {
        const struct section *s = figures_get(&d->figures, tables[i].section);
        if (!s->n_rows)
            continue;
        buf_addf(out, "<details%s><summary>%s</summary>\n", i ? "" : " open", tables[i].title);
        html_table(out, s, tables[i].columns, tables[i].n, MAX_FACTS);
        buf_adds(out, "</details>\n");
    }
}

static void repeat(const struct digest *d, struct buf *out)
{
    const struct section *configs = figures_get(&d->figures, "configs");
    const struct section *runs = figures_get(&d->figures, "runs");
    const struct section *damaged = figures_get(&d->figures, "damaged");
    struct buf db = BUF_INIT;
    heading(out, "repeat", "How to repeat it");
    if (d->request->db) {
        buf_adds(&db, " --db ");
        text_shell_word(&db, d->request->db);
    }
    for (size_t i = 0; i < configs->n_rows; i++)
        for (size_t k = 0; k < runs->n_rows; k++)
            if (figures_long(runs, k, "run") == figures_long(configs, i, "first_run")) {
                buf_adds(out, "<h3>");
                html_text(out, figures_text(configs, i, "name"));
                buf_adds(out, "</h3><pre>");
                struct buf command = BUF_INIT;
                command_portable(&command, figures_span(runs, k, "command"));
                html_span(out, buf_span(&command), true);
                buf_release(&command);
                buf_adds(out, "</pre>\n");
            }
    if (damaged->n_rows) {
        long run = figures_long(damaged, 0, "run"), session = figures_long(damaged, 0, "session");
        buf_adds(out, "<h3>A damaged session</h3><pre>");
        buf_addf(out, "toolstorm show %ld %ld", run, session);
        html_text(out, buf_str(&db));
        buf_addf(out, "\ntoolstorm replay %ld %ld --alone", run, session);
        html_text(out, buf_str(&db));
        buf_adds(out, "</pre>\n");
    }
    buf_release(&db);
}

int html_write(const struct digest *d, struct buf *out, struct err *err)
{
    head(out);
    verdict(d, out);
    rates(d, out);
    where(d, out);
    heading(out, "latency", "Latency");
    chart_latency(out, figures_get(&d->figures, "latency"));
    int rc = sessions(d, out, err);
    settings(d, out);
    repeat(d, out);
    buf_addf(out,
             "<footer>toolstorm %s; every figure is in the database that this page was made "
             "from.</footer>\n</body>\n</html>\n",
             TOOLSTORM_VERSION);
    return rc;
}
