/* store.c - opening, closing and writing the database. It knows when rows reach the disk; which
 * columns they have is in tables.c, what they mean is the callers' business. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "database.h"
#include "functions.h"
#include "mem.h"

/* How long another program may hold the file. */
#define BUSY_TIMEOUT_MS 5000

/* For so long others may have the file open that is to be had alone; it is looked so often. */
#define OTHERS_US 2000000
#define LOOK_MS   20

/* What a statement or savepoint may have to undo is kept in memory up to here, and beyond in a file
 * in the temporary folder, which with SQLite's own 64 KB every other batch of sessions would make.
 * From 128 KiB on, SQLite 3.40 writes it in pieces that are too large for it: "disk full". */
#define UNDO_BYTES 128000

/* --- opening ---------------------------------------------------------------------------------- */

/* Why the file can't be what `mode` wants, before SQLite makes a vaguer error of it. */
static int check_path(const char *path, enum store_mode mode, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return err_set(err, STATUS_USAGE, "database '%s' is a directory", path);
        return 0;
    }
    if (mode == STORE_READ)
        return err_set(err, STATUS_USAGE, "cannot open database '%s': %s", path, strerror(errno));
    return 0;
}

/* SQLite tries twice and remembers the second reason; the file itself says why. */
static int open_fail(const struct store *s, bool writing, struct err *err)
{
    if ((sqlite3_errcode(s->db) & 0xFF) != SQLITE_CANTOPEN)
        return database_fail(s, "open", err);
    int fd = open(s->path, writing ? O_RDWR | O_CREAT : O_RDONLY, 0666);
    if (fd < 0)
        return err_set(err, STATUS_TOOL, "cannot open database '%s': %s", s->path, strerror(errno));
    close(fd);
    return database_fail(s, "open", err);
}

static int connect_file(struct store *s, int flags, struct err *err)
{
    /* Refused from the second time on, when it is in force. */
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, UNDO_BYTES);
    if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return open_fail(s, flags & SQLITE_OPEN_CREATE, err);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return functions_register(s->db) == SQLITE_OK ? 0 : database_fail(s, "prepare", err);
}

static void disconnect(struct store *s)
{
    for (int i = 0; i < N_TABLES; i++)
        sqlite3_finalize(s->insert[i]);
    sqlite3_finalize(s->end_run);
    sqlite3_finalize(s->savepoint);
    sqlite3_finalize(s->release);
    sqlite3_close_v2(s->db);
    s->db = NULL;
}

