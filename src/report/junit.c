/* junit.c - a run as a suite of tests, a session as a test case, as CI systems read it. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "store.h"
#include "text.h"

/* XML has no way to write most control characters: text_safe() has made them visible. */
static void add_text(struct buf *out, struct span text)
{
    struct buf safe = BUF_INIT;
    text_safe(&safe, text, false);
    for (size_t i = 0; i < safe.len; i++) {
        switch (safe.data[i]) {
        case '&': buf_adds(out, "&amp;"); break;
        case '<': buf_adds(out, "&lt;"); break;
        case '>': buf_adds(out, "&gt;"); break;
        case '"': buf_adds(out, "&quot;"); break;
        default: buf_addc(out, safe.data[i]);
        }
    }
    buf_release(&safe);
}

static void add_attribute(struct buf *out, const char *name, struct span value)
{
    buf_addf(out, " %s=\"", name);
    add_text(out, value);
    buf_addc(out, '"');
}

static void add_text_attribute(struct buf *out, const char *name, const char *value)
{
    add_attribute(out, name, span_of(value));
}

/* Columns of a session's row. */
enum { SESSION, CLASS, REASON, MEANING, TOOK_US, ROUND, NOTE };

static void add_outcome(struct buf *out, const struct query *q, long run)
{
    const char *element = strcmp(query_text(q, CLASS), "error") == 0 ? "error" : "failure";
    buf_addf(out, "><%s", element);
    add_text_attribute(out, "type", query_text(q, REASON));
    add_text_attribute(out, "message", query_text(q, MEANING));
    buf_addf(out, ">round %ld", query_long(q, ROUND));
    if (query_text(q, NOTE)[0]) {
        buf_adds(out, ": ");
        add_text(out, query_bytes(q, NOTE));
    }
    buf_addf(out, "; toolstorm show %ld %ld</%s></testcase>\n", run, query_long(q, SESSION),
             element);
}

/* `scenario` is an attribute, the same for all sessions of the run. */
static void add_case(struct buf *out, const struct query *q, long run, const struct buf *scenario)
{
    buf_adds(out, "<testcase name=\"session ");
    buf_add_long(out, query_long(q, SESSION));
    buf_addc(out, '"');
    buf_add(out, buf_str(scenario), scenario->len);
    buf_adds(out, " time=\"");
    text_seconds(out, query_long(q, TOOK_US));
    buf_addc(out, '"');
    if (strcmp(query_text(q, CLASS), "ok") == 0)
        buf_adds(out, "/>\n");
    else
        add_outcome(out, q, run);
}

/* The sessions are not kept as figures: there may be a million. */
static int add_cases(const struct digest *d, const struct section *runs, size_t i, struct buf *out,
                     struct err *err)
{
    static const char sql[] =
        "SELECT session, class, reason, iif(class = 'ok', NULL, reason_meaning(reason)), "
        "end_us - start_us, iif(first_bad_round > 0, first_bad_round, rounds_played), "
        "iif(class = 'ok', NULL, (SELECT note FROM findings AS f WHERE f.run = s.run AND "
        "f.session = s.session AND f.reason = s.reason ORDER BY number LIMIT 1)) "
        "FROM sessions AS s WHERE run = :run AND NOT warmup ORDER BY session";
    struct query *q = store_query(d->store, sql, err);
    if (!q)
        return -1;
    long run = figures_long(runs, i, "run");
    struct buf scenario = BUF_INIT;
    add_attribute(&scenario, "classname", figures_span(runs, i, "scenario"));
    query_bind_long(q, "run", run);
    int rc;
    while ((rc = query_step(q, err)) == 1) {
        add_case(out, q, run, &scenario);
        if (digest_pass_on(d, out, err) != 0) {
            rc = -1;
            break;
        }
    }
    buf_release(&scenario);
    query_free(q);
    return rc;
}

static int add_suite(const struct digest *d, const struct section *runs, size_t i, struct buf *out,
                     struct err *err)
{
    buf_addf(out, "<testsuite id=\"%ld\"", figures_long(runs, i, "run"));
    add_attribute(out, "name", figures_span(runs, i, "name"));
    buf_addf(out, " tests=\"%ld\" failures=\"%ld\" errors=\"%ld\" skipped=\"0\"",
             figures_long(runs, i, "finished"), figures_long(runs, i, "corrupted"),
             figures_long(runs, i, "error"));
    buf_adds(out, " time=\"");
    text_seconds(out, figures_long(runs, i, "took_us"));
    buf_addc(out, '"');
    add_attribute(out, "timestamp", figures_span(runs, i, "started"));
    buf_adds(out, ">\n<properties><property name=\"corruption\"");
    add_attribute(out, "value", figures_span(runs, i, "text"));
    buf_adds(out, "/>");
    if (!figures_null(runs, i, "unfinished")) {
        buf_adds(out, "<property name=\"unfinished\"");
        add_attribute(out, "value", figures_span(runs, i, "unfinished"));
        buf_adds(out, "/>");
    }
    buf_adds(out, "</properties>\n");
    int rc = add_cases(d, runs, i, out, err);
    if (!figures_null(runs, i, "unfinished"))
        buf_addf(out,
                 "<system-err>The run did not finish: %s. %ld of %ld sessions did.</system-err>\n",
                 figures_text(runs, i, "unfinished"), figures_long(runs, i, "stored"),
                 figures_long(runs, i, "sessions"));
    buf_adds(out, "</testsuite>\n");
    return rc;
}

int junit_write(const struct digest *d, struct buf *out, struct err *err)
{
    const struct section *about = figures_get(&d->figures, "about");
    const struct section *runs = figures_get(&d->figures, "runs");
    buf_addf(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"toolstorm\" "
             "tests=\"%ld\" failures=\"%ld\" errors=\"%ld\">\n",
             figures_long(about, 0, "finished"), figures_long(about, 0, "corrupted"),
             figures_long(about, 0, "error"));
    for (size_t i = 0; i < runs->n_rows; i++)
        if (add_suite(d, runs, i, out, err) != 0)
            return -1;
    buf_adds(out, "</testsuites>\n");
    return 0;
}
