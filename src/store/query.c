/* query.c - results of SELECT statements. It changes nothing and knows no table. */
#include "store.h"

#include <stdlib.h>

#include "database.h"
#include "mem.h"

struct query {
    const struct store *store;
    sqlite3_stmt *stmt;
};

/* Words for a statement that can't be used: most often it is the user's. */
static int query_fail(const struct store *s, struct err *err)
{
    int code = sqlite3_errcode(s->db) & 0xFF;
    if (code == SQLITE_ERROR || code == SQLITE_AUTH || code == SQLITE_MISMATCH ||
        code == SQLITE_RANGE || code == SQLITE_TOOBIG)
        return err_set(err, STATUS_USAGE, "sql: %s", sqlite3_errmsg(s->db));
    if (code == SQLITE_READONLY)
        return err_set(err, STATUS_USAGE, "sql: the statement would write, and may only read");
    return database_fail(s, "read", err);
}

struct query *store_query(struct store *s, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL, *second = NULL;
    const char *rest = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, &rest) != SQLITE_OK) {
        query_fail(s, err);
        return NULL;
    }
    if (!stmt) {
        err_set(err, STATUS_USAGE, "sql: no statement in '%.60s'", sql);
        return NULL;
    }
    /* A second statement must not be dropped silently; a comment or a semicolon may follow. */
    if (sqlite3_prepare_v2(s->db, rest, -1, &second, NULL) != SQLITE_OK || second) {
        err_set(err, STATUS_USAGE, "sql: one statement at a time, and then comes '%.60s'", rest);
        sqlite3_finalize(second);
        sqlite3_finalize(stmt);
        return NULL;
    }
    struct query *q = mem_zero(1, sizeof *q);
    q->store = s;
    q->stmt = stmt;
    return q;
}

void query_free(struct query *q)
{
    if (!q)
        return;
    sqlite3_finalize(q->stmt);
    free(q);
}

static int parameter(struct query *q, const char *name)
{
    char *full = mem_printf(":%s", name + (*name == ':'));
    int at = sqlite3_bind_parameter_index(q->stmt, full);
    free(full);
    return at;
}

bool query_bind_long(struct query *q, const char *name, long value)
{
    int at = parameter(q, name);
    return at > 0 && sqlite3_bind_int64(q->stmt, at, value) == SQLITE_OK;
}

bool query_bind_text(struct query *q, const char *name, const char *value)
{
    int at = parameter(q, name);
    return at > 0 && sqlite3_bind_text(q->stmt, at, value, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

int query_step(struct query *q, struct err *err)
{
    int rc = sqlite3_step(q->stmt);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return query_fail(q->store, err);
}

int query_columns(const struct query *q)
{
    return sqlite3_column_count(q->stmt);
}

const char *query_name(const struct query *q, int column)
{
    return sqlite3_column_name(q->stmt, column);
}

bool query_is_null(const struct query *q, int column)
{
    return sqlite3_column_type(q->stmt, column) == SQLITE_NULL;
}

bool query_is_number(const struct query *q, int column)
{
    int type = sqlite3_column_type(q->stmt, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool query_is_whole(const struct query *q, int column)
{
    return sqlite3_column_type(q->stmt, column) == SQLITE_INTEGER;
}

long query_long(const struct query *q, int column)
{
    return (long)sqlite3_column_int64(q->stmt, column);
}

double query_double(const struct query *q, int column)
{
    return sqlite3_column_double(q->stmt, column);
}

const char *query_text(const struct query *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, column);
    return text ? (const char *)text : "";
}

struct span query_bytes(const struct query *q, int column)
{
    const void *data = sqlite3_column_blob(q->stmt, column);
    int n = sqlite3_column_bytes(q->stmt, column);
    return (struct span){data ? data : "", data ? (size_t)n : 0};
}