/* Opens the file as one that nobody changes. */
static int connect_immutable(struct store *s, struct err *err)
{
    disconnect(s);
    struct buf uri = BUF_INIT;
    buf_adds(&uri, "file:");
    for (const char *p = s->path; *p; p++) {
        if (strchr("%?#", *p))
            buf_addf(&uri, "%%%02X", (unsigned char)*p);
        else
            buf_addc(&uri, *p);
    }
    buf_adds(&uri, "?immutable=1");
    char *path = s->path;
    s->path = buf_take(&uri);
    int rc = connect_file(s, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    free(s->path);
    s->path = path;
    return rc;
}

/* Whether a writer has left something beside the file. */
static bool has_wal(const struct store *s)
{
    char *wal = mem_printf("%s-wal", s->path);
    struct stat st;
    bool left = stat(wal, &st) == 0 && st.st_size > 0;
    free(wal);
    return left;
}

/* A look that leaves no trace: the file may be somebody else's. Where not even that is possible, as
 * after a crash that left a journal, whoever opens it in earnest looks again. */
static int check_owner_first(struct store *s, bool write, struct err *err)
{
    struct stat st;
    struct err first = {0};
    if (stat(s->path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    int rc =
        has_wal(s) ? connect_file(s, SQLITE_OPEN_READONLY, &first) : connect_immutable(s, &first);
    if (rc == 0)
        rc = database_check_owner(s, write, &first);
    disconnect(s);
    if (rc == 0 || first.status != STATUS_USAGE)
        return 0;
    *err = first;
    return -1;
}

/* In WAL mode: the disk is waited for at checkpoints. */
#define SAFE "PRAGMA synchronous=NORMAL"

static int open_for_writing(struct store *s, struct err *err)
{
    if (check_owner_first(s, true, err) < 0 ||
        connect_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err) < 0)
        return -1;
    if (sqlite3_db_readonly(s->db, "main") == 1)
        return err_set(err, STATUS_TOOL, "cannot write database '%s': it is read-only", s->path);
    /* The first statement that touches the file: it tells a database from anything else. */
    if (database_check_owner(s, true, err) < 0)
        return -1;
    /* The disk is not waited for, time and again, while a file is made that holds nothing yet. */
    int64_t pages = database_number(s, "PRAGMA page_count", err);
    if (pages < 0 || database_exec(s, pages ? SAFE : "PRAGMA synchronous=OFF", "open", err) < 0 ||
        database_exec(s, "PRAGMA journal_mode=WAL", "open", err) < 0)
        return -1;
    int missing = database_migrate(s, true, err);
    return missing < 0 || database_exec(s, SAFE, "open", err) < 0 ? -1 : missing;
}

/* A database in WAL mode wants to write beside its file even for a reader. Where that can't be (a
 * read-only medium) and no writer has left anything, the file alone is the whole truth. */
static bool needs_immutable(const struct store *s)
{
    int why = sqlite3_errcode(s->db) & 0xFF;
    if (why != SQLITE_CANTOPEN && why != SQLITE_READONLY)
        return false;
    return !has_wal(s);
}

static int open_for_reading(struct store *s, struct err *err)
{
    if (check_owner_first(s, false, err) < 0 || connect_file(s, SQLITE_OPEN_READONLY, err) < 0)
        return -1;
    struct err first = {0};
    if (database_number(s, "SELECT count(*) FROM sqlite_master", &first) < 0) {
        if (!needs_immutable(s)) {
            *err = first;
            return -1;
        }
        if (connect_immutable(s, err) < 0)
            return -1;
    }
    /* --sql is the user's; this connection is for reading this one file. */
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
    return database_migrate(s, false, err);
}

static void discard(struct store *s)
{
    disconnect(s);
    free(s->path);
    free(s);
}

/* Opens the file; *state is what database_migrate() returned. */
static struct store *store_try(const char *path, enum store_mode mode, int *state, struct err *err)
{
    struct store *s = mem_zero(1, sizeof *s);
    s->path = mem_str(path);
    *state = mode == STORE_WRITE ? open_for_writing(s, err) : open_for_reading(s, err);
    if (*state >= 0)
        return s;
    discard(s);
    return NULL;
}

struct store *store_open(const char *path, enum store_mode mode, struct err *err)
{
    struct err local = {0};
    if (!err)
        err = &local;
    if (check_path(path, mode, err) < 0)
        return NULL;
    int state;
    struct store *s = store_try(path, mode, &state, err);
    if (!s || state == SCHEMA_CURRENT)
        return s;
    /* Written by an older program: bring it up to date first. Where that can't be, a file that only
     * lacks indexes is read as it is. */
    struct err refused = {0};
    int after;
    struct store *writer = store_try(path, STORE_WRITE, &after, &refused);
    if (!writer && state == SCHEMA_SLOW)
        return s;
    discard(s);
    if (!writer) {
        *err = refused;
        return NULL;
    }
    store_close(writer);
    return store_try(path, STORE_READ, &state, err);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    struct err ignored = {0};
    if (store_flush(s, &ignored) < 0)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    disconnect(s);
    free(s->path);
    free(s);
}

int store_check_alone(struct store *s, struct err *err)
{
    /* Out of WAL mode comes only who is alone. */
    static const char leave[] = "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL";
    if (store_flush(s, err) < 0)
        return -1;
    for (int64_t end_us = clock_mono_us() + OTHERS_US;;) {
        struct err why = {0};
        if (database_exec(s, leave, "change", &why) == 0)
            return 0;
        bool others = (sqlite3_errcode(s->db) & 0xFF) == SQLITE_BUSY;
        if (!others || clock_mono_us() >= end_us)
            return err_set(err, why.status, "%s", why.text);
        sqlite3_sleep(LOOK_MS);
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

static int bind_column(sqlite3_stmt *stmt, int at, const struct column *c, const void *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->kind) {
    case COL_LONG: return sqlite3_bind_int64(stmt, at, *(const long *)(const void *)field);
    case COL_COUNT: {
        long n = *(const long *)(const void *)field;
        return n < 0 ? sqlite3_bind_null(stmt, at) : sqlite3_bind_int64(stmt, at, n);
    }
    case COL_INT: return sqlite3_bind_int(stmt, at, *(const int *)(const void *)field);
    case COL_TIME:
    case COL_MOMENT: {
        int64_t t = *(const int64_t *)(const void *)field;
        return t < 0 ? sqlite3_bind_null(stmt, at) : sqlite3_bind_int64(stmt, at, t);
    }
    case COL_BOOL: return sqlite3_bind_int(stmt, at, *(const bool *)(const void *)field);
    case COL_DOUBLE: return sqlite3_bind_double(stmt, at, *(const double *)(const void *)field);
    case COL_TEXT: {
        const char *text = *(const char *const *)(const void *)field;
        return sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
    }
    case COL_BLOB: {
        const struct span *bytes = (const struct span *)(const void *)field;
        return bytes->data ? sqlite3_bind_blob64(stmt, at, bytes->data, bytes->len, SQLITE_STATIC)
                           : sqlite3_bind_null(stmt, at);
    }
    }
    return SQLITE_MISUSE;
}

/* "INSERT INTO sessions (run, ...) SELECT * FROM incoming_sessions": see rowsource.h. */
static sqlite3_stmt *prepare_insert(struct store *s, enum table_id id)
{
    const struct table *t = table_get(id);
    if (s->insert[id])
        return s->insert[id];
    struct buf sql = BUF_INIT;
    char *name = mem_printf("incoming_%s", t->name);
    s->incoming[id].table = t;
    table_insert_from_sql(t, name, &sql);
    if (rowsource_register(s->db, name, &s->incoming[id]) == SQLITE_OK)
        sqlite3_prepare_v3(s->db, buf_str(&sql), -1, SQLITE_PREPARE_PERSISTENT, &s->insert[id],
                           NULL);
    free(name);
    buf_release(&sql);
    return s->insert[id];
}

static int insert(struct store *s, enum table_id id, const struct source_row *rows, size_t n,
                  const struct run_end *end)
{
    sqlite3_stmt *stmt = n ? prepare_insert(s, id) : NULL;
    if (!stmt)
        return n ? -1 : 0;
    struct row_source *source = &s->incoming[id];
    source->rows = rows;
    source->n = n;
    source->end = end;
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    source->n = 0;
    return rc == SQLITE_DONE ? 0 : -1;
}

int database_insert(struct store *s, enum table_id id, const struct row_key *key, const void *row,
                    const struct run_end *end)
{
    return insert(s, id, &(struct source_row){*key, row}, 1, end);
}

int database_insert_rows(struct store *s, enum table_id id, const struct source_row *rows, size_t n)
{
    return insert(s, id, rows, n, NULL);
}

static int insert_pairs(struct store *s, enum table_id id, const struct row_key *key,
                        const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (database_insert(s, id, key, &pairs[i], NULL) < 0)
            return -1;
    return 0;
}

int database_begin(struct store *s, struct err *err)
{
    if (s->in_batch)
        return 0;
    if (database_exec(s, "BEGIN IMMEDIATE", "write", err) < 0)
        return -1;
    s->in_batch = true;
    s->batched = 0;
    s->batch_since_us = clock_mono_us();
    return 0;
}

int store_flush(struct store *s, struct err *err)
{
    if (!s->in_batch)
        return 0;
    /* A full disk may have rolled the transaction back already. */
    bool open = !sqlite3_get_autocommit(s->db);
    if (open && database_exec(s, "COMMIT", "write", err) < 0)
        return -1;
    s->in_batch = false;
    s->last_commit_us = clock_mono_us();
    return 0;
}

static void iso_time(int64_t us, char out[40])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(out, 40, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void database_new_key(struct row_key *key, int64_t started_us, char uid[17], char started[40])
{
    unsigned char random[8];
    sqlite3_randomness(sizeof random, random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(uid + 2 * i, 3, "%02x", random[i]);
    iso_time(started_us, started);
    key->uid = uid;
    key->started = started;
}

static int write_run(struct store *s, struct row_key *key, const struct run_row *row)
{
    const struct run_end running = {
        .status = "running", .peak_in_flight = -1, .wall_us = -1, .cpu_us = -1, .late_p99_us = -1};
    if (database_insert(s, TABLE_RUNS, key, row, &running) < 0 ||
        insert_pairs(s, TABLE_SETTINGS, key, row->settings, row->n_settings) < 0 ||
        insert_pairs(s, TABLE_TAGS, key, row->tags, row->n_tags) < 0)
        return -1;
    return 0;
}

long store_run_begin(struct store *s, const struct run_row *row, struct err *err)
{
    if (store_flush(s, err) < 0 || database_begin(s, err) < 0)
        return -1;
    struct run_row full = *row;
    if (full.started_us == 0)
        full.started_us = clock_wall_us();
    char uid[17], started[40];
    int64_t run = database_number(s, "SELECT coalesce(max(run), 0) + 1 FROM runs", err);
    struct row_key key = {.run = (long)run};
    database_new_key(&key, full.started_us, uid, started);
    if (run > 0 && write_run(s, &key, &full) == 0 && store_flush(s, err) == 0)
        return (long)run;
    database_fail(s, "write", err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->in_batch = false;
    return -1;
}

static int write_run_end(struct store *s, long run, const struct run_end *end)
{
    const struct table *t = table_get(TABLE_RUNS);
    if (!s->end_run) {
        struct buf sql = BUF_INIT;
        table_update_end_sql(t, &sql);
        sqlite3_prepare_v3(s->db, buf_str(&sql), -1, SQLITE_PREPARE_PERSISTENT, &s->end_run, NULL);
        buf_release(&sql);
    }
    sqlite3_stmt *stmt = s->end_run;
    if (!stmt)
        return -1;
    int at = 1;
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].source == FROM_END)
            bind_column(stmt, at++, &t->columns[i], end);
    sqlite3_bind_int64(stmt, at, run);
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    const struct row_key key = {.run = run};
    return rc == SQLITE_DONE ? insert_pairs(s, TABLE_FACTS, &key, end->facts, end->n_facts) : -1;
}

int store_run_end(struct store *s, long run, const struct run_end *end, struct err *err)
{
    if (database_begin(s, err) < 0)
        return -1;
    if (write_run_end(s, run, end) < 0)
        return database_fail(s, "write", err);
    return store_flush(s, err);
}

int store_uncount_after(struct store *s, long run, long start_order, struct err *err)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "UPDATE sessions SET warmup = 1 WHERE run = %ld AND start_order > %ld", run,
             start_order);
    if (database_begin(s, err) < 0 || database_exec(s, sql, "write", err) < 0)
        return -1;
    return store_flush(s, err);
}
