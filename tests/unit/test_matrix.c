// layers: report sweep store stats base
/* Results of sweeps and isolations read from a database that is made here: effects against the
 * statistics they name, what counts and what does not, the JSON against its schema. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "compare.h"
#include "effects.h"
#include "embed.h"
#include "json.h"
#include "matrix.h"
#include "mem.h"
#include "multiple.h"
#include "report.h"
#include "schema.h"
#include "store.h"
#include "strata.h"
#include "sweeps.h"
#include "trail.h"
#include "trend.h"

/* A run of `n` sessions after two that warm up and are corrupted. `marks` says what becomes of
 * each, in the order of their start, again and again: '.' clean, 'x' corrupted, 'e' failed, ' '
 * never finished. Returns its number. */
static long make_run(struct store *s, long n, const char *marks, const struct pair *tags,
                     size_t n_tags, long concurrency)
{
    static const struct pair warmup = {"warmup", "2"};
    struct err e = {0};
    struct run_row row = {.label = "x",
                          .scenario = "chain",
                          .scenario_text = "{}",
                          .model = "m",
                          .base_url = "http://h/v1",
                          .dialect = "openai-chat",
                          .version = "test",
                          .command = "toolstorm run",
                          .sessions = n,
                          .concurrency = concurrency,
                          .rounds = 3,
                          .temperature = NAN,
                          .judge_version = 1,
                          .on_damage = "stop",
                          .tool_choice = "auto",
                          .settings = &warmup,
                          .n_settings = 1,
                          .tags = tags,
                          .n_tags = n_tags};
    long run = store_run_begin(s, &row, &e);
    CHECK(run > 0);
    for (long k = 1; k <= n + 2; k++) {
        char mark = k <= 2 ? 'x' : marks[(size_t)(k - 3) % strlen(marks)];
        if (mark == ' ') /* never finished */
            continue;
        struct session_row one = {.session = k,
                                  .start_order = k,
                                  .warmup = k <= 2,
                                  .class = mark == 'x'   ? "leak"
                                           : mark == 'e' ? "error"
                                                         : "ok",
                                  .reason = mark == 'x'   ? "leak.markup"
                                            : mark == 'e' ? "error.http"
                                                          : "ok.done",
                                  .first_bad_round = mark != '.',
                                  .rounds_played = mark == '.' ? 3 : 1,
                                  .canary = "c",
                                  .end_us = 1000};
        CHECK_INT(store_session(s, run, &one, &e), 0);
    }
    struct run_end end = {.status = "done"};
    CHECK_INT(store_run_end(s, run, &end, &e), 0);
    CHECK_STR(e.text, "");
    return run;
}

/* A row of '.' and 'x' with the first x of n marked. The caller's. */
static char *marks_of(long x, long n)
{
    char *marks = mem_zero((size_t)n + 1, 1);
    for (long i = 0; i < n; i++)
        marks[i] = i < x ? 'x' : '.';
    return marks;
}

/* --- a sweep: graph, idxk, concurrency 1, 4, 16; two blocks -------------------------------------
 */

#define N 40

static const char *const graphs[] = {"on", "off"}, *const idxks[] = {"bf16", "fp8"};
static const long loads[] = {16, 4, 1};
static const long corrupt[2][2][3][2] = {{{{8, 6}, {4, 5}, {0, 0}}, {{1, 0}, {0, 1}, {0, 0}}},
                                         {{{0, 1}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}}}};

static void add_start(struct store *s, long sweep, int start, struct sweep_start_row row)
{
    struct err e = {0};
    row.boot = "boot";
    row.started_us = start;
    row.ended_us = start + 1;
    CHECK_INT(sweeps_start(s, sweep, start, &row, &e), 0);
}

static long make_cell_run(struct store *s, int g, int i, int c, int block, int place)
{
    char boot[30], block_text[30], load[30];
    snprintf(boot, sizeof boot, "boot-%d", place);
    snprintf(block_text, sizeof block_text, "%d", block + 1);
    snprintf(load, sizeof load, "%ld", loads[c]);
    struct pair tags[] = {{"boot", boot},
                          {"block", block_text},
                          {"graph", graphs[g]},
                          {"idxk", idxks[i]},
                          {"concurrency", load}};
    char *marks = marks_of(corrupt[g][i][c][block], N);
    long run = make_run(s, N, marks, tags, 5, loads[c]);
    free(marks);
    return run;
}

