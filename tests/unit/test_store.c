// layers: store stats base
/* test_store.c - what was stored comes back, whatever happens to the program, the disk or the file.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "check.h"
#include "clock.h"
#include "mem.h"
#include "store.h"

static char folder[] = "/tmp/toolstorm-store-XXXXXX";

/* Two results are valid at a time. */
static const char *file_in(const char *name)
{
    static char paths[2][256];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *path, const char *bytes)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (f) {
        fputs(bytes, f);
        fclose(f);
    }
}

static const struct pair settings[] = {{"sessions", "40"}, {"temperature", "0.7"}};
static const struct pair tags[] = {{"graph", "on"}, {"graph", "off"}, {"idxk", "bf16"}};

static struct run_row run_row(void)
{
    return (struct run_row){
        .started_us = 1796032800000000,
        .label = "baseline",
        .scenario = "chain",
        .scenario_text = "{}",
        .model = "m",
        .base_url = "http://127.0.0.1:1",
        .dialect = "openai-chat",
        .version = "0.1.0",
        .command = "toolstorm run",
        .seed = 7,
        .sessions = 40,
        .concurrency = 10,
        .rounds = 3,
        .temperature = NAN,
        .stream = true,
        .judge_version = 1,
        .on_damage = "stop",
        .tool_choice = "auto",
        .settings = settings,
        .n_settings = 2,
        .tags = tags,
        .n_tags = 3,
    };
}

static struct round_row round_row(int round)
{
    return (struct round_row){
        .round = round,
        .class = "ok",
        .reason = "ok.maxrounds",
        .scheduled_us = 100,
        .sent_us = 110,
        .first_byte_us = 200,
        .first_token_us = -1,
        .last_token_us = -1,
        .done_us = 900,
        .prompt_tokens = -1,
        .completion_tokens = 55,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .finish = "tool_calls",
        .status = 200,
        .quirks = "no_done crlf",
        .end_detail = "",
    };
}

static int add_session(struct store *s, long run, long number, struct err *err)
{
    struct round_row rounds[] = {round_row(1), round_row(2)};
    const struct session_row row = {
        .session = number,
        .start_order = number,
        .class = number % 10 == 3 ? "leak" : "ok",
        .reason = number % 10 == 3 ? "leak.markup" : "ok.done",
        .first_bad_round = number % 10 == 3 ? 2 : 0,
        .rounds_played = 2,
        .canary = "K7QPM-2XD9R",
        .start_us = number,
        .end_us = number + 5,
        .rounds = rounds,
        .n_rounds = 2,
    };
    return store_session(s, run, &row, err);
}

/* The single value of a query, as text. */
static const char *value(struct store *s, const char *sql)
{
    static char text[2048];
    struct err err = {0};
    struct query *q = store_query(s, sql, &err);
    if (!q || query_step(q, &err) != 1)
        snprintf(text, sizeof text, "failed: %s", err.text);
    else
        snprintf(text, sizeof text, "%s", query_is_null(q, 0) ? "NULL" : query_text(q, 0));
    query_free(q);
    return text;
}

