// layers: store stats base
/* test_merge.c - every table comes along, nothing comes twice, shards become one run, and a failure
 * leaves everything as it was. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem.h"
#include "merge.h"
#include "store_fixture.h"
#include "tables.h"

static const char *const local[] = {"db", "shard", "concurrency", NULL};

static int merge_into(const char *into, const char *from, bool partial, struct err *err)
{
    struct merge_added added = {-1, -1};
    const struct merge_request r = {
        .files = &from, .n_files = 1, .local_options = local, .partial = partial};
    struct store *s = store_open(into, STORE_WRITE, err);
    int rc = s ? merge_databases(s, &r, &added, err) : -1;
    store_close(s);
    return rc;
}

static void expect_merged(const char *into, const char *from, bool partial)
{
    struct err err = {0};
    CHECK_INT(merge_into(into, from, partial, &err), 0);
    CHECK_STR(err.text, "");
}

/* Runs statements; a failure is a failed check. */
static void run_sql(const char *path, const char *const *statements)
{
    struct err err = {0};
    struct store *s = store_open(path, STORE_WRITE, &err);
    for (; *statements; statements++) {
        struct query *q = store_query(s, *statements, &err);
        CHECK_INT(q ? query_step(q, &err) : -1, 0);
        CHECK_STR(err.text, "");
        query_free(q);
    }
    store_close(s);
}

#define RUN_SQL(path, ...) run_sql(path, (const char *const[]){__VA_ARGS__, NULL})

/* The single value of a query on a file. */
static const char *look(const char *path, const char *sql)
{
    struct err err = {0};
    struct store *s = store_open(path, STORE_READ, &err);
    const char *text = s ? value(s, sql) : "";
    CHECK_STR(err.text, "");
    store_close(s);
    return text;
}

static void add_value(struct buf *sql, const struct column *c, long number)
{
    if (strcmp(c->name, "run") == 0 || strcmp(c->name, "sweep") == 0)
        buf_addf(sql, "%ld", number);
    else if (c->kind == COL_TEXT)
        buf_addf(sql, "'%s of %ld'", c->name, number);
    else if (c->kind == COL_BLOB)
        buf_addf(sql, "x'0%ld'", number);
    else
        buf_adds(sql, "3");
}

/* One row in every table, of run and sweep `number`. */
static void fill(const char *path, long number)
{
    struct buf sql = BUF_INIT;
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        /* A table whose first column is neither is one that merge.c and join.c have to be told of.
         */
        CHECK(strcmp(t->columns[0].name, "run") == 0 || strcmp(t->columns[0].name, "sweep") == 0);
        buf_addf(&sql, "INSERT INTO %s VALUES (", t->name);
        for (size_t i = 0; i < t->n_columns; i++) {
            buf_adds(&sql, i ? ", " : "");
            add_value(&sql, &t->columns[i], number);
        }
        buf_addc(&sql, ')');
        RUN_SQL(path, buf_str(&sql));
        buf_clear(&sql);
    }
    buf_release(&sql);
}

/* All rows of all tables, as text. The caller's. */
static char *dump(const char *path)
{
    struct err err = {0};
    struct store *s = store_open(path, STORE_READ, &err);
    CHECK_STR(err.text, "");
    struct buf out = BUF_INIT;
    for (int id = 0; s && id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY %s", t->name, t->key);
        struct query *q = store_query(s, sql, &err);
        buf_addf(&out, "%s\n", t->name);
        while (q && query_step(q, &err) == 1) {
            for (int i = 0; i < query_columns(q); i++)
                buf_addf(&out, "|%s=%s", query_name(q, i),
                         query_is_null(q, i) ? "NULL" : query_text(q, i));
            buf_addc(&out, '\n');
        }
        query_free(q);
    }
    store_close(s);
    return buf_take(&out);
}

/* Merges and expects a refusal that says this and changes nothing. */
static void expect_refusal(const char *into, const char *from, enum exit_status status,
                           const char *part)
{
    struct err err = {0};
    char *before = dump(into);
    CHECK_INT(merge_into(into, from, false, &err), -1);
    CHECK_INT(err.status, status);
    if (!strstr(err.text, part))
        CHECK_STR(err.text, part);
    CHECK(!strchr(err.text, '\n'));
    char *after = dump(into);
    CHECK_STR(after, before);
    free(before);
    free(after);
}

