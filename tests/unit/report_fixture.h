/* report_fixture.h - a database made in a test, and files to compare texts with.
 *
 * TOOLSTORM_GOLDEN=update writes tests/golden anew. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "file.h"
#include "report.h"
#include "store.h"

/* What session number n of the fixture comes to. */
struct plan {
    const char *class, *reason;
    int bad_round, rounds;
};

static inline struct plan plan_of(long n, long corrupted, long errors)
{
    if (n % 10 == 7 && n / 10 < corrupted)
        return n % 20 == 7 ? (struct plan){"leak", "leak.markup", 2, 2}
                           : (struct plan){"no_tool", "no_tool.cap", 3, 3};
    if (n % 10 == 4 && n / 10 < errors)
        return (struct plan){"error", "error.cut", 0, 2};
    return (struct plan){"ok", "ok.done", 0, 3};
}

static inline struct round_row round_row(long n, int round, const struct plan *p)
{
    bool last = round == p->rounds;
    int64_t sent = n * 50000 + round * 400000;
    return (struct round_row){
        .round = round,
        .class = last ? p->class : "ok",
        .reason = last ? p->reason : "ok.maxrounds",
        .scheduled_us = sent - 100,
        .sent_us = sent,
        .first_byte_us = sent + 20000,
        .first_token_us = sent + 25000 + n * 1000,
        .last_token_us = sent + 225000 + n * 1000,
        .done_us = sent + 226000 + n * 1000,
        .prompt_tokens = 2100 + round * 37 + n % 3,
        .completion_tokens = 40 + n % 7,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .token_events = 21,
        .max_gap_us = 12000 + n * 100,
        .max_late_us = 300,
        .in_flight_start = 10,
        .in_flight_max = 10,
        .finish = last && strcmp(p->reason, "no_tool.cap") == 0 ? "length" : "tool_calls",
        .status = 200,
        .reused = round > 1,
        .request_bytes = 9000,
        .response_bytes = 4000,
        .quirks = n % 4 == 0 ? "no_done crlf" : "usage_only_chunk",
        .end_detail = "",
    };
}

struct fixture {
    const char *label;
    long sessions, concurrency, corrupted, errors;
    long stored; /* 0 = all */
};

/* A run that nobody has written the end of. */
static inline long begin_run(struct store *s, const struct fixture *f)
{
    struct err err = {0};
    const struct pair tags[] = {{"graph", f->corrupted ? "on" : "off"}, {"idxk", "bf16"}};
    const struct run_row row = {
        .started_us = 1796032800000000,
        .label = f->label,
        .scenario = "chain",
        .scenario_text = "{}",
        .model = "tiny-8b",
        .base_url = "http://127.0.0.1:8000/v1",
        .dialect = "openai-chat",
        .version = "0.1.0",
        .command = "toolstorm run --sessions 40",
        .seed = 1,
        .sessions = f->sessions,
        .concurrency = f->concurrency,
        .rounds = 3,
        .context_tokens = 2000,
        .max_tokens = 1024,
        .threads = 2,
        .temperature = NAN,
        .stream = true,
        .judge_version = 1,
        .on_damage = "stop",
        .tool_choice = "auto",
        .tags = tags,
        .n_tags = 2,
    };
    long run = store_run_begin(s, &row, &err);
    for (long n = 1; n <= (f->stored ? f->stored : f->sessions) && err.status == 0; n++) {
        struct plan p = plan_of(n, f->corrupted, f->errors);
        struct round_row rounds[3];
        for (int i = 0; i < p.rounds; i++)
            rounds[i] = round_row(n, i + 1, &p);
        const struct session_row session = {.session = n,
                                            .start_order = n,
                                            .class = p.class,
                                            .reason = p.reason,
                                            .first_bad_round = p.bad_round,
                                            .rounds_played = p.rounds,
                                            .ramp = n <= 8,
                                            .canary = "K7QPM-2XD9R",
                                            .start_us = n * 50000,
                                            .end_us = n * 50000 + 1200000,
                                            .rounds = rounds,
                                            .n_rounds = (size_t)p.rounds};
        store_session(s, run, &session, &err);
    }
    CHECK_INT(store_flush(s, &err), 0);
    CHECK_STR(err.text, "");
    return run;
}

static inline long add_run(struct store *s, const struct fixture *f)
{
    struct err err = {0};
    long run = begin_run(s, f);
    const struct run_end end = {.status = f->stored ? "interrupted" : "done",
                                .peak_in_flight = f->concurrency < 10 ? f->concurrency : 10,
                                .wall_us = 12300000,
                                .cpu_us = 140000,
                                .late_p99_us = 420};
    CHECK_INT(store_run_end(s, run, &end, &err), 0);
    CHECK_STR(err.text, "");
    return run;
}

static inline void first_difference(const char *name, const char *got, const char *want)
{
    size_t at = 0, line = 0;
    for (; got[at] && got[at] == want[at]; at++)
        if (got[at] == '\n')
            line = at + 1;
    fprintf(stderr, "%s: got  \"%.*s\"\n%s: want \"%.*s\"\n", name, (int)strcspn(got + line, "\n"),
            got + line, name, (int)strcspn(want + line, "\n"), want + line);
}

static inline void expect_golden(const char *name, const struct buf *got)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s", SOURCE_DIR, name);
    struct err err = {0};
    const char *mode = getenv("TOOLSTORM_GOLDEN");
    if (mode && strcmp(mode, "update") == 0) {
        CHECK_INT(file_write(path, buf_str(got), got->len, &err), 0);
        return;
    }
    struct buf want = BUF_INIT;
    CHECK_INT(file_read(path, 1 << 20, &want, &err), 0);
    bool same = got->len == want.len && memcmp(buf_str(got), buf_str(&want), got->len) == 0;
    CHECK(same);
    if (!same)
        first_difference(name, buf_str(got), buf_str(&want));
    buf_release(&want);
}

static const struct report_style plain = {.columns = 80, .db = "toolstorm.db"};

#endif