static void test_round_trip(void)
{
    struct err err = {0};
    struct store *s = store_open(file_in("round.db"), STORE_WRITE, &err);
    CHECK_STR(err.text, "");
    struct run_row row = run_row();
    long run = store_run_begin(s, &row, &err);
    CHECK_INT(run, 1);
    CHECK_STR(value(s, "SELECT started || ' ' || status FROM runs"),
              "2026-11-30T10:00:00Z running");
    CHECK_STR(value(s, "SELECT temperature FROM runs"), "NULL");
    CHECK_STR(value(s, "SELECT wall_us FROM runs"), "NULL");
    CHECK_STR(value(s, "SELECT length(uid) FROM runs"), "16");
    CHECK_STR(value(s, "SELECT group_concat(key || '=' || value) FROM run_tags"),
              "graph=off,idxk=bf16");
    CHECK_STR(value(s, "SELECT value FROM run_settings WHERE key = 'temperature'"), "0.7");

    const char bytes[] = "not \0 text \xff";
    struct buf long_text = BUF_INIT;
    for (int i = 0; i < 400; i++)
        buf_addf(&long_text, "data: {\"choices\":[{\"delta\":{\"content\":\"%d\"}}]}\n\n", i);
    struct round_row round = round_row(1);
    round.request = (struct span){bytes, sizeof bytes - 1};
    round.response = buf_span(&long_text);
    round.arrivals_json = "[[0,10]]";
    const struct finding_row finding = {.round = 1,
                                        .class = "leak",
                                        .reason = "leak.markup",
                                        .level = "damage",
                                        .channel = "content",
                                        .rule = "hermes",
                                        .note = "",
                                        .excerpt = {bytes, sizeof bytes - 1},
                                        .offset = 3,
                                        .length = 2,
                                        .call = -1};
    const struct session_row session = {.session = 5,
                                        .class = "leak",
                                        .reason = "leak.markup",
                                        .first_bad_round = 1,
                                        .rounds_played = 1,
                                        .start_us = 0,
                                        .end_us = 900,
                                        .rounds = &round,
                                        .n_rounds = 1,
                                        .findings = &finding,
                                        .n_findings = 1};
    CHECK_INT(store_session(s, run, &session, &err), 0);
    CHECK_STR(value(s, "SELECT class || ' ' || reason FROM sessions WHERE session = 5"),
              "leak leak.markup");
    CHECK_STR(value(s, "SELECT first_token_us FROM rounds"), "NULL");
    CHECK_STR(value(s, "SELECT prompt_tokens FROM rounds"), "NULL");
    CHECK_STR(value(s, "SELECT completion_tokens FROM rounds"), "55");
    CHECK_STR(value(s, "SELECT call FROM findings"), "NULL");
    CHECK_STR(value(s, "SELECT hex(excerpt) FROM findings"), "6E6F742000207465787420FF");
    CHECK_STR(value(s, "SELECT hex(inflate(data, deflated)) FROM evidence WHERE part = 'request'"),
              "6E6F742000207465787420FF");
    CHECK_STR(value(s, "SELECT deflated FROM evidence WHERE part = 'request'"), "0");
    CHECK_STR(value(s, "SELECT deflated || ' ' || (length(data) < size / 4) FROM evidence"
                       " WHERE part = 'response'"),
              "1 1");
    struct query *q = store_query(
        s, "SELECT inflate(data, deflated) FROM evidence WHERE part = 'response'", &err);
    CHECK_INT(query_step(q, &err), 1);
    struct span back = query_bytes(q, 0);
    CHECK(back.len == long_text.len && memcmp(back.data, long_text.data, back.len) == 0);
    CHECK_INT(query_step(q, &err), 0);
    query_free(q);
    CHECK_STR(value(s, "SELECT count(*) FROM evidence WHERE part = 'headers'"), "0");
    buf_release(&long_text);

    const struct pair facts[] = {{"note", "x"}};
    const struct run_end end = {.status = "done",
                                .peak_in_flight = 10,
                                .wall_us = 5000000,
                                .cpu_us = 1000,
                                .late_p99_us = -1,
                                .facts = facts,
                                .n_facts = 1};
    CHECK_INT(store_run_end(s, run, &end, &err), 0);
    CHECK_STR(value(s, "SELECT status || ' ' || peak_in_flight || ' ' || wall_us FROM runs"),
              "done 10 5000000");
    CHECK_STR(value(s, "SELECT late_p99_us FROM runs"), "NULL");
    CHECK_STR(value(s, "SELECT value FROM run_facts WHERE key = 'note'"), "x");
    CHECK_INT(store_run_begin(s, &row, &err), 2);
    CHECK_STR(value(s, "SELECT count(DISTINCT uid) FROM runs"), "2");
    CHECK_STR(err.text, "");
    store_close(s);
}

/* A failed session is not there in part, those before and after it are. */
static void test_session_is_whole(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    struct run_row row = run_row();
    long run = store_run_begin(s, &row, &err);
    CHECK_INT(add_session(s, run, 1, &err), 0);
    struct round_row twice[] = {round_row(1), round_row(1)};
    const struct session_row bad = {
        .session = 2, .class = "ok", .reason = "ok.done", .rounds = twice, .n_rounds = 2};
    CHECK_INT(store_session(s, run, &bad, &err), -1);
    CHECK_INT(err.status, STATUS_TOOL);
    CHECK(strstr(err.text, "UNIQUE") != NULL && strstr(err.text, ":memory:") != NULL);
    err = (struct err){0};
    CHECK_INT(add_session(s, run, 3, &err), 0);
    CHECK_STR(
        value(s, "SELECT min(session) || ',' || max(session) || ',' || count(*) FROM sessions"),
        "1,3,2");
    CHECK_STR(value(s, "SELECT count(*) FROM rounds"), "4");
    store_close(s);
}

