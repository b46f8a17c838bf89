// layers: store stats base
/* test_database.c - files that can't be opened or written, and files of older programs. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"

static void write_bytes(const char *path, const char *bytes)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (f) {
        fputs(bytes, f);
        fclose(f);
    }
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
                                        "DROP INDEX sessions_by_verdict"};
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
        CHECK_STR(value(s, "SELECT count(*) FROM sqlite_master WHERE name = 'sessions_by_verdict'"),
                  "1");
        CHECK_STR(value(s, "SELECT reason FROM sessions"), "leak.markup");
        store_close(s);
    }
}

/* An index that a newer program has replaced goes, and its successor comes. */
static void test_retired_index(void)
{
    struct err err = {0};
    const char *path = file_in("retired.db");
    struct store *s = store_open(path, STORE_WRITE, &err);
    CHECK_STR(value(s, "DROP INDEX sessions_by_verdict"), "failed: ");
    CHECK_STR(value(s, "CREATE INDEX sessions_by_class ON sessions (run, class)"), "failed: ");
    store_close(s);
    s = store_open(path, STORE_READ, &err);
    CHECK_STR(err.text, "");
    CHECK_STR(value(s,
                    "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = "
                    "'index' AND tbl_name = 'sessions' AND sql IS NOT NULL ORDER BY name)"),
              "sessions_by_verdict");
    store_close(s);
}

/* File rights bind everybody but root: the test becomes nobody if it must. */
static void test_rights(void)
{
    const char *path = file_in("rights.db");
    make_sqlite(path, "SELECT 1");
    CHECK_INT(chmod(path, 0444), 0);
    path = file_in("slow.db");
    make_sqlite(path, "DROP INDEX sessions_by_verdict");
    CHECK_INT(chmod(path, 0444), 0);
    path = file_in("old.db");
    make_sqlite(path, "DROP TABLE run_facts");
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
        /* One that lacks an index is only slower; one that lacks a table must be brought up to date
         * first. */
        s = store_open(file_in("slow.db"), STORE_READ, &err);
        CHECK_STR(err.text, "");
        if (s)
            CHECK_STR(value(s, "SELECT count(*) FROM sessions"), "0");
        store_close(s);
        expect_refusal(file_in("old.db"), STORE_READ, STATUS_TOOL, "read-only");
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

/* Another program holds the file: an error after the busy timeout, and no run half begun. */
static void test_locked(void)
{
    struct err err = {0};
    const char *path = file_in("locked.db");
    struct store *holder = store_open(path, STORE_WRITE, &err);
    struct store *s = store_open(path, STORE_WRITE, &err);
    CHECK_STR(err.text, "");
    CHECK_STR(value(holder, "BEGIN IMMEDIATE"), "failed: ");
    struct run_row row = run_row();
    CHECK_INT(store_run_begin(s, &row, &err), -1);
    CHECK_INT(err.status, STATUS_TOOL);
    CHECK(strstr(err.text, "locked") != NULL && strstr(err.text, path) != NULL);
    CHECK_STR(value(holder, "ROLLBACK"), "failed: ");
    err = (struct err){0};
    CHECK_INT(store_run_begin(s, &row, &err), 1);
    store_close(s);
    store_close(holder);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_refusals();
    test_migration();
    test_retired_index();
    test_rights();
    test_disk_full();
    test_locked();
    remove_folder();
    return check_end();
}