static long make_sweep(struct store *s)
{
    struct err e = {0};
    struct sweep_row row = {.kind = "sweep",
                            .name = "made",
                            .version = "test",
                            .plan = "{\"alpha\":0.05,\"margin\":0.02}"};
    long sweep = sweeps_begin(s, &row, &e);
    int cell = 0, place = 0;
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3; c++) {
                char name[80], levels[120];
                snprintf(name, sizeof name, "graph=%s,idxk=%s,concurrency=%ld", graphs[g], idxks[i],
                         loads[c]);
                snprintf(levels, sizeof levels,
                         "{\"graph\":\"%s\",\"idxk\":\"%s\",\"concurrency\":\"%ld\"}", graphs[g],
                         idxks[i], loads[c]);
                struct sweep_cell_row cr = {name, levels, cell == 0};
                CHECK_INT(sweeps_cell(s, sweep, ++cell, &cr, &e), 0);
            }
    for (int block = 0; block < 2; block++)
        for (int k = 0; k < 12; k++) {
            int n = block ? 11 - k : k;
            long run = make_cell_run(s, n / 6, n / 3 % 2, n % 3, block, ++place);
            add_start(s, sweep, place,
                      (struct sweep_start_row){.place = place,
                                               .block = block + 1,
                                               .cell = n + 1,
                                               .state = "done",
                                               .run = run});
        }
    /* Starts that don't count: one abandoned with a run, one failed without. */
    char *all = marks_of(N, N);
    long run = make_run(s, N, all, NULL, 0, 16);
    free(all);
    add_start(s, sweep, ++place,
              (struct sweep_start_row){
                  .place = 3, .block = 1, .cell = 3, .state = "abandoned", .run = run});
    add_start(s, sweep, ++place,
              (struct sweep_start_row){.place = 4,
                                       .block = 1,
                                       .cell = 4,
                                       .state = "failed",
                                       .detail = "no\x1b[31m luck",
                                       .run = -1});
    CHECK_STR(e.text, "");
    return sweep;
}

static void check_schema(const struct buf *text, const char *name)
{
    struct err e = {0};
    const struct embedded *file = embed_find(name);
    CHECK(file != NULL);
    struct json *rules = file ? json_parse((struct span){file->data, file->len}, &e) : NULL;
    struct schema *schema = schema_new(rules, &e);
    struct json *v = json_parse(buf_span(text), &e);
    CHECK(schema && v && schema_check(schema, v, &e) == 0);
    CHECK_STR(e.text, "");
    json_free(v);
    schema_free(schema);
    json_free(rules);
}

/* The effect of graph=off by hand: strata are the settings of the two others. */
static void check_graph_effect(const struct matrix *m)
{
    struct strata_table t[6];
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            t[i * 3 + c] = (struct strata_table){corrupt[1][i][c][0] + corrupt[1][i][c][1], 2 * N,
                                                 corrupt[0][i][c][0] + corrupt[0][i][c][1], 2 * N};
    const struct effect *e = &m->effects->list[0];
    CHECK_STR(m->factors[e->factor].name, "graph");
    CHECK_STR(m->factors[e->factor].levels[e->level], "off");
    CHECK_INT(e->n_strata, 6);
    CHECK_NEAR(e->p, strata_exact_test(t, 6).midp, 1e-12);
    CHECK_NEAR(e->diff, strata_cmh_test(t, 6).diff, 1e-12);
    CHECK(e->p_holm >= e->p && e->p_starts >= e->p);
    CHECK_INT(e->verdict, VERDICT_IMPROVED);
}