/* The child is killed by itself in the middle of writing; what it had reported as stored 25 ms
 * before is there, and the file is sound. */
static void test_killed(void)
{
    int pipe_fd[2];
    CHECK_INT(pipe(pipe_fd), 0);
    const char *path = file_in("killed.db");
    pid_t child = fork();
    if (child == 0) {
        struct err err = {0};
        struct store *s = store_open(path, STORE_WRITE, &err);
        struct run_row row = run_row();
        long run = store_run_begin(s, &row, &err);
        int64_t start = clock_mono_us();
        for (long n = 1; err.status == STATUS_PASS; n++) {
            add_session(s, run, n, &err);
            struct {
                long n;
                int64_t at;
            } mark = {n, clock_mono_us()};
            if (write(pipe_fd[1], &mark, sizeof mark) != sizeof mark)
                break;
            if (mark.at - start > 200000)
                raise(SIGKILL);
        }
        _exit(1);
    }
    close(pipe_fd[1]);
    struct mark {
        long n;
        int64_t at;
    } *marks = NULL, mark;
    size_t n_marks = 0, cap = 0;
    while (read(pipe_fd[0], &mark, sizeof mark) == sizeof mark) {
        marks = mem_grow(marks, &cap, n_marks, sizeof *marks);
        marks[n_marks++] = mark;
    }
    close(pipe_fd[0]);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(n_marks > 10);

    struct err err = {0};
    struct store *s = store_open(path, STORE_READ, &err);
    CHECK_STR(err.text, "");
    long kept = strtol(value(s, "SELECT count(*) FROM sessions"), NULL, 10);
    long safe = 0;
    for (size_t i = 0; i < n_marks; i++)
        if (marks[i].at < marks[n_marks - 1].at - 25000)
            safe = marks[i].n;
    CHECK(safe > 0 && kept >= safe);
    CHECK(kept <= (long)n_marks);
    CHECK_STR(value(s, "SELECT max(session) = count(*) FROM sessions"), "1");
    CHECK_STR(value(s, "SELECT (SELECT count(*) FROM rounds) = 2 * count(*) FROM sessions"), "1");
    CHECK_STR(value(s, "PRAGMA integrity_check"), "ok");
    CHECK_STR(value(s, "SELECT status FROM runs"), "running");
    store_close(s);
    free(marks);
}

/* At a leisurely pace nothing waits at all: a second connection sees each session at once. */
static void test_reader_beside_writer(void)
{
    struct err err = {0};
    struct store *writer = store_open(file_in("both.db"), STORE_WRITE, &err);
    struct run_row row = run_row();
    long run = store_run_begin(writer, &row, &err);
    struct store *reader = store_open(file_in("both.db"), STORE_READ, &err);
    CHECK_STR(err.text, "");
    CHECK_STR(value(reader, "SELECT count(*) FROM runs"), "1");
    for (long n = 1; n <= 100; n++)
        CHECK_INT(add_session(writer, run, n, &err), 0);
    /* A long read holds its snapshot and hinders nobody. */
    struct query *q = store_query(reader, "SELECT session FROM sessions ORDER BY session", &err);
    CHECK(q != NULL);
    int more = query_step(q, &err);
    CHECK_INT(add_session(writer, run, 101, &err), 0);
    CHECK_INT(store_tick(writer, clock_mono_us() + 30000, &err), 0);
    while (more == 1)
        more = query_step(q, &err);
    CHECK_INT(more, 0);
    query_free(q);
    CHECK_STR(value(reader, "SELECT count(*) FROM sessions"), "101");

    CHECK(strncmp(value(reader, "DELETE FROM sessions"), "failed: ", 8) == 0);
    CHECK(strncmp(value(reader, "ATTACH 'x.db' AS x"), "failed: ", 8) == 0);
    CHECK_STR(value(reader, "SELECT count(*) FROM sessions"), "101");
    store_close(reader);
    store_close(writer);
    CHECK_STR(err.text, "");
}

