// layers: report store wire chat stats base
/* test_digest.c - reports of several runs: scales of plots, escaping, the Markdown and the metrics
 * of a fixed database, and its page's marks. */
#include "axis.h"
#include "command.h"
#include "digest.h"
#include "embed.h"
#include "html.h"
#include "json.h"
#include "listed.h"
#include "report_fixture.h"
#include "schema.h"
#include "text.h"

static void axes(void)
{
    /* Whatever the range: round ends that hold it, rising ticks, labels that have room. */
    for (double top = 1e-7; top < 1e9; top *= 1.37) {
        struct axis a = axis_linear(top);
        double ticks[AXIS_MAX_TICKS];
        size_t n = axis_ticks(&a, ticks);
        CHECK(a.max >= top * (1 - 1e-9) && a.max <= top * 2.5);
        CHECK(n >= 4 && n <= 6);
        CHECK_NEAR(ticks[0], 0, 1e-9);
        CHECK_NEAR(ticks[n - 1], a.max, 1e-9);
        CHECK_NEAR(axis_at(&a, a.max / 2), 0.5, 1e-9);
        struct axis l = axis_log(top, top * (1 + top));
        n = axis_ticks(&l, ticks);
        CHECK(l.min <= top && l.max >= top * (1 + top) * (1 - 1e-9));
        CHECK(n >= 2 && n <= AXIS_MAX_TICKS);
        for (size_t i = 1; i < n; i++)
            CHECK(ticks[i] > ticks[i - 1]);
    }
    struct axis a = axis_linear(10);
    CHECK_NEAR(axis_at(&a, -5), 0, 1e-9);
    CHECK_NEAR(axis_at(&a, 50), 1, 1e-9);
    CHECK_NEAR(axis_at(&a, NAN), 0, 1e-9);
    a = axis_linear(0);
    CHECK(a.max > 0);
    a = axis_log(0, 0);
    CHECK(a.min > 0 && a.max > a.min);
}

static void escaping(void)
{
    struct buf out = BUF_INIT;
    html_text(&out, "<a href='x'>&\"</a>\x1b[31m \xe2\x80\xae");
    CHECK_STR(buf_str(&out),
              "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;\\x1b[31m &lt;U+202E&gt;");
    buf_clear(&out);
    /* Paint of the terminal becomes classes; no other escape gets through. */
    static const struct report_style colour = {.colour = true};
    struct buf text = BUF_INIT;
    text_paint(&text, &colour, PAINT_BAD, "<bad>");
    buf_adds(&text, " & ");
    text_paint_on(&text, &colour, PAINT_MARK);
    buf_adds(&text, "open");
    html_terminal(&out, buf_span(&text));
    CHECK_STR(buf_str(&out), "<span class=\"bad\">&lt;bad&gt;</span> &amp; "
                             "<span class=\"damage\">open</span>");
    buf_release(&text);
    buf_release(&out);
}

static void portable(const char *command, const char *want)
{
    struct buf out = BUF_INIT;
    command_portable(&out, span_of(command));
    CHECK_STR(buf_str(&out), want);
    buf_release(&out);
}

static void commands(void)
{
    portable("toolstorm run --db '/home/a b/x.db' -q --sessions 4", "toolstorm run --sessions 4");
    portable("toolstorm run --db=/x --label 'it'\\''s --db' --quiet",
             "toolstorm run --label 'it'\\''s --db'");
    portable("toolstorm run --dbx 1  --output json", "toolstorm run --dbx 1");
    portable("--db", "");
    portable("", "");
}

static size_t count_of(const struct buf *b, const char *needle)
{
    size_t n = 0;
    for (long at = -1; (at = span_find(buf_span(b), span_of(needle), (size_t)(at + 1))) >= 0;)
        n++;
    return n;
}

/* The JSON form is what schemas/report.schema.json promises. */
static void check_json(const struct digest *d)
{
    struct err err = {0};
    struct buf out = BUF_INIT;
    const struct embedded *file = embed_find("schemas/report.schema.json");
    struct json *rules = file ? json_parse((struct span){file->data, file->len}, &err) : NULL;
    struct schema *schema = rules ? schema_new(rules, &err) : NULL;
    machine_json(d, &out);
    struct json *v = json_parse(buf_span(&out), &err);
    CHECK(schema && v && schema_check(schema, v, &err) == 0);
    CHECK_STR(err.text, "");
    json_free(v);
    schema_free(schema);
    json_free(rules);
    buf_release(&out);
}

