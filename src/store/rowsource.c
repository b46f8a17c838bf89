/* rowsource.c - a virtual table over an array of structs: SQLite asks for columns, and gets them
 * from where tables.c says that they are. It has no index and is read from end to end. */
#include "rowsource.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "buf.h"
#include "mem.h"

struct source_table {
    sqlite3_vtab base;
    const struct row_source *source;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct row_source *source;
    size_t at;
};

static int on_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                      sqlite3_vtab **table, char **error)
{
    (void)argc;
    (void)argv;
    (void)error;
    const struct row_source *source = aux;
    struct buf sql = BUF_INIT;
    for (size_t i = 0; i < source->table->n_columns; i++) {
        buf_adds(&sql, i ? ", " : "CREATE TABLE rows (");
        buf_adds(&sql, source->table->columns[i].name);
    }
    buf_addc(&sql, ')');
    int rc = sqlite3_declare_vtab(db, buf_str(&sql));
    buf_release(&sql);
    if (rc != SQLITE_OK)
        return rc;
    struct source_table *t = mem_zero(1, sizeof *t);
    t->source = source;
    *table = &t->base;
    return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int on_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    (void)plan;
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct cursor *c = mem_zero(1, sizeof *c);
    c->source = ((struct source_table *)(void *)table)->source;
    *cursor = &c->base;
    return SQLITE_OK;
}

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
    return (struct cursor *)(void *)base;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    free(cursor_of(base));
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int plan, const char *name, int argc,
                     sqlite3_value **argv)
{
    (void)plan;
    (void)name;
    (void)argc;
    (void)argv;
    cursor_of(base)->at = 0;
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    cursor_of(base)->at++;
    return SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = cursor_of(base);
    return c->at >= c->source->n;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)cursor_of(base)->at;
    return SQLITE_OK;
}

static void give(sqlite3_context *out, enum column_kind kind, const void *field)
{
    switch (kind) {
    case COL_LONG: sqlite3_result_int64(out, *(const long *)field); break;
    case COL_COUNT:
        if (*(const long *)field >= 0)
            sqlite3_result_int64(out, *(const long *)field);
        break;
    case COL_INT: sqlite3_result_int(out, *(const int *)field); break;
    case COL_TIME:
    case COL_MOMENT:
        if (*(const int64_t *)field >= 0)
            sqlite3_result_int64(out, *(const int64_t *)field);
        break;
    case COL_BOOL: sqlite3_result_int(out, *(const bool *)field); break;
    case COL_DOUBLE: sqlite3_result_double(out, *(const double *)field); break;
    case COL_TEXT: sqlite3_result_text(out, *(const char *const *)field, -1, SQLITE_STATIC); break;
    case COL_BLOB: {
        const struct span *bytes = field;
        sqlite3_result_blob64(out, bytes->data, bytes->len, SQLITE_STATIC);
        break;
    }
    }
}

/* A column that gets nothing is NULL. */
static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct row_source *source = cursor_of(base)->source;
    const struct source_row *r = &source->rows[cursor_of(base)->at];
    const struct column *c = &source->table->columns[column];
    const void *from[N_COLUMN_SOURCES] = {&r->key, r->row, source->end};
    give(out, c->kind, (const char *)from[c->source] + c->offset);
    return SQLITE_OK;
}

int rowsource_register(sqlite3 *db, const char *name, struct row_source *source)
{
    static const sqlite3_module module = {.xConnect = on_connect,
                                          .xBestIndex = on_plan,
                                          .xDisconnect = on_disconnect,
                                          .xOpen = on_open,
                                          .xClose = on_close,
                                          .xFilter = on_filter,
                                          .xNext = on_next,
                                          .xEof = on_eof,
                                          .xColumn = on_column,
                                          .xRowid = on_rowid};
    return sqlite3_create_module(db, name, &module, source);
}