/* Two programs may write into one file at the same time. */
static void test_two_writers(void)
{
    const char *path = file_in("two.db");
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct err err = {0};
            struct store *s = store_open(path, STORE_WRITE, &err);
            struct run_row row = run_row();
            long run = s ? store_run_begin(s, &row, &err) : -1;
            for (long n = 1; run > 0 && n <= 300 && err.status == STATUS_PASS; n++)
                add_session(s, run, n, &err);
            store_close(s);
            if (err.status)
                fprintf(stderr, "%s\n", err.text);
            _exit(err.status ? 1 : 0);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    struct err err = {0};
    struct store *s = store_open(path, STORE_READ, &err);
    CHECK_STR(value(s, "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM sessions GROUP BY "
                       "run)"),
              "300,300");
    store_close(s);
}

/* Opening must fail with this status and a text that holds both words. */
static void expect_refusal(const char *path, enum store_mode mode, int status, const char *word)
{
    struct err err = {0};
    struct store *s = store_open(path, mode, &err);
    CHECK(s == NULL);
    store_close(s);
    CHECK_INT(err.status, status);
    if (!strstr(err.text, path) || !strstr(err.text, word))
        fprintf(stderr, "text: %s\n", err.text);
    CHECK(strstr(err.text, path) != NULL);
    CHECK(strstr(err.text, word) != NULL);
}

static void make_sqlite(const char *path, const char *sql)
{
    struct err err = {0};
    unlink(path);
    struct store *s = store_open(path, STORE_WRITE, &err);
    CHECK(s != NULL);
    value(s, sql);
    store_close(s);
}

static void test_refusals(void)
{
    const char *path = file_in("text.db");
    expect_refusal(file_in("none.db"), STORE_READ, STATUS_USAGE, "No such file");
    CHECK(access(file_in("none.db"), F_OK) != 0);
    expect_refusal(folder, STORE_READ, STATUS_USAGE, "directory");
    expect_refusal(folder, STORE_WRITE, STATUS_USAGE, "directory");
    path = file_in("text.db");
    write_bytes(path, "this is a text, and long enough to be taken for a database's first page\n");
    expect_refusal(path, STORE_READ, STATUS_USAGE, "not a database");
    expect_refusal(path, STORE_WRITE, STATUS_USAGE, "not a database");
    path = file_in("empty.db");
    write_bytes(path, "");
    expect_refusal(path, STORE_READ, STATUS_USAGE, "empty");
    expect_refusal(file_in("no/such/folder.db"), STORE_WRITE, STATUS_TOOL, "No such file");
    expect_refusal("/proc/toolstorm.db", STORE_WRITE, STATUS_TOOL, "cannot");

    path = file_in("newer.db");
    make_sqlite(path, "PRAGMA user_version = 99");
    expect_refusal(path, STORE_READ, STATUS_USAGE, "newer");
    expect_refusal(path, STORE_WRITE, STATUS_USAGE, "format 99");
    path = file_in("other.db");
    make_sqlite(path, "PRAGMA application_id = 12345");
    expect_refusal(path, STORE_READ, STATUS_USAGE, "another program");
    expect_refusal(path, STORE_WRITE, STATUS_USAGE, "another program");
}

/* A file of an older program lacks a table, a column and an index: both ways of opening bring it
 * up to date, and what was stored stays. */
static void test_migration(void)
{
    static const char *const older[] = {"DROP TABLE run_facts",
                                        "ALTER TABLE rounds DROP COLUMN error_text",
                                        "DROP INDEX sessions_by_class"};
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        struct err err = {0};
        const char *path = file_in(mode == STORE_READ ? "old-r.db" : "old-w.db");
        struct store *s = store_open(path, STORE_WRITE, &err);
        struct run_row row = run_row();
        long run = store_run_begin(s, &row, &err);
        CHECK_INT(add_session(s, run, 3, &err), 0);
        for (size_t i = 0; i < sizeof older / sizeof older[0]; i++)
            CHECK_STR(value(s, older[i]), "failed: ");
        store_close(s);
        s = store_open(path, (enum store_mode)mode, &err);
        CHECK_STR(err.text, "");
        CHECK_STR(value(s, "SELECT count(*) FROM run_facts"), "0");
        CHECK_STR(value(s, "SELECT count(*) - count(error_text) FROM rounds"), "2");
        CHECK_STR(value(s, "SELECT count(*) FROM sqlite_master WHERE name = 'sessions_by_class'"),
                  "1");
        CHECK_STR(value(s, "SELECT reason FROM sessions"), "leak.markup");
        store_close(s);
    }
}

