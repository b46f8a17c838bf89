/* tables.h - the tables of the database as data: a column is one row, from which CREATE TABLE,
 * ALTER TABLE and INSERT are made. */
#ifndef TABLES_H
#define TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

/* What a column's value is in C, and what becomes NULL. */
enum column_kind {
    COL_LONG,
    COL_COUNT,  /* long; negative = not known = NULL */
    COL_INT,    /* int */
    COL_TIME,   /* int64_t microseconds; negative = never = NULL */
    COL_MOMENT, /* the same, since the run's start */
    COL_BOOL,   /* bool, as 0 or 1 */
    COL_DOUBLE, /* NaN = NULL */
    COL_TEXT,   /* const char *; NULL = NULL */
    COL_BLOB    /* struct span, as bytes */
};

/* Columns come from up to three structs: keys that the store knows, the row of the caller, and what
 * is known only at the end. */
enum column_source { FROM_KEY, FROM_ROW, FROM_END, N_COLUMN_SOURCES };

struct column {
    const char *name;
    enum column_kind kind;
    enum column_source source;
    size_t offset;
};

enum table_id {
    TABLE_RUNS,
    TABLE_SHARDS,
    TABLE_SESSIONS,
    TABLE_ROUNDS,
    TABLE_FINDINGS,
    TABLE_TWINS,
    TABLE_TWIN_FINDINGS,
    TABLE_EVIDENCE,
    TABLE_SETTINGS,
    TABLE_TAGS,
    TABLE_FACTS,
    TABLE_SWEEPS,
    TABLE_SWEEP_CELLS,
    TABLE_SWEEP_STARTS,
    TABLE_HOOK_CALLS,
    TABLE_REJUDGINGS,
    TABLE_REJUDGEMENTS,
    N_TABLES
};

struct table {
    const char *name;
    const char *key; /* columns of the primary key */
    bool rowid;      /* rows with large values are kept outside the key's tree */
    bool replaces;   /* a second row with the same key replaces the first */
    const struct column *columns;
    size_t n_columns;
};

/* FROM_KEY of every table. */
struct row_key {
    long run, session, sweep, shard, shards;
    int round, number;
    const char *started; /* ISO 8601, UTC */
    const char *uid;
};

/* FROM_ROW of the evidence: one part of one exchange, "request", "headers", "response" or
 * "arrivals"; of a twin "twin.request" and so on. */
struct evidence_part {
    const char *part;
    bool deflated;
    long size; /* of the bytes before deflating */
    struct span data;
};

const struct table *table_get(enum table_id id);

void table_create_sql(const struct table *t, struct buf *out);
void table_add_column_sql(const struct table *t, const struct column *c, struct buf *out);
void table_insert_sql(const struct table *t, struct buf *out);

/* The same with the rows of a table that has the same columns. */
void table_insert_from_sql(const struct table *t, const char *source, struct buf *out);

/* Sets the FROM_END columns of the row whose first column is the last parameter. */
void table_update_end_sql(const struct table *t, struct buf *out);

struct table_index {
    const char *name, *on; /* "runs (label)" */
};

/* Ends with a row of NULLs. An index is only speed: a file without it is read all the same. */
extern const struct table_index table_indexes[];

/* Names of indexes of older programs that another one has replaced; ends with NULL. */
extern const char *const table_retired_indexes[];

#endif