static void test_every_table(void)
{
    char *a = mem_str(file_in("every-a.db")), *b = mem_str(file_in("every-b.db"));
    char *out = mem_str(file_in("every.db"));
    fill(a, 7);
    fill(b, 7);
    RUN_SQL(b, "UPDATE runs SET uid = 'other', scenario_text = 'other'",
            "UPDATE sweeps SET uid = 'other'", "UPDATE run_shards SET uid = 'other'");
    expect_merged(out, a, true);
    char *alone = dump(out);
    expect_merged(out, b, true);
    struct buf sql = BUF_INIT;
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        buf_addf(&sql, "SELECT group_concat(DISTINCT %s) FROM %s", t->columns[0].name, t->name);
        const char *numbers = look(out, buf_str(&sql));
        if (strcmp(numbers, "7,14") != 0)
            fprintf(stderr, "table %s:\n", t->name);
        CHECK_STR(numbers, "7,14");
        buf_clear(&sql);
    }
    buf_release(&sql);
    CHECK_STR(look(out, "SELECT group_concat(run) FROM sweep_starts"), "7,14");
    CHECK_STR(look(out, "SELECT hex(data) FROM evidence WHERE run = 14"), "07");
    char *both = dump(out);
    expect_merged(out, a, true);
    expect_merged(out, b, true);
    char *again = dump(out);
    CHECK_STR(again, both);
    CHECK(strcmp(alone, both) != 0);
    free(alone);
    free(both);
    free(again);
    free(a);
    free(b);
    free(out);
}

static long begin_run(struct store *s, const char *shard, int64_t started_us, const char *label)
{
    struct err err = {0};
    const struct pair pairs[] = {{"sessions", "6"},
                                 {"seed", "7"},
                                 {"label", label},
                                 {"concurrency", "10"},
                                 {"shard", shard}};
    struct run_row row = run_row();
    row.started_us = started_us;
    row.label = label;
    row.settings = pairs;
    row.n_settings = shard ? 5 : 4;
    long run = store_run_begin(s, &row, &err);
    CHECK_STR(err.text, "");
    return run;
}

static void end_run(struct store *s, long run, const char *status)
{
    struct err err = {0};
    const struct pair fact = {"noted", status};
    const struct run_end end = {.status = status,
                                .peak_in_flight = 2,
                                .wall_us = 1000,
                                .cpu_us = 50,
                                .late_p99_us = run,
                                .facts = &fact,
                                .n_facts = 1};
    CHECK_INT(store_run_end(s, run, &end, &err), 0);
}

/* A database with shard `k` of 3: sessions k and k + 3. */
static char *shard_file(const char *name, int k, int64_t started_us)
{
    struct err err = {0};
    char *path = mem_str(file_in(name)), shard[20];
    struct store *s = store_open(path, STORE_WRITE, &err);
    snprintf(shard, sizeof shard, "%d/3", k);
    long run = begin_run(s, shard, started_us, "x");
    CHECK_INT(add_session(s, run, k, &err), 0);
    CHECK_INT(add_session(s, run, k + 3, &err), 0);
    end_run(s, run, "done");
    store_close(s);
    RUN_SQL(path, "UPDATE sessions SET start_order = (session - 1) / 3 + 1");
    return path;
}

