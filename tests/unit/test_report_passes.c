// layers: report store wire chat stats base
/* test_report_passes.c - report.sql reads rounds and sessions once, through aggregates in C; here
 * every section that comes of them is asked for the long way round as well, in plain SQL. */
#include "digest.h"
#include "figures.h"
#include "json.h"
#include "report_fixture.h"
#include "rng.h"

/* The rounds that count, in the order in which they were sent. */
static const char *const scratch[] = {
    "CREATE TEMP TABLE slow_config AS SELECT run, dense_rank() OVER (ORDER BY label) AS config, "
    "label AS name FROM runs",
    "CREATE TEMP TABLE slow_round AS "
    "SELECT c.config, r.run, r.session, r.round, r.class, r.in_flight_start AS in_flight, "
    "row_number() OVER (PARTITION BY r.run ORDER BY r.sent_us, r.session, r.round) AS ordinal, "
    "coalesce(r.sent_us, 0) AS sent_us, coalesce(r.done_us, r.sent_us, 0) AS done_us, "
    "r.class IN ('leak', 'no_tool') AS bad, r.class <> 'error' AS judged, "
    "CASE WHEN r.class <> 'error' AND u.stream "
    "THEN r.first_token_us - coalesce(r.scheduled_us, r.sent_us) END AS ttft, "
    "CASE WHEN r.class <> 'error' AND r.token_events > 1 AND r.last_token_us > r.first_token_us "
    "THEN (r.last_token_us - r.first_token_us) * 1.0 / (r.token_events - 1) END AS itl, "
    "CASE WHEN r.class <> 'error' THEN r.done_us - coalesce(r.scheduled_us, r.sent_us) END AS "
    "whole "
    "FROM temp.slow_config AS c JOIN rounds AS r USING (run) JOIN sessions AS s USING (run, "
    "session) "
    "JOIN runs AS u USING (run) WHERE NOT s.warmup AND r.sent_us IS NOT NULL",
};

#define BINS                                                                                       \
    "iif(width = 1, bin + 1, (bin * width + 1) || '–' || ((bin + 1) * width)) AS bin_text, "     \
    "corrupted, judged, corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low, "    \
    "rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text "