/* File rights bind everybody but root: the test becomes nobody if it must. */
static void test_rights(void)
{
    const char *path = file_in("rights.db");
    make_sqlite(path, "SELECT 1");
    CHECK_INT(chmod(path, 0444), 0);
    CHECK_INT(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(0);
        expect_refusal(file_in("rights.db"), STORE_WRITE, STATUS_TOOL, "read-only");
        expect_refusal(file_in("fresh.db"), STORE_WRITE, STATUS_TOOL, "Permission denied");
        /* Reading needs no right to write. */
        struct err err = {0};
        struct store *s = store_open(file_in("rights.db"), STORE_READ, &err);
        CHECK_STR(err.text, "");
        if (s)
            CHECK_STR(value(s, "SELECT count(*) FROM runs"), "0");
        store_close(s);
        _exit(check_failures ? 1 : 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_INT(chmod(folder, 0755), 0);
}

/* The disk is full in the middle of a run: a clear error, and the sessions before it are kept. */
static void test_disk_full(void)
{
    const char *path = file_in("full.db");
    pid_t child = fork();
    if (child == 0) {
        struct err err = {0};
        signal(SIGXFSZ, SIG_IGN);
        struct store *s = store_open(path, STORE_WRITE, &err);
        struct run_row row = run_row();
        long run = store_run_begin(s, &row, &err);
        const struct rlimit limit = {400000, 400000};
        setrlimit(RLIMIT_FSIZE, &limit);
        long n = 0;
        while (n < 100000 && add_session(s, run, n + 1, &err) == 0)
            n++;
        if (err.status != STATUS_TOOL || !strstr(err.text, path))
            fprintf(stderr, "status %d, %s\n", (int)err.status, err.text);
        store_close(s);
        _exit(err.status == STATUS_TOOL && strstr(err.text, path) && n > 50 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    struct err err = {0};
    struct store *s = store_open(path, STORE_READ, &err);
    CHECK_STR(err.text, "");
    CHECK(strtol(value(s, "SELECT count(*) FROM sessions"), NULL, 10) > 50);
    CHECK_STR(value(s, "PRAGMA integrity_check"), "ok");
    store_close(s);
}

static void test_queries(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    CHECK(store_query(s, "SELEC 1", &err) == NULL);
    CHECK_INT(err.status, STATUS_USAGE);
    CHECK(strstr(err.text, "SELEC") != NULL);
    err = (struct err){0};
    CHECK(store_query(s, "SELECT 1; SELECT 2", &err) == NULL);
    CHECK_INT(err.status, STATUS_USAGE);
    err = (struct err){0};
    CHECK(store_query(s, " -- nothing", &err) == NULL);
    err = (struct err){0};
    struct query *q = store_query(s, "SELECT :a AS x, :b, NULL, 1.5; -- end", &err);
    CHECK(query_bind_long(q, "a", 42));
    CHECK(query_bind_text(q, ":b", "t"));
    CHECK(!query_bind_long(q, "c", 1));
    CHECK_INT(query_step(q, &err), 1);
    CHECK_INT(query_columns(q), 4);
    CHECK_STR(query_name(q, 0), "x");
    CHECK(query_is_whole(q, 0) && query_is_number(q, 3) && !query_is_whole(q, 3));
    CHECK(query_is_null(q, 2) && !query_is_number(q, 1));
    CHECK_INT(query_long(q, 0), 42);
    CHECK_STR(query_text(q, 1), "t");
    CHECK_STR(query_text(q, 2), "");
    query_free(q);
    store_close(s);
}

static void test_functions(void)
{
    static const struct {
        const char *sql, *want;
    } cases[] = {
        {"SELECT rate_text(2, 40)", "2/40 = 5.0% [0.6, 17.0]"},
        {"SELECT rate_text(0, 60)", "0/60: below 4.9% (95% upper bound)"},
        {"SELECT rate_text(1.5, 60)", "-1/60: no rate"},
        {"SELECT printf('%.4f', rate_low(2, 40))", "0.0061"},
        {"SELECT printf('%.4f', rate_high(2, 40))", "0.1692"},
        {"SELECT printf('%.4f', rate_bound(0, 60))", "0.0487"},
        {"SELECT rate_low(2, 0)", "NULL"},
        {"SELECT rate_low(NULL, 4)", "NULL"},
        {"SELECT percent_text(2, 40)", "5%"},
        {"SELECT percent_text(5, 40)", "12.5%"},
        {"SELECT percent_text(1, 3)", "33.3%"},
        {"SELECT percent_text(0, 40)", "0%"},
        {"SELECT percent_text(40, 40)", "100%"},
        {"SELECT percent_text(1, 999999)", "0.0001%"},
        {"SELECT percent_text(9999999, 10000000)", "99.99999%"},
        {"SELECT percent_text(0, 0)", "n/a"},
        {"SELECT printf('%.3f', fisher_midp(6, 40, 2, 40))", "0.160"},
        {"SELECT printf('%.4f', boschloo_p(6, 40, 0, 40))", "0.0183"},
        {"SELECT difference_text(9, 120, 18, 120)", "-7.5 pp [-15.8, +0.7]"},
        {"SELECT p_text(fisher_midp(9, 120, 18, 120))", "p=0.070"},
        {"SELECT clean_sessions(0.01)", "299.0"},
        {"SELECT sessions_to_tell(0.15, 0.03, 0.9)", "111.0"},
        {"WITH t(v) AS (VALUES (3), (1), (2), (NULL), ('x')) SELECT quantile(v, 0.5) FROM t",
         "2.0"},
        {"WITH t(v) AS (VALUES (3), (1), (2)) SELECT quantiles(v, 0, 0.25, 1) FROM t",
         "[1,1.5,3,3]"},
        {"SELECT quantile(1, 0.5) FROM runs", "NULL"},
        {"WITH t(v) AS (VALUES (-1e9), (1e-9), (0.0), (7e300), (-0.5), (2), (-1e300))"
         " SELECT quantiles(v, 0, 0.5, 1) FROM t",
         "[-1e+300,0,7e+300,7]"},
        /* 1000 values in an order of their own: the ranks come out. */
        {"WITH RECURSIVE t(n, v) AS (VALUES (1, 1) UNION ALL SELECT n + 1, v * 11 % 1009 FROM t"
         " WHERE n < 1008) SELECT quantiles(v * 1000.5, 0, 0.25, 0.5, 1) FROM t",
         "[1000.5,252876.375,504752.25,1008504,1008]"},
        {"WITH t(w) AS (VALUES ('a b'), (''), ('b  c'), (NULL)) SELECT word_counts(w) FROM t",
         "{\"a\":1,\"b\":2,\"c\":1}"},
        /* 31 clean sessions pass; fed in any order, start order decides. */
        {"WITH RECURSIVE t(n) AS (VALUES (31) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, 0, 0.01, 0.1, 0.05, 0.05) FROM t",
         "pass"},
        {"WITH RECURSIVE t(n) AS (VALUES (30) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, 0, 0.01, 0.1, 0.05, 0.05) FROM t",
         "go on"},
        {"WITH RECURSIVE t(n) AS (VALUES (60) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, n <= 2, 0.01, 0.1, 0.05, 0.05) FROM t",
         "fail"},
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(value(s, cases[i].sql), cases[i].want);
    CHECK(strstr(value(s, "SELECT inflate('xyz')"), "zlib") != NULL);
    /* What --functions lists is what there is. */
    size_t n = 0;
    for (const struct store_function *f; (f = store_function_at(n)); n++) {
        struct buf sql = BUF_INIT;
        buf_addf(&sql, "SELECT count(*) > 0 FROM pragma_function_list WHERE name = '%s'", f->name);
        CHECK_STR(value(s, buf_str(&sql)), "1");
        CHECK(f->meaning[0] != '\0');
        buf_release(&sql);
    }
    CHECK(n > 20);
    store_close(s);
}

static void test_speed(void)
{
    struct err err = {0};
    struct store *s = store_open(file_in("many.db"), STORE_WRITE, &err);
    struct run_row row = run_row();
    long run = store_run_begin(s, &row, &err);
    int64_t start = clock_cpu_us();
    const long n = 20000;
    for (long i = 1; i <= n; i++)
        if (add_session(s, run, i, &err) != 0)
            break;
    store_close(s);
    printf("%ld sessions of 2 rounds in %.2f s of CPU\n", n,
           (double)(clock_cpu_us() - start) / 1e6);
    CHECK_STR(err.text, "");
}

static void remove_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_INT(system(command), 0);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_round_trip();
    test_session_is_whole();
    test_killed();
    test_reader_beside_writer();
    test_two_writers();
    test_refusals();
    test_migration();
    test_rights();
    test_disk_full();
    test_queries();
    test_functions();
    test_speed();
    remove_folder();
    return check_end();
}
