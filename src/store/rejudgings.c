/* rejudgings.c - writes the rows of one rejudging in one transaction: all of it or nothing. */
#include "rejudgings.h"

#include <stdio.h>

#include "clock.h"
#include "database.h"

static int insert(struct store *s, enum table_id id, const struct row_key *key, const void *row,
                  struct err *err)
{
    if (database_insert(s, id, key, row, NULL) < 0)
        return database_fail(s, "write", err);
    return 0;
}

long rejudgings_begin(struct store *s, long run, const struct rejudging_row *row, struct err *err)
{
    char sql[120], uid[17], started[40];
    snprintf(sql, sizeof sql, "SELECT coalesce(max(number), 0) + 1 FROM rejudgings WHERE run = %ld",
             run);
    if (store_flush(s, err) < 0 || database_begin(s, err) < 0)
        return -1;
    int64_t number = database_number(s, sql, err);
    struct row_key key = {.run = run, .number = (int)number};
    database_new_key(&key, clock_wall_us(), uid, started);
    if (number > 0 && insert(s, TABLE_REJUDGINGS, &key, row, err) == 0)
        return (long)number;
    rejudgings_abandon(s);
    return -1;
}

int rejudgings_add(struct store *s, long run, long number, const struct rejudgement_row *row,
                   struct err *err)
{
    const struct row_key key = {.run = run, .number = (int)number};
    return insert(s, TABLE_REJUDGEMENTS, &key, row, err);
}

int rejudgings_end(struct store *s, struct err *err)
{
    return store_flush(s, err);
}

void rejudgings_abandon(struct store *s)
{
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->in_batch = false;
}