static void test_shards(void)
{
    char *files[] = {shard_file("one.db", 1, 5000), shard_file("two.db", 2, 3000),
                     shard_file("three.db", 3, 9000)};
    char *out = mem_str(file_in("joined.db"));
    expect_merged(out, files[0], true);
    CHECK_STR(look(out, "SELECT status || sessions FROM runs"), "partial6");
    expect_refusal(out, files[1], STATUS_USAGE, "shard 3/3 of run 'x' is missing");
    expect_merged(out, files[1], true);
    expect_merged(out, files[2], false);
    CHECK_STR(look(out,
                   "SELECT group_concat(run || status || sessions || ' ' || concurrency || ' ' "
                   "|| started_us || ' ' || wall_us || ' ' || cpu_us) FROM runs"),
              "1done6 30 3000 7000 150");
    CHECK_STR(look(out,
                   "SELECT group_concat(session || '@' || start_order || '@' || start_us) FROM "
                   "(SELECT * FROM sessions ORDER BY session)"),
              "1@1@2001,2@2@2,3@3@6003,4@4@2004,5@5@5,6@6@6006");
    CHECK_STR(look(out, "SELECT group_concat(DISTINCT sent_us) FROM rounds WHERE session = 3"),
              "6110");
    CHECK_STR(look(out, "SELECT max(max_gap_us) FROM rounds"), "0");
    CHECK_STR(look(out, "SELECT count(*) FROM run_settings WHERE key = 'shard'"), "0");
    CHECK_STR(look(out, "SELECT value FROM run_settings WHERE key = 'concurrency'"), "30");
    CHECK_STR(look(out, "SELECT group_concat(key) FROM run_facts"),
              "joined,noted (shard 1/3),noted (shard 2/3),noted (shard 3/3)");
    /* In another order and from a joined one it is the same; nothing comes twice. */
    char *other = mem_str(file_in("joined-2.db")), *done = dump(out);
    expect_merged(other, files[2], true);
    expect_merged(other, out, false);
    CHECK_STR(look(other, "SELECT count(*) || ' ' || min(started_us) FROM runs"), "1 3000");
    CHECK_STR(look(other, "SELECT group_concat(session || '@' || start_us) FROM (SELECT * FROM "
                          "sessions ORDER BY session)"),
              "1@2001,2@2,3@6003,4@2004,5@5,6@6006");
    for (int i = 0; i < 3; i++)
        expect_merged(out, files[i], false);
    expect_merged(out, other, false);
    char *again = dump(out);
    CHECK_STR(again, done);
    free(done);
    free(again);

    /* Shard 1 played anew is not the same sessions. */
    char *twice = shard_file("twice.db", 1, 5001);
    expect_refusal(out, twice, STATUS_USAGE, "session 1 is in run 1");
    RUN_SQL(twice, "UPDATE run_settings SET value = '8' WHERE key = 'seed'");
    expect_refusal(out, twice, STATUS_USAGE, "shards 2/3, 3/3 of run 'x' are missing");
    for (int i = 0; i < 3; i++)
        free(files[i]);
    free(twice);
    free(other);
    free(out);
}

/* A run whose file is merged while it is going on, and again when it is over. */
static void test_growth(void)
{
    struct err err = {0};
    char *path = mem_str(file_in("grows.db")), *out = mem_str(file_in("grown.db"));
    char *old = mem_str(file_in("old.db"));
    struct store *s = store_open(path, STORE_WRITE, &err);
    long run = begin_run(s, NULL, 5000, "");
    CHECK_INT(add_session(s, run, 1, &err), 0);
    CHECK_INT(store_flush(s, &err), 0);
    expect_merged(old, path, false);
    expect_merged(out, path, false);
    CHECK_STR(look(out, "SELECT status FROM runs"), "running");
    CHECK_INT(add_session(s, run, 2, &err), 0);
    end_run(s, run, "done");
    store_close(s);
    expect_merged(out, path, false);
    CHECK_STR(look(out, "SELECT status || ' ' || wall_us || ' ' || (SELECT count(*) FROM sessions) "
                        "|| ' ' || (SELECT group_concat(value) FROM run_facts) FROM runs"),
              "done 1000 2 done");
    char *done = dump(out);
    expect_merged(out, old, false);
    char *again = dump(out);
    CHECK_STR(again, done);
    RUN_SQL(old, "UPDATE rounds SET finish = 'stop' WHERE round = 2");
    expect_refusal(out, old, STATUS_USAGE, "session 1 is in run 1");
    RUN_SQL(path, "DELETE FROM rounds WHERE round = 2 AND session = 2");
    expect_refusal(out, path, STATUS_USAGE, "session 2 is in run 1");
    free(done);
    free(again);
    free(path);
    free(old);
    free(out);
}