static void forms(struct store *s)
{
    struct err err = {0};
    const struct digest_request request = {.transcripts = 3, .db = "toolstorm.db"};
    struct digest d;
    struct buf out = BUF_INIT;
    CHECK_INT(digest_read(&d, s, &request, &err), 0);
    CHECK_STR(err.text, "");
    check_json(&d);
    md_write(&d, &out);
    expect_golden("report.md", &out);
    buf_clear(&out);
    machine_prom(&d, &out);
    expect_golden("report.prom", &out);
    buf_clear(&out);
    machine_csv(&d, &out);
    expect_golden("report.csv", &out);
    buf_clear(&out);
    CHECK_INT(junit_write(&d, &out, &err), 0);
    CHECK_INT(count_of(&out, "<testcase "), 120);
    CHECK_INT(count_of(&out, "<failure "), 4);
    CHECK_INT(count_of(&out, "<error "), 2);
    CHECK_INT(count_of(&out, "tests=\"40\" failures=\"4\" errors=\"0\""), 1);
    buf_clear(&out);
    CHECK_INT(html_write(&d, &out, &err), 0);
    CHECK_INT(count_of(&out, "<details class=\"session\""), 3);
    CHECK_INT(count_of(&out, "4/40 = 10.0% [2.7, 23.7]") >= 3, 1);
    CHECK_INT(count_of(&out, "<section"), 0);
    CHECK_INT(count_of(&out, "<script"), 0);
    CHECK_INT(count_of(&out, "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"),
              1);
    CHECK_INT(count_of(&out, "<details"), (long long)count_of(&out, "</details>"));
    CHECK_INT(count_of(&out, "<div"), (long long)count_of(&out, "</div>"));
    CHECK_INT(count_of(&out, "<svg"), (long long)count_of(&out, "</svg>"));
    buf_release(&out);
    digest_release(&d);
}

/* Runs that may not be compared are reported, and why is said. */
static void unlike(struct store *s)
{
    struct err err = {0};
    struct fixture other = {.label = "crowd", .sessions = 40, .concurrency = 20};
    add_run(s, &other);
    const struct digest_request request = {0};
    struct digest d;
    struct buf out = BUF_INIT;
    CHECK_INT(digest_read(&d, s, &request, &err), 0);
    CHECK(!d.compared && d.why_not);
    md_write(&d, &out);
    CHECK_INT(count_of(&out, "were not compared: unlike runs: 'concurrency' is "), 1);
    digest_release(&d);
    buf_clear(&out);
    static const char *const varying[] = {"concurrency"};
    const struct digest_request declared = {.varying = varying, .n_varying = 1};
    CHECK_INT(digest_read(&d, s, &declared, &err), 0);
    CHECK(d.compared);
    check_json(&d);
    digest_release(&d);
    /* A run of errors alone is reported, too. */
    struct fixture failed = {.label = "failed", .sessions = 10, .concurrency = 10, .errors = 1};
    failed.stored = 4;
    add_run(s, &failed);
    static const char *const alone[] = {"failed"};
    const struct digest_request failures = {.operands = alone, .n_operands = 1};
    CHECK_INT(digest_read(&d, s, &failures, &err), 0);
    CHECK_INT(html_write(&d, &out, &err), 0);
    check_json(&d);
    digest_release(&d);
    static const char *const nothing[] = {"crowds"};
    const struct digest_request unknown = {.operands = nothing, .n_operands = 1};
    CHECK_INT(digest_read(&d, s, &unknown, &err), -1);
    CHECK_INT(err.status, STATUS_USAGE);
    digest_release(&d);
    buf_release(&out);
}

static void expect(const struct buf *out, const char *words, size_t n)
{
    if (count_of(out, words) != n)
        fprintf(stderr, "not %zu times: %s\n", n, words);
    CHECK_INT(count_of(out, words), (long long)n);
}

/* A run that did not finish is told as that in every form, in words; what it took is known from its
 * sessions: the last of these ended after 14 * 50 ms + 1.2 s. */