static const struct {
    const char *section, *sql;
} slow[] = {
    {"in_flight",
     "WITH w AS (SELECT max(1, (max(in_flight) + 7) / 8) AS width FROM slow_round) "
     "SELECT c.config, c.name, bin, " BINS
     "FROM (SELECT config, (max(in_flight, 1) - 1) / (SELECT width FROM w) AS bin, sum(bad) AS "
     "corrupted, sum(judged) AS judged FROM slow_round GROUP BY 1, 2), w "
     "JOIN (SELECT DISTINCT config, name FROM slow_config) AS c USING (config) "
     "WHERE judged > 0 AND config IN (SELECT config FROM slow_round WHERE bad) ORDER BY config, "
     "bin"},
    {"ordinal",
     "WITH w AS (SELECT max(1, (max(ordinal) + 7) / 8) AS width FROM slow_round) "
     "SELECT c.config, c.name, bin, " BINS
     "FROM (SELECT config, (ordinal - 1) / (SELECT width FROM w) AS bin, sum(bad) AS corrupted, "
     "sum(judged) AS judged FROM slow_round GROUP BY 1, 2), w "
     "JOIN (SELECT DISTINCT config, name FROM slow_config) AS c USING (config) "
     "WHERE judged > 0 AND config IN (SELECT config FROM slow_round WHERE bad) ORDER BY config, "
     "bin"},
    {"timeline",
     "WITH RECURSIVE number (slice) AS (SELECT 0 UNION ALL SELECT slice + 1 FROM number WHERE "
     "slice "
     "< 39), chosen AS (SELECT run, config, max(1, (max(done_us) + 40) / 40) AS width FROM "
     "slow_round "
     "GROUP BY run HAVING sum(bad) > 0 ORDER BY run LIMIT 6), "
     "sent AS (SELECT run, sent_us / width AS slice, count(*) AS requests FROM slow_round JOIN "
     "chosen "
     "USING (run) GROUP BY 1, 2), ended AS (SELECT run, done_us / width AS slice, count(*) AS "
     "replies, sum(bad) AS corrupted, sum(NOT judged) AS errors FROM slow_round JOIN chosen USING "
     "(run) GROUP BY 1, 2) SELECT config, (SELECT name FROM slow_config AS c WHERE c.run = h.run) "
     "AS "
     "name, run, slice, slice * width AS from_us, (slice + 1) * width AS to_us, "
     "coalesce(requests, 0) AS requests, sum(coalesce(requests, 0) - coalesce(replies, 0)) OVER "
     "(PARTITION BY run ORDER BY slice) AS in_flight, coalesce(corrupted, 0) AS corrupted, "
     "coalesce(errors, 0) AS errors FROM chosen AS h CROSS JOIN number LEFT JOIN sent USING (run, "
     "slice) LEFT JOIN ended USING (run, slice) ORDER BY run, slice"},
    {"latency",
     "WITH metric (number, metric, config, v) AS (SELECT 1, 'ttft', config, ttft FROM slow_round "
     "UNION ALL SELECT 2, 'itl', config, itl FROM slow_round UNION ALL "
     "SELECT 3, 'round', config, whole FROM slow_round), "
     "q AS (SELECT number, metric, config, count(v) AS n, min(v) AS low, max(v) AS high, "
     "quantile(v, 0.05) AS p5, quantile(v, 0.25) AS p25, quantile(v, 0.5) AS p50, "
     "quantile(v, 0.75) AS p75, quantile(v, 0.95) AS p95, quantile(v, 0.99) AS p99 FROM metric "
     "GROUP BY number, config) "
     "SELECT metric, config, name, n, low AS min_us, iif(n >= 59, round(p5, 1), NULL) AS p5_us, "
     "round(p25, 1) AS p25_us, round(p50, 1) AS p50_us, round(p75, 1) AS p75_us, "
     "iif(n >= 59, round(p95, 1), NULL) AS p95_us, iif(n >= 299, round(p99, 1), NULL) AS p99_us, "
     "high AS max_us FROM q JOIN (SELECT DISTINCT config, name FROM slow_config) USING (config) "
     "WHERE n > 0 ORDER BY number, config"},
    {"quirks",
     "WITH RECURSIVE word (run, word, rest) AS (SELECT run, '', quirks || ' ' FROM rounds UNION "
     "ALL "
     "SELECT run, substr(rest, 1, instr(rest, ' ') - 1), substr(rest, instr(rest, ' ') + 1) FROM "
     "word "
     "WHERE rest <> '') "
     "SELECT word AS quirk, sum(n) AS rounds, sum((SELECT count(*) FROM rounds AS r WHERE r.run = "
     "t.run)) AS of_rounds, quirk_meaning(word) AS meaning "
     "FROM (SELECT run, word, count(*) AS n FROM word WHERE word <> '' GROUP BY run, word) AS t "
     "GROUP BY word ORDER BY sum(n) DESC, word"},
    {"damaged",
     "SELECT config, name, run, session, class, reason, round, reason_meaning(reason) AS meaning, "
     "in_flight_start AS in_flight, sent_us, rule, channel, note, excerpt, excerpt_offset, "
     "\"offset\", length FROM (SELECT s.*, c.config, c.name, s.first_bad_round AS round, "
     "row_number() OVER (PARTITION BY c.config, reason ORDER BY run, session) AS place "
     "FROM slow_config AS c JOIN sessions AS s USING (run) WHERE NOT warmup AND class IN ('leak', "
     "'no_tool')) LEFT JOIN (SELECT run, session, round, in_flight_start, sent_us FROM rounds) "
     "USING "
     "(run, session, round) LEFT JOIN (SELECT run, session, min(number) AS number, round, reason "
     "FROM "
     "findings WHERE level <> 'suspect' GROUP BY run, session, round, reason) USING (run, session, "
     "round, reason) LEFT JOIN (SELECT run, session, number, rule, channel, note, excerpt, "
     "excerpt_offset, \"offset\", length FROM findings) USING (run, session, number) "
     "ORDER BY iif(place = 1, 0, 1), run, session LIMIT 2000"},
    {"reasons",
     "SELECT c.config, c.name, class, reason, count(*) AS sessions, f.finished, "
     "percent_text(count(*), f.finished) AS share_text, count(*) * 1.0 / f.finished AS share, "
     "reason_meaning(reason) AS meaning FROM slow_config AS c JOIN sessions USING (run) JOIN "
     "(SELECT config, count(*) AS finished FROM slow_config JOIN sessions USING (run) WHERE NOT "
     "warmup GROUP BY config) AS f USING (config) WHERE NOT warmup AND class <> 'ok' "
     "GROUP BY c.config, class, reason ORDER BY CASE class WHEN 'leak' THEN 1 WHEN 'no_tool' THEN "
     "2 "
     "ELSE 3 END, sum(count(*)) OVER (PARTITION BY reason) DESC, reason, c.config"},
    {"worst", "SELECT config, name, corrupted, judged, rate_text(corrupted, judged) AS text "
              "FROM (SELECT config, name, count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS "
              "corrupted, "
              "count(*) FILTER (WHERE class <> 'error') AS judged FROM slow_config JOIN sessions "
              "USING (run) "
              "WHERE NOT warmup GROUP BY config) WHERE judged > 0 "
              "ORDER BY corrupted * 1.0 / judged DESC, config LIMIT 1"},
};

