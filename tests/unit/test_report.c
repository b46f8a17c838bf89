// layers: report store chat stats base
/* test_report.c - summaries and lists byte for byte, and the JSON of the same figures. */
#include "clock.h"
#include "json.h"
#include "report_fixture.h"
#include "schema.h"
#include "text.h"

/* No line is wider than the terminal, none ends in a space. */
static void expect_fits(const struct buf *text, size_t columns)
{
    for (const char *p = buf_str(text); *p;) {
        size_t len = strcspn(p, "\n");
        if (text_width((struct span){p, len}) > columns || (len && p[len - 1] == ' '))
            fprintf(stderr, "line: %.*s\n", (int)len, p);
        CHECK(text_width((struct span){p, len}) <= columns);
        CHECK(len == 0 || p[len - 1] != ' ');
        p += len + (p[len] == '\n');
    }
}

static void test_summaries(void)
{
    static const struct {
        const char *golden;
        struct fixture f;
        const char *first_line;
    } cases[] = {
        {"summary-damaged.txt",
         {"baseline", 40, 10, 2, 0, 0},
         "CORRUPTION sessions: 2/40 = 5%  (leak=1 no_tool=1 error=0 ok=38)\n"},
        {"summary-clean.txt",
         {"fixed", 40, 10, 0, 0, 0},
         "CORRUPTION sessions: 0/40 = 0%  (leak=0 no_tool=0 error=0 ok=40)\n"},
        {"summary-errors.txt",
         {"errors", 40, 40, 2, 3, 0},
         "CORRUPTION sessions: 2/37 = 5.4%  (leak=1 no_tool=1 error=3 ok=35)\n"},
        {"summary-cut.txt",
         {"cut", 40, 10, 1, 0, 9},
         "CORRUPTION sessions: 1/9 = 11.1%  (leak=1 no_tool=0 error=0 ok=8)\n"},
        {"summary-large.txt",
         {"large", 400, 10, 4, 0, 0},
         "CORRUPTION sessions: 4/400 = 1%  (leak=2 no_tool=2 error=0 ok=396)\n"},
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        long run = add_run(s, &cases[i].f);
        struct buf text = BUF_INIT;
        CHECK_INT(report_summary(s, run, &plain, &text, &err), 0);
        CHECK_STR(err.text, "");
        CHECK(strncmp(buf_str(&text), cases[i].first_line, strlen(cases[i].first_line)) == 0);
        expect_golden(cases[i].golden, &text);
        expect_fits(&text, 80);
        buf_release(&text);
    }
    struct buf text = BUF_INIT;
    CHECK_INT(report_list(s, &(struct report_filter){0}, &plain, &text, &err), 0);
    CHECK_STR(err.text, "");
    expect_golden("list.txt", &text);
    expect_fits(&text, 80);
    buf_release(&text);
    store_close(s);
}

static struct json *parsed(const struct buf *text)
{
    struct err err = {0};
    struct json *v = json_parse(buf_span(text), &err);
    CHECK_STR(err.text, "");
    return v;
}

/* The text obeys the schema in schemas/. */
static struct json *expect_schema(const struct buf *text, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/schemas/%s", SOURCE_DIR, name);
    struct err err = {0};
    struct buf file = BUF_INIT;
    CHECK_INT(file_read(path, 1 << 20, &file, &err), 0);
    struct json *root = json_parse(buf_span(&file), &err);
    struct schema *schema = schema_new(root, &err);
    struct json *value = parsed(text);
    CHECK(schema != NULL);
    CHECK_INT(schema_check(schema, value, &err), 0);
    CHECK_STR(err.text, "");
    schema_free(schema);
    json_free(root);
    buf_release(&file);
    return value;
}

static void test_json(void)
{
    static const struct fixture cases[] = {
        {"baseline", 40, 10, 2, 0, 0}, {"fixed", 40, 10, 0, 0, 0}, {"errors", 40, 40, 2, 3, 0},
        {"cut", 40, 10, 1, 0, 9},      {NULL, 400, 10, 4, 0, 0},
    };
    struct report_style json = {.json = true};
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        long run = add_run(s, &cases[i]);
        struct buf text = BUF_INIT, same = BUF_INIT;
        CHECK_INT(report_summary(s, run, &json, &text, &err), 0);
        struct json *v = expect_schema(&text, "summary.schema.json");
        const struct json *counts = json_get(v, "counts");
        CHECK_INT(json_long(json_get(counts, "corrupted"), -1), cases[i].corrupted);
        CHECK_INT(json_long(json_get(counts, "error"), -1), cases[i].errors);
        /* The text says what the JSON says. */
        CHECK_INT(report_summary(s, run, &plain, &same, &err), 0);
        const char *headline = json_text(json_get(counts, "headline"));
        CHECK(headline && strncmp(buf_str(&same), headline, strlen(headline)) == 0);
        const struct json *warnings = json_get(v, "warnings");
        CHECK(json_count(warnings) == 0 || strstr(buf_str(&same), "\nMind\n") != NULL);
        json_free(v);
        buf_release(&text);
        buf_release(&same);
    }
    struct buf text = BUF_INIT;
    CHECK_INT(report_list(s, &(struct report_filter){0}, &json, &text, &err), 0);
    struct json *v = expect_schema(&text, "list.schema.json");
    CHECK_INT(json_count(json_get(v, "runs")), 5);
    json_free(v);
    buf_release(&text);
    CHECK_STR(err.text, "");
    store_close(s);
}