/* The same rules over other sessions are one rejudging; other rules have a number of their own. */
static void test_rejudgings(void)
{
    char *one = shard_file("judged-1.db", 1, 1000), *two = shard_file("judged-2.db", 2, 1000);
    char *three = shard_file("judged-3.db", 3, 1000), *out = mem_str(file_in("judged.db"));
    RUN_SQL(one, "INSERT INTO rejudgings VALUES (1, 1, 'mon', '1', 1, 0, NULL, NULL)",
            "INSERT INTO rejudgements (run, number, session, round, twin) VALUES (1, 1, 1, 1, 0)");
    RUN_SQL(two, "INSERT INTO rejudgings VALUES (1, 1, 'tue', '1', 1, 1, NULL, NULL)",
            "INSERT INTO rejudgings VALUES (1, 2, 'wed', '1', 1, 0, NULL, NULL)",
            "INSERT INTO rejudgements (run, number, session, round, twin) VALUES (1, 1, 2, 1, 0)",
            "INSERT INTO rejudgements (run, number, session, round, twin) VALUES (1, 2, 2, 1, 0)");
    expect_merged(out, one, true);
    expect_merged(out, two, true);
    expect_merged(out, three, false);
    expect_merged(out, two, false);
    CHECK_STR(look(out, "SELECT group_concat(number || started) FROM rejudgings"), "1mon,2tue");
    CHECK_STR(look(out, "SELECT group_concat(number || ':' || session) FROM rejudgements"),
              "1:1,1:2,2:2");
    free(one);
    free(two);
    free(three);
    free(out);
}

static void test_refusals(void)
{
    char *out = mem_str(file_in("kept.db")), *bad = mem_str(file_in("bad.db"));
    fill(out, 1);
    RUN_SQL(out, "DELETE FROM run_shards");
    expect_refusal(out, out, STATUS_USAGE, "leave it out");
    expect_refusal(out, file_in("nothing.db"), STATUS_USAGE, "No such file");
    FILE *f = fopen(bad, "w");
    fputs("this is text, and more than a hundred bytes of it, so that nobody takes it for the "
          "beginning of a database of any kind\n",
          f);
    fclose(f);
    expect_refusal(out, bad, STATUS_USAGE, "is not a database");
    unlink(bad);
    fill(bad, 1);
    RUN_SQL(bad, "ALTER TABLE rounds ADD COLUMN mood TEXT");
    expect_refusal(out, bad, STATUS_USAGE, "'rounds.mood'");
    RUN_SQL(bad, "PRAGMA user_version = 99");
    expect_refusal(out, bad, STATUS_USAGE, "newer toolstorm");
    free(out);
    free(bad);
}

/* What an older program did not know is not known. */
static void test_older(void)
{
    char *out = mem_str(file_in("newer.db")), *old = mem_str(file_in("older.db"));
    fill(old, 1);
    RUN_SQL(old, "DROP TABLE run_shards", "DROP TABLE rejudgings",
            "ALTER TABLE rounds DROP COLUMN budget");
    expect_merged(out, old, false);
    CHECK_STR(look(out, "SELECT budget IS NULL AND class = 'class of 1' FROM rounds"), "1");
    CHECK_STR(look(out, "SELECT count(*) FROM rejudgements"), "1");
    free(out);
    free(old);
}

/* The disk is full while rows are copied. */
static void test_disk_full(void)
{
    char *out = mem_str(file_in("full.db")), *big = mem_str(file_in("big.db"));
    fill(out, 1);
    RUN_SQL(out, "DELETE FROM run_shards");
    fill(big, 1);
    RUN_SQL(big, "UPDATE runs SET uid = 'big'", "UPDATE evidence SET data = randomblob(9000000)",
            "DELETE FROM run_shards");
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limit = {400000, 400000};
        setrlimit(RLIMIT_FSIZE, &limit);
        expect_refusal(out, big, STATUS_TOOL, "cannot write database");
        _exit(check_failures != 0);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    expect_merged(out, big, false);
    CHECK_STR(look(out, "SELECT group_concat(length(data)) FROM evidence"), "1,9000000");
    free(out);
    free(big);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_every_table();
    test_shards();
    test_growth();
    test_rejudgings();
    test_refusals();
    test_older();
    test_disk_full();
    remove_folder();
    return check_end();
}