static const struct ending {
    const char *class, *reason;
} endings[] = {
    {"ok", "ok.done"},      {"ok", "ok.done"},          {"leak", "leak.markup"},
    {"leak", "leak.value"}, {"no_tool", "no_tool.cap"}, {"error", "error.cut"},
};

static int below(struct rng *rng, int n)
{
    return (int)rng_below(rng, (uint64_t)n);
}

/* Times collide, some rounds were never sent, some have no end: what a killed server leaves. */
static struct round_row random_round(struct rng *rng, int round, const struct ending *end)
{
    static const char *const quirks[] = {"", "crlf", "no_done crlf", "usage_only_chunk", "no_done"};
    int64_t sent = below(rng, 40) * 100000;
    bool error = strcmp(end->class, "error") == 0, sent_at_all = below(rng, 20) > 0;
    return (struct round_row){
        .round = round,
        .class = end->class,
        .reason = end->reason,
        .scheduled_us = below(rng, 3) ? sent - 50 : -1,
        .sent_us = sent_at_all ? sent : -1,
        .first_token_us = error ? -1 : sent + 1000 + below(rng, 90000),
        .last_token_us = error ? -1 : sent + 91000 + below(rng, 90000),
        .done_us = error && below(rng, 2) ? -1 : sent + 181000 + below(rng, 500000),
        .token_events = below(rng, 30),
        .prompt_tokens = -1,
        .completion_tokens = -1,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .in_flight_start = below(rng, 70),
        .finish = "stop",
        .status = 200,
        .quirks = quirks[below(rng, 5)],
        .end_detail = "",
    };
}