static void unfinished(void)
{
    static const char killed[] = "it was killed, or is still going on";
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    begin_run(s,
              &(struct fixture){.label = "cut", .sessions = 200, .concurrency = 10, .stored = 14});
    const struct digest_request request = {0};
    struct digest d;
    struct buf out = BUF_INIT;
    CHECK_INT(digest_read(&d, s, &request, &err), 0);
    check_json(&d);
    md_write(&d, &out);
    expect(&out,
           "**No corruption was seen: 0/14: below 19.3% (95% upper bound). The run did not "
           "finish: it was killed, or is still going on.**",
           1);
    expect(&out,
           "- Run 1 did not finish: it was killed, or is still going on; its figures are those "
           "of the 14 of 200 sessions that did.",
           1);
    buf_clear(&out);
    CHECK_INT(html_write(&d, &out, &err), 0);
    expect(&out, "The run did not finish: it was killed, or is still going on.</p>", 1);
    expect(&out, "<li>Run 1 did not finish: ", 1);
    expect(&out, "<th>Did not finish</th>", 1);
    expect(&out, "1.90 s", 1);
    buf_clear(&out);
    machine_json(&d, &out);
    expect(&out, "\"unfinished\":1,", 2);
    expect(&out, "\"status\":\"running\",\"unfinished\":\"it was killed, or is still going on\"",
           1);
    expect(&out, "\"wall_us\":null,\"took_us\":1900000,", 1);
    buf_clear(&out);
    CHECK_INT(junit_write(&d, &out, &err), 0);
    expect(&out, "tests=\"14\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"1.900\"", 1);
    expect(&out, "<property name=\"unfinished\" value=\"it was killed, or is still going on\"/>",
           1);
    expect(&out,
           "<system-err>The run did not finish: it was killed, or is still going on. 14 of 200 "
           "sessions did.</system-err>\n</testsuite>",
           1);
    buf_clear(&out);
    machine_prom(&d, &out);
    expect(&out, "\ntoolstorm_unfinished_runs{configuration=\"cut\"} 1\n", 1);
    digest_release(&d);

    /* Of several runs they are counted; one that was interrupted has an end of its own. */
    add_run(s, &(struct fixture){.label = "whole", .sessions = 40, .concurrency = 10});
    add_run(s, &(struct fixture){.label = "cut", .sessions = 40, .concurrency = 10, .stored = 9});
    CHECK_INT(digest_read(&d, s, &request, &err), 0);
    check_json(&d);
    buf_clear(&out);
    digest_headline(&d, &out);
    expect(&out, " 2 of the 3 runs did not finish.", 1);
    buf_clear(&out);
    CHECK_INT(junit_write(&d, &out, &err), 0);
    expect(&out, "time=\"12.300\"", 2);
    expect(&out, "<system-err>", 2);
    expect(&out, "<system-err>The run did not finish: it was interrupted. 9 of 40 sessions did.",
           1);
    buf_clear(&out);
    machine_csv(&d, &out);
    expect(&out, "\n1,\"cut\",\"graph=off idxk=bf16\",2,2,2,", 1);
    expect(&out, "\n2,\"whole\",\"graph=off idxk=bf16\",1,0,1,", 1);
    digest_release(&d);

    buf_clear(&out);
    const struct report_filter all = {0};
    CHECK_INT(report_list(s, &all, &plain, &out, &err), 0);
    expect(&out, "14/200", 1);
    expect(&out, "did not finish: it was", 2);
    buf_clear(&out);
    CHECK_INT(report_summary(s, 1, &plain, &out, &err), 0);
    expect(&out, "  * the run did not finish: it was killed, or is still going on; the figures", 1);
    const struct report_show show = {.run = 1, .session = 3};
    buf_clear(&out);
    CHECK_INT(report_show(s, &show, &plain, &out, &err), 0);
    expect(&out, "\n  the run did not finish: it was killed, or is still going on\n", 1);
    const struct report_show whole = {.run = 2, .session = 3};
    buf_clear(&out);
    CHECK_INT(report_show(s, &whole, &plain, &out, &err), 0);
    expect(&out, killed, 0);
    CHECK_STR(err.text, "");
    buf_release(&out);
    store_close(s);
}

int main(void)
{
    struct err err = {0};
    axes();
    unfinished();
    escaping();
    commands();
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    const struct digest_request request = {0};
    struct digest d;
    CHECK_INT(digest_read(&d, s, &request, &err), -1);
    CHECK_STR(err.text, "the database has no run");
    digest_release(&d);
    const struct fixture runs[] = {
        {.label = "damaged", .sessions = 40, .concurrency = 10, .corrupted = 4},
        {.label = "clean", .sessions = 40, .concurrency = 10},
        {.label = "clean", .sessions = 40, .concurrency = 10, .errors = 2},
    };
    for (size_t i = 0; i < 3; i++)
        add_run(s, &runs[i]);
    forms(s);
    unlike(s);
    store_close(s);
    return check_end();
}