/* The run numbers that a filter leaves, or the error's text. */
static const char *listed(struct store *s, const struct report_filter *filter)
{
    static char text[2000];
    struct buf out = BUF_INIT;
    struct err err = {0};
    const struct report_style json = {.json = true};
    text[0] = '\0';
    if (report_list(s, filter, &json, &out, &err) != 0) {
        CHECK_INT(err.status, STATUS_USAGE);
        snprintf(text, sizeof text, "%s", err.text);
    } else {
        struct json *v = parsed(&out);
        for (const struct json *r = json_first(json_get(v, "runs")); r; r = json_next(r))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%ld ",
                     json_long(json_get(r, "run"), 0));
        json_free(v);
    }
    buf_release(&out);
    return text;
}

static void test_filters(void)
{
    static const struct fixture runs[] = {
        {"baseline", 40, 10, 2, 0, 0}, {"fixed", 40, 10, 0, 0, 0}, {"baseline", 40, 40, 1, 3, 0}};
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    CHECK_STR(listed(s, &(struct report_filter){0}), "");
    for (size_t i = 0; i < 3; i++)
        add_run(s, &runs[i]);
    CHECK_STR(listed(s, &(struct report_filter){0}), "1 2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.label = "baseline"}), "1 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.label = "none"}), "");
    CHECK_STR(listed(s, &(struct report_filter){.limit = 2}), "2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "leak"}), "1 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "no_tool.cap"}), "1 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "error"}), "3 ");
    CHECK_STR(listed(s, &(struct report_filter){.since = "2026-11-30"}), "1 2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.since = "2026-12-01"}), "");
    CHECK_STR(
        listed(s, &(struct report_filter){.tags = (const char *[]){"graph=off"}, .n_tags = 1}),
        "2 ");
    CHECK_STR(listed(s, &(struct report_filter){.tags = (const char *[]){"idxk", "graph=on"},
                                                .n_tags = 2}),
              "1 3 ");
    CHECK(strstr(listed(s, &(struct report_filter){.tags = (const char *[]){"grahp"}, .n_tags = 1}),
                 "known are graph, idxk") != NULL);
    CHECK(strstr(listed(s, &(struct report_filter){.reason = "leak.mark"}), "leak.markup,") !=
          NULL);
    store_close(s);
}

static void test_many(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    int64_t start = clock_cpu_us();
    long run = add_run(s, &(struct fixture){"many", 20000, 10, 900, 100, 0});
    int64_t stored = clock_cpu_us();
    struct buf text = BUF_INIT;
    CHECK_INT(report_summary(s, run, &plain, &text, &err), 0);
    CHECK(strstr(buf_str(&text), "CORRUPTION sessions: 900/19900 = 4.52%") != NULL);
    int64_t summed = clock_cpu_us();
    CHECK_INT(report_list(s, &(struct report_filter){.reason = "leak"}, &plain, &text, &err), 0);
    printf("20000 sessions: stored in %.2f s, summary %.2f s, list %.2f s of CPU\n",
           (double)(stored - start) / 1e6, (double)(summed - stored) / 1e6,
           (double)(clock_cpu_us() - summed) / 1e6);
    buf_release(&text);
    store_close(s);
}

/* A run that was interrupted before anything came back. */
static void test_nothing(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    struct buf text = BUF_INIT;
    long run = add_run(s, &(struct fixture){.label = "nothing", .concurrency = 10});
    CHECK_INT(report_summary(s, run, &plain, &text, &err), 0);
    CHECK(strstr(buf_str(&text), "not reported; no stream events carried text"));
    CHECK(!strstr(buf_str(&text), "-9") && !strstr(buf_str(&text), "nan"));
    buf_release(&text);
    store_close(s);
}

int main(void)
{
    test_nothing();
    test_summaries();
    test_json();
    test_filters();
    test_many();
    return check_end();
}
