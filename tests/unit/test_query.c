// layers: report store chat stats base
/* test_query.c - results of statements as table, CSV and JSON. */
#include "figures.h"
#include "report_fixture.h"

static const char *asked(struct store *s, const struct report_query *request)
{
    static char text[4000];
    struct buf out = BUF_INIT;
    struct err err = {0};
    if (report_query(s, request, &plain, &out, &err) != 0)
        snprintf(text, sizeof text, "%s", err.text);
    else
        snprintf(text, sizeof text, "%s", buf_str(&out));
    buf_release(&out);
    return text;
}

static void test_query(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    long run = add_run(s, &(struct fixture){"baseline", 40, 10, 2, 0, 0});
    const struct binding bindings[] = {{.name = "run", .number = run}};
    const char *sql = "SELECT 1 AS n, 'a,\"b\"' AS t, NULL AS x, 0.5 AS d UNION ALL "
                      "SELECT 20, char(27) || '[2J', 3, 1e9";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}),
              "n,t,x,d\n1,\"a,\"\"b\"\"\",,0.5\n20,\x1b[2J,3,1000000000\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}),
              "[{\"n\":1,\"t\":\"a,\\\"b\\\"\",\"x\":null,\"d\":0.5},\n"
              "{\"n\":20,\"t\":\"\\u001b[2J\",\"x\":3,\"d\":1000000000}]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql}), " n  t        x      d\n"
                                                            " 1  a,\"b\"    -    0.5\n"
                                                            "20  \\x1b[2J  3  1e+09\n");
    sql = "SELECT session FROM sessions WHERE 0";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}), "session\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}), "[]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = "SELECT reason_meaning('leak.utf8') AS m"}),
              "m\nU+FFFD or invalid UTF-8\n");
    CHECK(strstr(asked(s, &(struct report_query){.sql = "SELECT nosuch()"}), "nosuch") != NULL);
    CHECK_STR(asked(s, &(struct report_query){.report = "summary",
                                              .section = "damaged",
                                              .bindings = bindings,
                                              .n_bindings = 1,
                                              .form = QUERY_CSV}),
              "session,reason,round\n7,leak.markup,2\n17,no_tool.cap,3\n");
    CHECK(strstr(asked(s, &(struct report_query){.report = "nosuch"}), "there are") != NULL);
    CHECK(strstr(asked(s, &(struct report_query){.report = "summary",
                                                 .section = "nosuch",
                                                 .bindings = bindings,
                                                 .n_bindings = 1}),
                 "latency") != NULL);
    /* Every shipped section prints as a table. */
    const char *tables = asked(
        s, &(struct report_query){.report = "summary", .bindings = bindings, .n_bindings = 1});
    CHECK(strstr(tables, "counts\n") && strstr(tables, "percent"));
    store_close(s);
}

static int drop_piece(void *arg, const struct buf *out, struct err *err)
{
    (void)err;
    *(size_t *)arg += out->len;
    return 0;
}

/* A table is held in memory, and so has limits, by rows and by size; CSV and JSON pass through. Of
 * a long text a table keeps what it can show. */
static void test_limits(void)
{
    static const char rows[] =
        "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < %d) "
        "SELECT %s AS t, v FROM n";
    char sql[200];
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    snprintf(sql, sizeof sql, rows, 200001, "1");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql}),
              "more than 200000 rows: only CSV and JSON have no limit");
    snprintf(sql, sizeof sql, rows, 60000, "hex(zeroblob(600))");
    CHECK(strstr(asked(s, &(struct report_query){.sql = sql}),
                 " rows take more than 64 MB: only CSV and JSON have no limit") != NULL);
    struct buf out = BUF_INIT;
    size_t passed = 0;
    const struct report_query csv = {
        .sql = sql, .form = QUERY_CSV, .flush = drop_piece, .arg = &passed};
    CHECK_INT(report_query(s, &csv, &plain, &out, &err), 0);
    /* "t,v", and 1,200 digits, a comma, a number and a line feed a row. */
    CHECK_INT(passed + out.len, 4 + 60000 * 1202 + 9 + 90 * 2 + 900 * 3 + 9000 * 4 + 50001 * 5);
    CHECK(out.size < (4 << 20));
    buf_release(&out);
    snprintf(sql, sizeof sql, rows, 1, "replace(hex(zeroblob(5000000)), '0', 'é')");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql}),
              "t                                                             v\n"
              "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…  1\n");
    report_names(&plain, &out);
    CHECK(strstr(buf_str(&out), "\n  report     What the runs") != NULL);
    CHECK(strstr(buf_str(&out), "css") == NULL && strstr(buf_str(&out), "  report     \n") == NULL);
    buf_release(&out);
    store_close(s);
}

