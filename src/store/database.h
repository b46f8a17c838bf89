/* database.h - what the files of the store share: the connection and the words for its failures. */
#ifndef DATABASE_H
#define DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "rowsource.h"
#include "store.h"
#include "tables.h"

struct store {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *insert[N_TABLES]; /* prepared at first use */
    struct row_source incoming[N_TABLES];
    sqlite3_stmt *end_run, *savepoint, *release;
    bool in_batch;          /* a transaction is open */
    long batched;           /* sessions in it */
    int64_t batch_since_us; /* when it was opened */
    int64_t last_commit_us; /* 0 = never */
};

/* Turns the connection's last failure into an error that says what was being done to which file.
 * Returns -1. */
int database_fail(const struct store *s, const char *doing, struct err *err);

/* Runs statements without results. */
int database_exec(struct store *s, const char *sql, const char *doing, struct err *err) MUST_CHECK;

/* Runs one statement that is run again and again; *slot keeps it prepared. */
int database_again(struct store *s, sqlite3_stmt **slot, const char *sql, const char *doing,
                   struct err *err) MUST_CHECK;

/* One whole number, or -1 with an error. */
int64_t database_number(struct store *s, const char *sql, struct err *err);

/* Runs one INSERT of a table, in the batch that is open. -1 without an error: see database_fail().
 * `row` and `end` may be NULL where the table has no such columns. */
int database_insert(struct store *s, enum table_id id, const struct row_key *key, const void *row,
                    const struct run_end *end) MUST_CHECK;

/* The same for many rows, all or none. */
int database_insert_rows(struct store *s, enum table_id id, const struct source_row *rows,
                         size_t n) MUST_CHECK;

/* Opens a batch if none is open. */
int database_begin(struct store *s, struct err *err) MUST_CHECK;

/* Fills `uid` and `started` of a new row's key: random, and the time in ISO 8601. */
void database_new_key(struct row_key *key, int64_t started_us, char uid[17], char started[40]);

/* Whose file is it? Refuses those of other programs and of a newer one, and, unless `write`, an
 * empty one. Changes nothing. */
int database_check_owner(struct store *s, bool write, struct err *err) MUST_CHECK;

/* How the file's schema stands to this program's. */
enum schema_state {
    SCHEMA_CURRENT,
    SCHEMA_SLOW, /* only indexes differ: it can be read, in more time */
    SCHEMA_OLD   /* tables or columns are missing */
};

/* Creates what is missing: tables, columns, indexes; drops retired indexes. Refuses files of newer
 * programs and of other programs. `write` false: only looks. Returns the schema_state that is left,
 * or -1 with an error. */
int database_migrate(struct store *s, bool write, struct err *err) MUST_CHECK;

#endif
