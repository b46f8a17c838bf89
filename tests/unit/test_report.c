// layers: report store chat stats base
/* test_report.c - the texts of reports, byte for byte, from a database made here; the JSON of the
 * same figures; and texts from outside that must not reach the terminal as they are.
 *
 * TOOLSTORM_GOLDEN=update writes tests/golden anew. */
#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "file.h"
#include "report.h"
#include "store.h"
#include "text.h"

/* What session number n of the fixture comes to. */
struct plan {
    const char *class, *reason;
    int bad_round, rounds;
};

static struct plan plan_of(long n, long corrupted, long errors)
{
    if (n % 10 == 7 && n / 10 < corrupted)
        return n % 20 == 7 ? (struct plan){"leak", "leak.markup", 2, 2}
                           : (struct plan){"no_tool", "no_tool.cap", 3, 3};
    if (n % 10 == 4 && n / 10 < errors)
        return (struct plan){"error", "error.cut", 0, 2};
    return (struct plan){"ok", "ok.done", 0, 3};
}

static struct round_row round_row(long n, int round, const struct plan *p)
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

static long add_run(struct store *s, const struct fixture *f)
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
    const struct run_end end = {.status = f->stored ? "interrupted" : "done",
                                .peak_in_flight = f->concurrency < 10 ? f->concurrency : 10,
                                .wall_us = 12300000,
                                .cpu_us = 140000,
                                .late_p99_us = 420};
    store_run_end(s, run, &end, &err);
    CHECK_STR(err.text, "");
    return run;
}

static void expect_golden(const char *name, const struct buf *got)
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
    CHECK_STR(buf_str(got), buf_str(&want));
    buf_release(&want);
}

static const struct report_style plain = {.columns = 80, .db = "toolstorm.db"};

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

int main(void)
{
    test_summaries();
    return check_end();
}