static int add_random_session(struct store *s, struct rng *rng, long run, long number, bool clean)
{
    struct round_row rounds[4];
    int n = 1 + below(rng, 4);
    const struct ending *last = &endings[clean ? 0 : below(rng, 6)];
    for (int i = 0; i < n; i++)
        rounds[i] = random_round(rng, i + 1, i + 1 < n ? &endings[0] : last);
    bool bad = strcmp(last->class, "ok") != 0;
    const struct finding_row findings[] = {
        {.round = n,
         .class = last->class,
         .reason = last->reason,
         .level = "suspect",
         .rule = "a",
         .channel = "content",
         .note = "not this",
         .call = -1},
        {.round = n,
         .class = last->class,
         .reason = last->reason,
         .level = "damage",
         .rule = "b",
         .channel = "content",
         .note = "this",
         .excerpt = {"\0x", 2},
         .call = -1},
    };
    const struct session_row row = {
        .session = number,
        .start_order = number,
        .class = last->class,
        .reason = last->reason,
        .first_bad_round = bad ? n : 0,
        .rounds_played = n,
        .ramp = below(rng, 3) == 0,
        .warmup = below(rng, 6) == 0,
        .canary = "K7QPM-2XD9R",
        .start_us = number * 1000,
        .end_us = number * 1000 + 900000,
        .rounds = rounds,
        .n_rounds = (size_t)n,
        .findings = findings,
        .n_findings = bad ? 2 : 0,
    };
    struct err err = {0};
    int rc = store_session(s, run, &row, &err);
    CHECK_STR(err.text, "");
    return rc;
}

static void add_random_run(struct store *s, struct rng *rng, const char *label, long sessions)
{
    struct err err = {0};
    const struct run_row row = {.label = label,
                                .scenario = "chain",
                                .scenario_text = "{}",
                                .model = "m",
                                .base_url = "http://127.0.0.1:1",
                                .dialect = "openai-chat",
                                .version = "0.1.0",
                                .command = "run",
                                .sessions = sessions,
                                .concurrency = 70,
                                .rounds = 4,
                                .temperature = NAN,
                                .stream = strcmp(label, "c") != 0,
                                .on_damage = "keep",
                                .tool_choice = "auto"};
    long run = store_run_begin(s, &row, &err);
    for (long n = 1; n <= sessions; n++)
        CHECK_INT(add_random_session(s, rng, run, n, strcmp(label, "b") == 0), 0);
    const struct run_end end = {.status = "done", .peak_in_flight = 70, .wall_us = 5000000};
    CHECK_INT(store_run_end(s, run, &end, &err), 0);
}

static void as_text(const struct section *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        struct jsonw w = {.out = out};
        figures_write_row(s, i, &w);
        buf_addc(out, '\n');
    }
}

static void compare_section(const struct digest *d, struct store *s, size_t i)
{
    struct err err = {0};
    struct figures f = {0};
    struct buf want = BUF_INIT, got = BUF_INIT;
    CHECK_INT(figures_add(&f, s, slow[i].section, slow[i].sql, NULL, 0, &err), 0);
    CHECK_STR(err.text, "");
    as_text(&f.sections[0], &want);
    as_text(figures_get(&d->figures, slow[i].section), &got);
    CHECK(want.len > 0);
    bool same = want.len == got.len && memcmp(buf_str(&want), buf_str(&got), got.len) == 0;
    CHECK(same);
    if (!same)
        first_difference(slow[i].section, buf_str(&got), buf_str(&want));
    figures_release(&f);
    buf_release(&want);
    buf_release(&got);
}

/* The same figures by both ways, for runs of several sizes. */
static void both_ways(uint64_t seed)
{
    struct err err = {0};
    struct rng rng = rng_stream(seed, 0, "report");
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    add_random_run(s, &rng, "a", 1 + below(&rng, 400));
    add_random_run(s, &rng, "b", 1 + below(&rng, 60));
    add_random_run(s, &rng, "c", 1 + below(&rng, 60));
    for (int i = 0; i < 6; i++)
        add_random_run(s, &rng, "a", 20 + below(&rng, 100));
    const struct digest_request request = {0};
    struct digest d;
    CHECK_INT(digest_read(&d, s, &request, &err), 0);
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) {
        struct figures f = {0};
        CHECK_INT(figures_add(&f, s, "scratch", scratch[i], NULL, 0, &err), 0);
        figures_release(&f);
    }
    CHECK_STR(err.text, "");
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        compare_section(&d, s, i);
    digest_release(&d);
    store_close(s);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++)
        both_ways(seed);
    return check_end();
}
