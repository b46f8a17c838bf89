/* merge.c - copies rows from one database to another. It knows tables by their columns alone: the
 * first one says whose the row is, a run's or a sweep's, and every column of that name is a number
 * that changes on the way. What belongs together is found by join.c. */
#include "merge.h"

#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "database.h"
#include "join.h"
#include "shards.h"

/* What is added to the numbers of a file. */
struct offsets {
    long run, sweep;
};

static void add_columns(const struct table *t, bool numbered, struct buf *sql)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *name = t->columns[i].name;
        buf_addf(sql, "%s%s", i ? ", " : "", name);
        if (numbered && (strcmp(name, "run") == 0 || strcmp(name, "sweep") == 0))
            buf_addf(sql, " + :%s", name);
    }
}

static sqlite3_stmt *prepare_read(struct store *from, const struct table *t,
                                  const struct offsets *add)
{
    struct buf sql = BUF_INIT;
    sqlite3_stmt *stmt = NULL;
    buf_adds(&sql, "SELECT ");
    add_columns(t, true, &sql);
    buf_addf(&sql, " FROM %s", t->name);
    if (sqlite3_prepare_v2(from->db, buf_str(&sql), -1, &stmt, NULL) == SQLITE_OK) {
        /* A parameter that the table does not have is number 0, which nothing is bound to. */
        sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, ":run"), add->run);
        sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, ":sweep"), add->sweep);
    }
    buf_release(&sql);
    return stmt;
}

static int copy_table(struct store *to, struct store *from, const struct table *t,
                      const struct offsets *add, struct err *err)
{
    struct buf sql = BUF_INIT;
    sqlite3_stmt *write = NULL, *read = prepare_read(from, t, add);
    int rc = read ? 0 : database_fail(from, "read", err);
    table_insert_sql(t, &sql);
    if (rc == 0 && sqlite3_prepare_v2(to->db, buf_str(&sql), -1, &write, NULL) != SQLITE_OK)
        rc = database_fail(to, "write", err);
    int step = SQLITE_DONE;
    while (rc == 0 && (step = sqlite3_step(read)) == SQLITE_ROW) {
        for (int i = 0; i < (int)t->n_columns; i++)
            sqlite3_bind_value(write, i + 1, sqlite3_column_value(read, i));
        if (sqlite3_step(write) != SQLITE_DONE)
            rc = database_fail(to, "write", err);
        sqlite3_reset(write);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = database_fail(from, "read", err);
    sqlite3_finalize(read);
    sqlite3_finalize(write);
    buf_release(&sql);
    return rc;
}

static bool is_known(const char *table, const char *column)
{
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        for (size_t i = 0; strcmp(t->name, table) == 0 && i < t->n_columns; i++)
            if (strcmp(t->columns[i].name, column) == 0)
                return true;
    }
    return false;
}

/* Nothing is left behind silently: newer programs may have added columns. */
static int check_columns(struct store *from, struct err *err)
{
    struct query *q = store_query(from,
                                  "SELECT m.name, c.name FROM sqlite_master m JOIN "
                                  "pragma_table_info(m.name) c WHERE m.type = 'table' AND "
                                  "m.name NOT GLOB 'sqlite_*'",
                                  err);
    int rc = q ? 0 : -1;
    while (rc == 0 && (rc = query_step(q, err)) == 1) {
        const char *table = query_text(q, 0), *column = query_text(q, 1);
        rc = is_known(table, column) ? 0
                                     : err_set(err, STATUS_USAGE,
                                               "database '%s' has a column '%s.%s' that this "
                                               "toolstorm does not know: use the newer one",
                                               from->path, table, column);
    }
    query_free(q);
    return rc;
}

static int copy_rows(struct store *to, struct store *from, const struct offsets *add,
                     struct err *err)
{
    /* One view of the file, though a run may still be going on in it. */
    if (check_columns(from, err) < 0 || database_exec(from, "BEGIN", "read", err) < 0)
        return -1;
    for (int id = 0; id < N_TABLES; id++)
        if (copy_table(to, from, table_get((enum table_id)id), add, err) < 0)
            return -1;
    return 0;
}

static int check_other(const struct store *to, const char *path, struct err *err)
{
    struct stat a, b;
    if (stat(path, &a) == 0 && stat(to->path, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino)
        return err_set(err, STATUS_USAGE,
                       "'%s' is the database that the others are merged into: leave it out", path);
    return 0;
}

/* How much there is. */
static int count(struct store *s, struct merge_added *n, struct err *err)
{
    n->runs = (long)database_number(s, "SELECT count(*) FROM runs", err);
    n->sessions = (long)database_number(s, "SELECT count(*) FROM sessions", err);
    return n->runs < 0 || n->sessions < 0 ? -1 : 0;
}

static int merge_file(const struct join *j, struct merge_added *added, struct err *err)
{
    struct store *to = j->store;
    struct merge_added before, after;
    const struct offsets add = {
        (long)database_number(to, "SELECT coalesce(max(run), 0) FROM runs", err),
        (long)database_number(to, "SELECT coalesce(max(sweep), 0) FROM sweeps", err)};
    if (add.run < 0 || add.sweep < 0 || count(to, &before, err) < 0 ||
        check_other(to, j->from, err) < 0)
        return -1;
    struct store *from = store_open(j->from, STORE_READ, err);
    if (!from)
        return -1;
    int rc = copy_rows(to, from, &add, err);
    store_close(from);
    if (rc < 0 || join_runs(j, add.run, err) < 0 || join_sweeps(j, add.sweep, err) < 0 ||
        count(to, &after, err) < 0)
        return -1;
    added->runs = after.runs - before.runs;
    added->sessions = after.sessions - before.sessions;
    return 0;
}

static int merge_all(struct join *j, const struct merge_request *r, struct merge_added *added,
                     struct err *err)
{
    /* Shards that were played into this very file. */
    j->from = j->store->path;
    if (join_runs(j, 0, err) < 0)
        return -1;
    for (size_t i = 0; i < r->n_files; i++) {
        j->from = r->files[i];
        if (merge_file(j, &added[i], err) < 0)
            return -1;
    }
    return r->partial ? 0 : shards_check_whole(j, err);
}

int merge_databases(struct store *s, const struct merge_request *r, struct merge_added *added,
                    struct err *err)
{
    struct join j = {.store = s, .local_options = r->local_options};
    if (store_flush(s, err) < 0 || database_begin(s, err) < 0)
        return -1;
    if (merge_all(&j, r, added, err) == 0 && store_flush(s, err) == 0)
        return 0;
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->in_batch = false;
    return -1;
}
