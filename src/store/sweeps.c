/* sweeps.c - writes the rows of sweeps: each is committed at once, for a sweep may be killed at any
 * moment and goes on from what is stored. It knows no plan. */
#include "sweeps.h"

#include <stdio.h>

#include "clock.h"
#include "database.h"

/* Writes one row by itself. */
static int insert_now(struct store *s, enum table_id id, const struct row_key *key, const void *row,
                      struct err *err)
{
    if (database_begin(s, err) < 0)
        return -1;
    if (database_insert(s, id, key, row, NULL) < 0)
        return database_fail(s, "write", err);
    return store_flush(s, err);
}

long sweeps_begin(struct store *s, const struct sweep_row *row, struct err *err)
{
    if (store_flush(s, err) < 0 || database_begin(s, err) < 0)
        return -1;
    int64_t sweep = database_number(s, "SELECT coalesce(max(sweep), 0) + 1 FROM sweeps", err);
    char uid[17], started[40];
    struct row_key key = {.sweep = (long)sweep};
    database_new_key(&key, clock_wall_us(), uid, started);
    if (sweep < 0 || insert_now(s, TABLE_SWEEPS, &key, row, err) < 0)
        return -1;
    return (long)sweep;
}

int sweeps_cell(struct store *s, long sweep, int cell, const struct sweep_cell_row *row,
                struct err *err)
{
    const struct row_key key = {.sweep = sweep, .number = cell};
    return insert_now(s, TABLE_SWEEP_CELLS, &key, row, err);
}

int sweeps_start(struct store *s, long sweep, int start, const struct sweep_start_row *row,
                 struct err *err)
{
    const struct row_key key = {.sweep = sweep, .number = start};
    return insert_now(s, TABLE_SWEEP_STARTS, &key, row, err);
}

int sweeps_hook_call(struct store *s, long sweep, const struct hook_call_row *row, struct err *err)
{
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT coalesce(max(call), 0) + 1 FROM hook_calls WHERE sweep = %ld",
             sweep);
    if (database_begin(s, err) < 0)
        return -1;
    int64_t call = database_number(s, sql, err);
    const struct row_key key = {.sweep = sweep, .number = (int)call};
    return call < 0 ? -1 : insert_now(s, TABLE_HOOK_CALLS, &key, row, err);
}
