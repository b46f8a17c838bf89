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

static void add_outcome(struct buf *out, const struct section *s)
{
    const char *class = figures_text(s, 0, "class");
    const char *element = strcmp(class, "error") == 0 ? "error" : "failure";
    buf_addf(out, "><%s", element);
    add_attribute(out, "type", figures_span(s, 0, "reason"));
    add_attribute(out, "message", figures_span(s, 0, "meaning"));
    buf_addf(out, ">round %ld", figures_long(s, 0, "round"));
    if (figures_text(s, 0, "note")[0]) {
        buf_adds(out, ": ");
        add_text(out, figures_span(s, 0, "note"));
    }
    buf_addf(out, "; toolstorm show %ld %ld</%s></testcase>\n", figures_long(s, 0, "run"),
             figures_long(s, 0, "session"), element);
}

static int add_case(void *arg, const struct section *s)
{
    struct buf *out = arg;
    if (!s->n_rows)
        return 0;
    buf_addf(out, "<testcase name=\"session %ld\"", figures_long(s, 0, "session"));
    add_attribute(out, "classname", figures_span(s, 0, "scenario"));
    buf_addf(out, " time=\"%.3f\"", figures_double(s, 0, "took_us") / 1e6);
    if (strcmp(figures_text(s, 0, "class"), "ok") == 0)
        buf_adds(out, "/>\n");
    else
        add_outcome(out, s);
    return 0;
}

static int add_suite(const struct digest *d, const struct section *runs, size_t i, struct buf *out,
                     struct err *err)
{
    static const char sql[] =
        "SELECT s.run, session, class, reason, reason_meaning(reason) AS meaning, scenario, "
        "end_us - start_us AS took_us, iif(first_bad_round > 0, first_bad_round, rounds_played) AS "
        "round, (SELECT note FROM findings AS f WHERE f.run = s.run AND f.session = s.session AND "
        "f.reason = s.reason ORDER BY number LIMIT 1) AS note FROM sessions AS s JOIN runs USING "
        "(run) WHERE s.run = :run AND NOT warmup ORDER BY session";
    const struct binding binding = {.name = "run", .number = figures_long(runs, i, "run")};
    buf_addf(out, "<testsuite id=\"%ld\"", figures_long(runs, i, "run"));
    add_attribute(out, "name", figures_span(runs, i, "name"));
    buf_addf(out, " tests=\"%ld\" failures=\"%ld\" errors=\"%ld\" skipped=\"0\"",
             figures_long(runs, i, "finished"), figures_long(runs, i, "corrupted"),
             figures_long(runs, i, "error"));
    buf_addf(out, " time=\"%.3f\"", (double)figures_long(runs, i, "wall_us") / 1e6);
    add_attribute(out, "timestamp", figures_span(runs, i, "started"));
    buf_adds(out, ">\n<properties><property name=\"corruption\"");
    add_attribute(out, "value", figures_span(runs, i, "text"));
    buf_adds(out, "/></properties>\n");
    int rc = figures_stream(d->store, sql, &binding, 1, add_case, out, err);
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
