/* database.c - the connection: its failures in words, and the schema of the file behind it. */
#include "database.h"

#include <string.h>

#include "buf.h"

/* Grows only when a file of this program could be misread by an older one; added tables, columns
 * and indexes are found missing by themselves. */
#define FORMAT_VERSION 1

/* "tsto": says that a file is ours. */
#define APPLICATION_ID 0x7473746F

static const char *last_word(const struct store *s)
{
    int system = s->db ? sqlite3_system_errno(s->db) : 0;
    int code = s->db ? sqlite3_errcode(s->db) & 0xFF : SQLITE_NOMEM;
    if (system != 0 && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR))
        return strerror(system);
    return s->db ? sqlite3_errmsg(s->db) : "out of memory";
}

int database_fail(const struct store *s, const char *doing, struct err *err)
{
    int code = s->db ? sqlite3_errcode(s->db) & 0xFF : SQLITE_NOMEM;
    switch (code) {
    case SQLITE_NOTADB: return err_set(err, STATUS_USAGE, "'%s' is not a database", s->path);
    case SQLITE_CORRUPT:
        return err_set(err, STATUS_TOOL, "database '%s' is damaged: %s", s->path, last_word(s));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, STATUS_TOOL, "cannot %s database '%s': locked by another program",
                       doing, s->path);
    case SQLITE_FULL:
        return err_set(err, STATUS_TOOL, "cannot %s database '%s': the disk is full", doing,
                       s->path);
    case SQLITE_READONLY:
        return err_set(err, STATUS_TOOL, "cannot %s database '%s': it is read-only", doing,
                       s->path);
    default:
        return err_set(err, STATUS_TOOL, "cannot %s database '%s': %s", doing, s->path,
                       last_word(s));
    }
}

int database_exec(struct store *s, const char *sql, const char *doing, struct err *err)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return database_fail(s, doing, err);
    return 0;
}

int database_again(struct store *s, sqlite3_stmt **slot, const char *sql, const char *doing,
                   struct err *err)
{
    if (!*slot)
        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
    int rc = *slot ? sqlite3_step(*slot) : SQLITE_ERROR;
    if (*slot)
        sqlite3_reset(*slot);
    return rc == SQLITE_DONE ? 0 : database_fail(s, doing, err);
}

int64_t database_number(struct store *s, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;
    if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int64(stmt, 0);
    if (n < 0)
        database_fail(s, "read", err);
    sqlite3_finalize(stmt);
    return n;
}

static bool has_column(const struct store *s, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(s->db, "main", table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* Adds to `sql` what brings the file up to date. */
static void missing_tables(const struct store *s, struct buf *sql)
{
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        if (!has_column(s, t->name, t->columns[0].name)) {
            table_create_sql(t, sql);
            continue;
        }
        for (size_t i = 1; i < t->n_columns; i++)
            if (!has_column(s, t->name, t->columns[i].name))
                table_add_column_sql(t, &t->columns[i], sql);
    }
}

/* Whether the file has an index of that name; -1 with an error. */
static int has_index(struct store *s, const char *name, struct err *err)
{
    struct buf look = BUF_INIT;
    buf_addf(&look, "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = '%s'",
             name);
    int64_t n = database_number(s, buf_str(&look), err);
    buf_release(&look);
    return n < 0 ? -1 : n > 0;
}

static int missing_indexes(struct store *s, struct buf *sql, struct err *err)
{
    for (const char *const *name = table_retired_indexes; *name; name++) {
        int has = has_index(s, *name, err);
        if (has < 0)
            return -1;
        if (has)
            buf_addf(sql, "DROP INDEX IF EXISTS %s;", *name);
    }
    for (const struct table_index *x = table_indexes; x->name; x++) {
        int has = has_index(s, x->name, err);
        if (has < 0)
            return -1;
        if (!has)
            buf_addf(sql, "CREATE INDEX IF NOT EXISTS %s ON %s;", x->name, x->on);
    }
    return 0;
}

/* What tells whose file it is, from one moment: another program may be making it right now. */
struct owner {
    int64_t id, version, objects;
};

static int read_owner(struct store *s, struct owner *o, struct err *err)
{
    static const char sql[] =
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version";
    sqlite3_stmt *stmt = NULL;
    int rc = -1;
    if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        *o = (struct owner){sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
                            sqlite3_column_int64(stmt, 2)};
        rc = 0;
    }
    if (rc < 0)
        database_fail(s, "read", err);
    sqlite3_finalize(stmt);
    return rc;
}

int database_check_owner(struct store *s, bool write, struct err *err)
{
    struct owner o;
    if (read_owner(s, &o, err) < 0)
        return -1;
    if (o.objects == 0 && o.id == 0)
        return write ? 0
                     : err_set(err, STATUS_USAGE, "database '%s' is empty: no run was stored in it",
                               s->path);
    if (o.id != APPLICATION_ID)
        return err_set(err, STATUS_USAGE, "database '%s' belongs to another program", s->path);
    if (o.version > FORMAT_VERSION)
        return err_set(err, STATUS_USAGE,
                       "database '%s' was written by a newer toolstorm (format %d, this program "
                       "knows up to %d)",
                       s->path, (int)o.version, FORMAT_VERSION);
    return 0;
}

/* Adds to `sql` what brings the file up to date: a schema_state, or -1 with an error. */
static int look(struct store *s, struct buf *sql, struct err *err)
{
    missing_tables(s, sql);
    bool old = sql->len > 0;
    if (missing_indexes(s, sql, err) < 0)
        return -1;
    return old ? SCHEMA_OLD : sql->len ? SCHEMA_SLOW : SCHEMA_CURRENT;
}

int database_migrate(struct store *s, bool write, struct err *err)
{
    if (database_check_owner(s, write, err) < 0)
        return -1;
    struct buf sql = BUF_INIT;
    int rc = look(s, &sql, err);
    if (rc <= SCHEMA_CURRENT || !write)
        goto out;
    /* Look again under the lock: two programs may open a new file at the same moment. */
    rc = -1;
    if (database_exec(s, "BEGIN IMMEDIATE", "write", err) < 0)
        goto out;
    buf_clear(&sql);
    if (look(s, &sql, err) >= 0) {
        buf_addf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                 APPLICATION_ID, FORMAT_VERSION);
        rc = database_exec(s, buf_str(&sql), "write", err);
    }
    if (rc < 0)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
out:
    buf_release(&sql);
    return rc;
}
