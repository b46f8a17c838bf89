/* query.c - results of SELECT statements. It changes nothing and knows no table. */
#include "store.h"

#include <stdbool.h>
#include <stdlib.h>

#include "database.h"
#include "mem.h"

struct query {
    const struct store *store;
    sqlite3_stmt *stmt;
};

static int not_reading(struct err *err)
{
    return err_set(err, STATUS_USAGE,
                   "sql: the statement would do more than read, and may only read");
}

/* Words for a statement that can't be used: most often it is the user's. */
static int query_fail(const struct store *s, struct err *err)
{
    int code = sqlite3_errcode(s->db) & 0xFF;
    if (code == SQLITE_AUTH || code == SQLITE_READONLY)
        return not_reading(err);
    if (code == SQLITE_ERROR || code == SQLITE_MISMATCH || code == SQLITE_RANGE ||
        code == SQLITE_TOOBIG)
        return err_set(err, STATUS_USAGE, "sql: %s", sqlite3_errmsg(s->db));
    return database_fail(s, "read", err);
}

/* Questions that PRAGMA answers without changing anything; `about`: of a table or index. */
static const struct question {
    const char *pragma;
    bool about;
} questions[] = {
    {"application_id", false},  {"auto_vacuum", false},      {"collation_list", false},
    {"compile_options", false}, {"data_version", false},     {"database_list", false},
    {"encoding", false},        {"foreign_key_check", true}, {"foreign_key_list", true},
    {"freelist_count", false},  {"function_list", false},    {"index_info", true},
    {"index_list", true},       {"index_xinfo", true},       {"integrity_check", true},
    {"journal_mode", false},    {"module_list", false},      {"page_count", false},
    {"page_size", false},       {"pragma_list", false},      {"quick_check", true},
    {"schema_version", false},  {"table_info", true},        {"table_list", true},
    {"table_xinfo", true},      {"user_version", false},
};

static bool is_question(const char *pragma, const char *argument)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (sqlite3_stricmp(pragma, questions[i].pragma) == 0)
            return questions[i].about || !argument;
    return false;
}

/* Denies what SQLite calls read-only because it writes no file, although it changes the connection.
 * Sets *asked for a PRAGMA that only asks. */
static int deny_changes(void *asked, int action, const char *first, const char *second,
                        const char *database, const char *inner)
{
    (void)database;
    (void)inner;
    switch (action) {
    case SQLITE_PRAGMA:
        if (!is_question(first, second))
            return SQLITE_DENY;
        *(bool *)asked = true;
        return SQLITE_OK;
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY;
    default: return SQLITE_OK;
    }
}

int store_check_reading(struct store *s, const char *sql, struct err *err)
{
    bool asked = false;
    sqlite3_set_authorizer(s->db, deny_changes, &asked);
    struct query *q = store_query(s, sql, err);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    if (!q)
        return -1;
    bool reads = asked || sqlite3_stmt_readonly(q->stmt);
    query_free(q);
    return reads ? 0 : not_reading(err);
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

enum query_kind query_kind(const struct query *q, int column)
{
    switch (sqlite3_column_type(q->stmt, column)) {
    case SQLITE_INTEGER: return QUERY_LONG;
    case SQLITE_FLOAT: return QUERY_DOUBLE;
    case SQLITE_TEXT: return QUERY_TEXT;
    case SQLITE_BLOB: return QUERY_BLOB;
    default: return QUERY_NULL;
    }
}

bool query_is_null(const struct query *q, int column)
{
    return query_kind(q, column) == QUERY_NULL;
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
    const void *data = query_kind(q, column) == QUERY_TEXT
                           ? (const void *)sqlite3_column_text(q->stmt, column)
                           : sqlite3_column_blob(q->stmt, column);
    int n = sqlite3_column_bytes(q->stmt, column);
    return (struct span){data ? data : "", data ? (size_t)n : 0};
}
