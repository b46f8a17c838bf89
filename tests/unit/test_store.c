// layers: store stats base
/* test_store.c - what was stored comes back, also when the program is killed, read or doubled
 * meanwhile. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"
#include "store_fixture.h"

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

/* Of several that are stored together each is whole, in whatever order they come; one that can't be
 * stored takes none of those before it along. */
static void test_together(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    struct run_row row = run_row();
    long run = store_run_begin(s, &row, &err);
    struct round_row rounds[] = {round_row(1), round_row(2)};
    rounds[1].request = (struct span){"asked", 5};
    const struct finding_row finding = {
        .round = 2, .class = "ok", .reason = "ok.done", .level = "suspect", .channel = "content"};
    struct session_row many[40];
    const struct session_row *rows[40];
    for (long i = 0; i < 40; i++) {
        many[i] = (struct session_row){.session = 1 + i * 7 % 40,
                                       .class = "ok",
                                       .reason = "ok.done",
                                       .rounds = rounds,
                                       .n_rounds = 2,
                                       .findings = &finding,
                                       .n_findings = 1};
        rows[i] = &many[i];
    }
    CHECK_INT(store_sessions(s, run, rows, 0, &err), 0);
    CHECK_INT(store_sessions(s, run, rows, 20, &err), 0);
    CHECK_STR(value(s, "SELECT count(*) FROM rounds"), "40");
    const struct session_row *bad[] = {rows[20], rows[0], rows[21]};
    CHECK_INT(store_sessions(s, run, bad, 3, &err), -1);
    CHECK(strstr(err.text, "UNIQUE") != NULL);
    CHECK_STR(value(s, "SELECT count(*) FROM sessions"), "21");
    err = (struct err){0};
    CHECK_INT(store_sessions(s, run, rows + 21, 19, &err), 0);
    CHECK_STR(value(s, "SELECT count(*) || ' ' || min(session) || ' ' || max(session) FROM sessions"
                       " JOIN rounds USING (session) JOIN findings USING (session, round)"
                       " JOIN evidence USING (session, round) WHERE data = CAST('asked' AS BLOB)"),
              "40 1 40");
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
    CHECK(store_due_us(writer) == INT64_MAX);
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

/* Sessions that come fast wait for a tick, which says when it wants to be called. */
static void test_due(void)
{
    struct err err = {0};
    struct store *writer = store_open(file_in("due.db"), STORE_WRITE, &err);
    struct run_row row = run_row();
    long run = store_run_begin(writer, &row, &err), n = 0;
    struct store *reader = store_open(file_in("due.db"), STORE_READ, &err);
    CHECK_STR(err.text, "");
    CHECK(store_due_us(writer) == INT64_MAX);
    int64_t before_us = 0, due_us = INT64_MAX;
    while (due_us == INT64_MAX && n < 1000) { /* each of them committed at once */
        before_us = clock_mono_us();
        CHECK_INT(add_session(writer, run, ++n, &err), 0);
        due_us = store_due_us(writer);
    }
    CHECK(due_us >= before_us + 25000 && due_us <= clock_mono_us() + 25000);
    CHECK_INT(store_tick(writer, due_us - 1, &err), 0);
    CHECK_INT(strtol(value(reader, "SELECT count(*) FROM sessions"), NULL, 10), n - 1);
    CHECK(store_due_us(writer) == due_us);
    CHECK_INT(store_tick(writer, due_us, &err), 0);
    CHECK_INT(strtol(value(reader, "SELECT count(*) FROM sessions"), NULL, 10), n);
    CHECK(store_due_us(writer) == INT64_MAX);
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
    CHECK(query_kind(q, 0) == QUERY_LONG && query_kind(q, 3) == QUERY_DOUBLE);
    CHECK(query_is_null(q, 2) && query_kind(q, 1) == QUERY_TEXT);
    CHECK_INT(query_long(q, 0), 42);
    CHECK_STR(query_text(q, 1), "t");
    CHECK_STR(query_text(q, 2), "");
    query_free(q);
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

/* A second program that has the file open, for so many milliseconds; it has it by now. */
static pid_t hold(const char *path, int ms)
{
    int ends[2];
    char ready;
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct err err = {0};
        struct store *s = store_open(path, STORE_READ, &err);
        ssize_t n = write(ends[1], "", 1);
        poll(NULL, 0, ms);
        store_close(s);
        _exit(n != 1 || err.text[0]);
    }
    CHECK_INT(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/* One that only looks into the file is waited for, one that stays is not. */
static void test_alone(void)
{
    const char *path = file_in("alone.db");
    struct err err = {0};
    store_close(store_open(path, STORE_WRITE, &err));
    for (int stays = 0; stays < 2; stays++) {
        pid_t pid = hold(path, stays ? 60000 : 300);
        struct store *s = store_open(path, STORE_WRITE, &err);
        CHECK_STR(err.text, "");
        CHECK_INT(store_check_alone(s, &err), -stays);
        CHECK_INT(err.status, stays ? STATUS_TOOL : 0);
        kill(pid, stays ? SIGKILL : 0);
        waitpid(pid, NULL, 0);
        err = (struct err){0};
        CHECK_INT(store_check_alone(s, &err), 0);
        store_close(s);
    }
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_round_trip();
    test_session_is_whole();
    test_together();
    test_killed();
    test_reader_beside_writer();
    test_due();
    test_two_writers();
    test_alone();
    test_queries();
    test_speed();
    remove_folder();
    return check_end();
}