/* The user's statement may only read: everything else is bad input, with one clear line. */
static void test_only_reading(void)
{
    static const char *const refused[] = {
        "PRAGMA journal_mode=DELETE",
        "PRAGMA journal_mode(WAL)",
        "pragma User_Version = 4",
        "PRAGMA wal_checkpoint",
        "PRAGMA optimize",
        "PRAGMA query_only=0",
        "PRAGMA nosuch",
        "PRAGMA locking_mode=EXCLUSIVE",
        "PRAGMA writable_schema=1",
        "PRAGMA cache_size=-1000000",
        "PRAGMA incremental_vacuum",
        "ATTACH '/nowhere/x.db' AS a",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '/nowhere/x.db'",
        "BEGIN",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT a",
        "RELEASE a",
        "INSERT INTO runs (run) VALUES (99)",
        "INSERT INTO runs (run) VALUES (99) RETURNING run",
        "UPDATE runs SET label = 'x'",
        "DELETE FROM runs WHERE 0",
        "WITH x AS (SELECT 1) DELETE FROM runs",
        "REINDEX",
        "ANALYZE",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x AS SELECT 1",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE INDEX i ON runs (model)",
        "DROP TABLE runs",
        "ALTER TABLE runs ADD COLUMN z",
        "CREATE TEMP TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END",
    };
    static const char *const asked_only[] = {
        "PRAGMA journal_mode",
        "PRAGMA table_info(runs)",
        "PRAGMA integrity_check",
        "PRAGMA user_version",
        "SELECT * FROM pragma_table_info('runs')",
        "VALUES (1)",
        "SELECT * FROM json_each('[1]')",
        "EXPLAIN QUERY PLAN SELECT * FROM runs",
        "WITH RECURSIVE n (v) AS (VALUES (1) UNION SELECT v + 1 FROM n LIMIT 3) SELECT v FROM n",
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    add_run(s, &(struct fixture){"baseline", 10, 10, 0, 0, 0});
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct buf out = BUF_INIT;
        err = (struct err){0};
        CHECK_INT(report_query(s, &(struct report_query){.sql = refused[i]}, &plain, &out, &err),
                  -1);
        CHECK_INT(err.status, STATUS_USAGE);
        CHECK_STR(err.text, "sql: the statement would do more than read, and may only read");
        CHECK_INT(out.len, 0);
        buf_release(&out);
    }
    for (size_t i = 0; i < sizeof asked_only / sizeof *asked_only; i++) {
        struct buf out = BUF_INIT;
        err = (struct err){0};
        CHECK_INT(report_query(s, &(struct report_query){.sql = asked_only[i]}, &plain, &out, &err),
                  0);
        CHECK_STR(err.text, "");
        CHECK(out.len > 0);
        buf_release(&out);
    }
    /* Nothing came of them, and reports still make their scratch tables. */
    CHECK_STR(asked(s, &(struct report_query){.sql = "SELECT count(*), max(label) FROM runs",
                                              .form = QUERY_CSV}),
              "count(*),max(label)\n1,baseline\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = "SELECT count(*) FROM sqlite_temp_master",
                                              .form = QUERY_CSV}),
              "count(*)\n0\n");
    const struct binding run = {.name = "run", .number = 1};
    CHECK(strstr(
              asked(s,
                    &(struct report_query){.report = "summary", .bindings = &run, .n_bindings = 1}),
              "counts\n") != NULL);
    store_close(s);
}

int main(void)
{
    test_query();
    test_only_reading();
    test_limits();
    return check_end();
}
