// layers: report store stats base
/* Comparisons read from a database: the worked example, pairing, refusals. */
#include <stdlib.h>

#include "arm.h"
#include "check.h"
#include "compare.h"
#include "embed.h"
#include "json.h"
#include "mem.h"
#include "report.h"
#include "schema.h"
#include "store.h"

/* A run of 40 sessions unless said otherwise, of which `x` are corrupted and `errors` failed. */
struct made {
    const char *label;
    long x, n, errors;
    const char *tag_key, *tag_value;
    long concurrency;
};

static void make_run(struct store *s, const struct made *m, int64_t started_us)
{
    struct err e = {0};
    struct pair tag = {m->tag_key, m->tag_value};
    struct run_row row = {.started_us = started_us,
                          .label = m->label,
                          .scenario = "chain",
                          .scenario_text = "{}",
                          .model = "m",
                          .base_url = "http://h/v1",
                          .dialect = "openai-chat",
                          .version = "test",
                          .command = "toolstorm run",
                          .sessions = m->n,
                          .concurrency = m->concurrency ? m->concurrency : 40,
                          .rounds = 3,
                          .temperature = NAN,
                          .judge_version = 1,
                          .on_damage = "stop",
                          .tool_choice = "auto",
                          .tags = &tag,
                          .n_tags = m->tag_key ? 1 : 0};
    long run = store_run_begin(s, &row, &e);
    CHECK(run > 0);
    for (long k = 1; k <= m->n + m->errors; k++) {
        bool bad = k <= m->x, failed = k > m->n;
        struct session_row one = {.session = k,
                                  .start_order = k,
                                  .class = failed ? "error"
                                           : bad  ? "leak"
                                                  : "ok",
                                  .reason = failed ? "error.http"
                                            : bad  ? "leak.markup"
                                                   : "ok.done",
                                  .first_bad_round = bad || failed ? 1 : 0,
                                  .rounds_played = bad || failed ? 1 : 3,
                                  .canary = "c",
                                  .end_us = 1000};
        CHECK_INT(store_session(s, run, &one, &e), 0);
    }
    struct run_end end = {.status = "done"};
    CHECK_INT(store_run_end(s, run, &end, &e), 0);
    if (e.status)
        fprintf(stderr, "%s\n", e.text);
}

static struct store *make_store(const struct made *runs, size_t n)
{
    struct err e = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &e);
    CHECK(s != NULL);
    for (size_t i = 0; i < n; i++)
        make_run(s, &runs[i], 1000000 * (int64_t)(i + 1));
    return s;
}

static int compare_two(struct store *s, const char *a, const char *b, struct compare *c,
                       struct err *e)
{
    const char *operands[] = {a, b};
    struct compare_request r = {
        .operands = operands, .n_operands = 2, .margin = 0.05, .alpha = 0.05};
    return compare_read(c, s, &r, e);
}

/* What the engine says of labels `a` and `b`; the rest of the result in *out. */
static const char *verdict_of(struct store *s, const char *a, const char *b,
                              struct verdict_result *out)
{
    struct compare c = {0};
    struct err e = {0};
    CHECK_INT(compare_two(s, a, b, &c, &e), 0);
    if (e.status) {
        fprintf(stderr, "%s\n", e.text);
        compare_release(&c);
        return "";
    }
    *out = c.comparisons[0].result;
    const char *word = verdict_word(out->verdict);
    compare_release(&c);
    return word;
}