static void check_trend(const struct matrix *m)
{
    const struct load_trend *t = &m->effects->trend;
    long x[3] = {0}, n[3] = {0};
    double log2s[3] = {4, 2, 0}, more[3] = {1, 1, 0}, p[2];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++) {
            x[c] += corrupt[k / 2][k % 2][c][0] + corrupt[k / 2][k % 2][c][1];
            n[c] += 2 * N;
        }
    CHECK(t->valid && t->has_contrast);
    CHECK_NEAR(t->z, trend_cochran_armitage(x, n, log2s, 3).z, 1e-12);
    CHECK_NEAR(t->contrast_z, trend_cochran_armitage(x, n, more, 3).z, 1e-12);
    p[0] = trend_cochran_armitage(x, n, log2s, 3).p;
    p[1] = trend_cochran_armitage(x, n, more, 3).p;
    multiple_holm(p, 2, p);
    CHECK_NEAR(t->p_holm, p[0], 1e-12);
    CHECK_NEAR(t->contrast_p_holm, p[1], 1e-12);
}

static void test_sweep(void)
{
    struct err e = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &e);
    long sweep = make_sweep(s);
    struct matrix m = {0};
    CHECK_INT(matrix_read(&m, s, sweep, 26, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(m.n_cells, 12);
    CHECK_INT(m.n_missing, 2);
    CHECK_NEAR(m.margin, 0.02, 1e-12);
    /* Warm-up and abandoned sessions are not counted. */
    CHECK_INT(m.cells[0].corrupt, 14);
    CHECK_INT(m.cells[2].corrupt, 0);
    for (size_t c = 0; c < m.n_cells; c++)
        CHECK_INT(m.cells[c].judged, 2 * N);
    CHECK(m.baseline == &m.cells[0] && !m.baseline->against);
    for (size_t c = 1; c < m.n_cells; c++) {
        const struct comparison *one = m.cells[c].against;
        CHECK_STR(one->a->name, m.cells[0].name);
        CHECK_STR(one->b->name, m.cells[c].name);
        CHECK(one->paired && one->p_holm >= one->result.p_session);
    }
    /* Two server starts are too few for Holm over eleven cells. */
    CHECK_INT(m.cells[5].against->result.verdict, VERDICT_SUGGESTIVE);
    check_graph_effect(&m);
    check_trend(&m);
    CHECK(m.effects->set.valid);
    CHECK_INT(m.effects->set.size, 2); /* graph=on and idxk=bf16, or one of them with a load */
    CHECK(!matrix_is_clean(&m) && !matrix_has_regression(&m));

    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    matrix_write_json(&m, &w);
    check_schema(&out, "schemas/matrix.schema.json");
    buf_clear(&out);
    struct report_style style = {0};
    matrix_write_text(&m, &style, &out);
    CHECK(strstr(buf_str(&out), "made: 12 cells, 24 of 26 server starts played"));
    CHECK(strstr(buf_str(&out), "failed: no\\x1b[31m luck"));
    CHECK(!strchr(buf_str(&out), '\x1b'));
    buf_clear(&out);
    matrix_write_md(&m, &out);
    CHECK(strstr(buf_str(&out), "| `graph` | `idxk` | `concurrency` | sessions |"));
    buf_release(&out);
    matrix_release(&m);
    store_close(s);
}

/* --- an isolation
 * --------------------------------------------------------------------------------- */

static const char *const on[] = {"a=1", "b=1"}, *const off[] = {"a=0", "b=0"};
static const struct trail_rule rule = {
    .name = "made", .on = on, .off = off, .n_flags = 2, .p0 = 0.01, .cap = 400};

static void add_step(struct store *s, long sweep, int start, const char *step, const char *marks,
                     const char *state)
{
    long run = make_run(s, 400, marks, NULL, 0, 10);
    add_start(s, sweep, start,
              (struct sweep_start_row){
                  .place = start, .block = 1, .cell = 1, .step = step, .state = state, .run = run});
}

static void expect(struct store *s, long sweep, enum hunt_end end, const char *next)
{
    struct err e = {0};
    struct trail t = {0};
    struct buf name = BUF_INIT, out = BUF_INIT;
    struct jsonw w = {.out = &out};
    CHECK_INT(trail_read(&t, s, sweep, &rule, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(t.hunt.end, end);
    if (end == HUNT_GOES_ON)
        trail_step_name(&rule, &t.hunt.next, &name);
    CHECK_STR(buf_str(&name), next);
    trail_write_json(&t, &w);
    check_schema(&out, "schemas/isolate.schema.json");
    buf_release(&out);
    buf_release(&name);
    trail_release(&t);
}

static void test_isolation(void)
{
    struct err e = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &e);
    struct sweep_row row = {.kind = "isolate", .name = "made", .version = "test", .plan = "{}"};
    long sweep = sweeps_begin(s, &row, &e);
    expect(s, sweep, HUNT_GOES_ON, "baseline: all on");
    add_step(s, sweep, 1, "baseline: all on", "x.........", "done");
    expect(s, sweep, HUNT_GOES_ON, "a=0");
    /* Not played to its end: it does not count. */
    add_step(s, sweep, 2, "a=0", "xxx.", "abandoned");
    expect(s, sweep, HUNT_GOES_ON, "a=0");
    /* Sessions that failed are left out; corruption after the decision changes nothing. */
    char clean[401];
    memset(clean, '.', 400);
    memset(clean, 'e', 5);
    memset(clean + 200, 'x', 200);
    clean[400] = '\0';
    add_step(s, sweep, 3, "a=0", clean, "done");
    expect(s, sweep, HUNT_GOES_ON, "b=0");
    add_step(s, sweep, 4, "b=0", "xx......", "done");
    expect(s, sweep, HUNT_GOES_ON, "control: all on");
    add_step(s, sweep, 5, "control: all on", "..x...x..x", "done");
    expect(s, sweep, HUNT_GOES_ON, "alone: a=1");
    add_step(s, sweep, 6, "alone: a=1", "..x.", "done");
    expect(s, sweep, HUNT_GOES_ON, "the others: b=1");
    add_step(s, sweep, 7, "the others: b=1", ".", "done");
    expect(s, sweep, HUNT_FOUND, "");

    struct trail t = {0};
    CHECK_INT(trail_read(&t, s, sweep, &rule, &e), 0);
    CHECK_INT(t.hunt.n_causes, 1);
    CHECK_INT(t.hunt.causes[0], 1);
    CHECK_NEAR(t.test.p1, 0.05, 1e-12);
    CHECK_INT(t.steps[1].errors, 5);
    CHECK_INT(t.steps[1].x, 0);
    CHECK(t.steps[1].n < 195);
    trail_release(&t);
    store_close(s);
}

/* A session that was cancelled leaves a gap; what started after it can't decide. */
static void test_gap(void)
{
    struct err e = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &e);
    struct sweep_row row = {.kind = "isolate", .name = "made", .version = "test", .plan = "{}"};
    long sweep = sweeps_begin(s, &row, &e);
    add_step(s, sweep, 1, "baseline: all on", "x.........", "done");
    char gap[401];
    memset(gap, '.', 400);
    gap[20] = ' ';
    gap[400] = '\0';
    add_step(s, sweep, 2, "a=0", gap, "done");
    expect(s, sweep, HUNT_STEP_UNDECIDED, "");
    store_close(s);
}

static void test_baseline(void)
{
    struct err e = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &e);
    struct sweep_row row = {.kind = "isolate", .name = "made", .version = "test", .plan = "{}"};
    long sweep = sweeps_begin(s, &row, &e);
    for (int i = 1; i <= TRAIL_BASELINES; i++) {
        expect(s, sweep, HUNT_GOES_ON, "baseline: all on");
        add_step(s, sweep, i, "baseline: all on", ".", "done");
    }
    expect(s, sweep, HUNT_NO_BASELINE, "");
    /* Rows that no search can have. */
    sweep = sweeps_begin(s, &row, &e);
    add_step(s, sweep, 1, "a=0", ".", "done");
    struct trail t = {0};
    CHECK_INT(trail_read(&t, s, sweep, &rule, &e), -1);
    CHECK_INT(e.status, STATUS_TOOL);
    trail_release(&t);
    store_close(s);
}

int main(void)
{
    test_sweep();
    test_isolation();
    test_gap();
    test_baseline();
    return check_end();
}