/* The case that this program was written for: every line of it. */
static void test_story(void)
{
    static const struct {
        long base[3], other[3];
        size_t n, n_other;
        const char *word;
        double diff, low, high, p_session, p_run;
    } rows[] = {
        {{6, 6, 6}, {2, 2, 5}, 3, 3, "INCONCLUSIVE", -7.5, -17.4, 2.2, 0.071, 0.10},
        {{6, 6, 6}, {0, 0}, 3, 2, "IMPROVED", -15.0, -24.7, -5.6, 0.00006, 0.011},
        {{6}, {2}, 1, 1, "INCONCLUSIVE", -10.0, NAN, NAN, 0.16, NAN},
        {{0, 0, 0}, {0, 0, 0}, 3, 3, "NOTHING REPRODUCED", 0, NAN, NAN, 1, NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        /* ABBA: each block holds both, the order turns. */
        struct made runs[6];
        size_t n = 0;
        for (size_t k = 0; k < rows[i].n; k++)
            for (int side = 0; side < 2; side++) {
                bool is_base = side == (int)(k % 2);
                if (!is_base && k >= rows[i].n_other)
                    continue;
                runs[n++] = (struct made){.label = is_base ? "base" : "other",
                                          .x = is_base ? rows[i].base[k] : rows[i].other[k],
                                          .n = 40};
            }
        struct store *s = make_store(runs, n);
        struct verdict_result r;
        CHECK_STR(verdict_of(s, "base", "other", &r), rows[i].word);
        CHECK(fabs(r.diff * 100 - rows[i].diff) < 0.051);
        if (!isnan(rows[i].low))
            CHECK(fabs(r.ci95.low * 100 - rows[i].low) < 0.11 &&
                  fabs(r.ci95.high * 100 - rows[i].high) < 0.11);
        if (!isnan(rows[i].p_session))
            CHECK(fabs(r.p_session - rows[i].p_session) < 0.006);
        if (!isnan(rows[i].p_run))
            CHECK(fabs(r.p_run - rows[i].p_run) < 0.006);
        CHECK(!(r.reasons & VERDICT_REASON_ORDER));
        store_close(s);
    }
}

static void test_order(void)
{
    /* Three of one, then three of the other: drift could pass for an effect. */
    static const struct made apart[] = {
        {"a", 6, 40, 0, NULL, NULL, 0}, {"a", 6, 40, 0, NULL, NULL, 0},
        {"a", 6, 40, 0, NULL, NULL, 0}, {"b", 0, 40, 0, NULL, NULL, 0},
        {"b", 0, 40, 0, NULL, NULL, 0}, {"b", 0, 40, 0, NULL, NULL, 0}};
    struct store *s = make_store(apart, 6);
    struct verdict_result r;
    verdict_of(s, "a", "b", &r);
    CHECK(r.reasons & VERDICT_REASON_ORDER);
    store_close(s);
}

/* Runs with one boot tag are one server start. */
static void test_boots(void)
{
    static const struct made runs[] = {{"a", 4, 40, 0, "boot", "one", 0},
                                       {"a", 5, 40, 0, "boot", "one", 0},
                                       {"b", 0, 40, 0, "boot", "two", 0},
                                       {"b", 0, 40, 3, "boot", "three", 0}};
    struct store *s = make_store(runs, 4);
    struct arm a = {0}, b = {0};
    struct err e = {0};
    CHECK_INT(arm_read(&a, s, "a", &e), 0);
    CHECK_INT(a.n_starts, 1);
    CHECK_INT(a.starts[0].x, 9);
    CHECK_INT(a.starts[0].n, 80);
    CHECK_INT(arm_read(&b, s, "3,4", &e), 0);
    CHECK_INT(b.n_starts, 2);
    CHECK_INT(b.errors, 3);
    CHECK_INT(b.judged, 80);
    CHECK_INT(arm_reason(&a, "leak.markup"), 9);
    arm_release(&a);
    arm_release(&b);
    CHECK_INT(arm_read(&a, s, "boot=one", &e), 0);
    CHECK_STR(a.runs, "[1,2]");
    arm_release(&a);
    store_close(s);
}

/* The JSON form is what schemas/compare.schema.json promises. */
static void check_against_schema(struct span text)
{
    const struct embedded *file = embed_find("schemas/compare.schema.json");
    struct err e = {0};
    struct json *root = json_parse((struct span){file->data, file->len}, &e);
    struct schema *schema = schema_new(root, &e);
    struct json *value = json_parse(text, &e);
    CHECK_INT(schema_check(schema, value, &e), 0);
    if (e.status)
        fprintf(stderr, "%s\n", e.text);
    json_free(value);
    schema_free(schema);
    json_free(root);
}

static void test_refusals(void)
{
    static const struct made runs[] = {{"a", 4, 40, 0, "graph", "on", 8},
                                       {"b", 0, 40, 0, "graph", "off", 16},
                                       {"c", 0, 0, 5, NULL, NULL, 8}};
    static const struct {
        const char *a, *b, *text;
    } rows[] = {
        {"a", "b",
         "unlike runs: 'concurrency' is 8,16; if that difference is the point, say --varying "
         "concurrency"},
        {"a", "nobody",
         "no run is 'nobody'; labels and tags in the database: a, b, c, graph=off, graph=on"},
        {"a", "9", "there is no run '9' in the database"},
        {"a", "graph=on", "run 1 is in 'a' and in 'graph=on'"},
        {"a", "c", "no session of 'c' could be judged (5 errors)"},
    };
    struct store *s = make_store(runs, 3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct compare c = {0};
        struct err e = {0};
        CHECK_INT(compare_two(s, rows[i].a, rows[i].b, &c, &e), -1);
        CHECK_STR(e.text, rows[i].text);
        compare_release(&c);
    }
    const char *operands[] = {"a", "b"}, *varying[] = {"concurrency"};
    struct compare_request r = {.operands = operands,
                                .n_operands = 2,
                                .varying = varying,
                                .n_varying = 1,
                                .margin = 0.05,
                                .alpha = 0.05};
    struct compare c = {0};
    struct err e = {0};
    CHECK_INT(compare_read(&c, s, &r, &e), 0);
    struct buf out = BUF_INIT;
    struct report_style style = {.columns = 80};
    compare_write_text(&c, &style, &out);
    CHECK(strstr(buf_str(&out), "varying: concurrency (8,16)") != NULL);
    buf_clear(&out);
    struct jsonw w = {.out = &out};
    compare_write_json(&c, &w);
    check_against_schema(buf_span(&out));
    buf_clear(&out);
    compare_write_md(&c, &out);
    CHECK(strstr(buf_str(&out), "| A | `a` | 4/40 = 10.0% [2.7, 23.7] | 1 | 0 |") != NULL);
    buf_release(&out);
    compare_release(&c);
    store_close(s);
}

/* Of several arms each is held against the first, with Holm over them. */
static void test_many(void)
{
    static const struct made runs[] = {
        {"a", 6, 40, 0, NULL, NULL, 0}, {"b", 1, 40, 0, NULL, NULL, 0},
        {"c", 6, 40, 0, NULL, NULL, 0}, {"a", 7, 40, 0, NULL, NULL, 0},
        {"b", 0, 40, 0, NULL, NULL, 0}, {"c", 6, 40, 0, NULL, NULL, 0}};
    struct store *s = make_store(runs, 6);
    const char *operands[] = {"a", "b", "c"};
    struct compare_request r = {
        .operands = operands, .n_operands = 3, .margin = 0.05, .alpha = 0.05};
    struct compare c = {0};
    struct err e = {0};
    CHECK_INT(compare_read(&c, s, &r, &e), 0);
    CHECK_NEAR(c.comparisons[0].p_holm, 2 * c.comparisons[0].result.p_session, 1e-9);
    CHECK(c.comparisons[1].p_holm >= c.comparisons[0].p_holm);
    CHECK_STR(verdict_word(c.comparisons[1].result.verdict), "INCONCLUSIVE");
    compare_release(&c);
    store_close(s);
}

int main(void)
{
    test_story();
    test_order();
    test_boots();
    test_refusals();
    test_many();
    return check_end();
}
