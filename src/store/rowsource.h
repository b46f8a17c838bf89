/* rowsource.h - rows in memory as a table that SQL can read, so that one statement stores many of
 * them. Inside store only. */
#ifndef ROWSOURCE_H
#define ROWSOURCE_H

#include <sqlite3.h>
#include <stddef.h>

#include "tables.h"

struct source_row {
    struct row_key key;
    const void *row; /* what the table's FROM_ROW columns come from */
};

/* What a statement reads: the rows need not outlive it, the struct outlives the connection. */
struct row_source {
    const struct table *table;
    const struct source_row *rows;
    size_t n;
    const struct run_end *end; /* where FROM_END columns come from; NULL where there are none */
};

/* Makes `source` readable as a table of this name, with the columns of its table; an SQLite result
 * code. */
int rowsource_register(sqlite3 *db, const char *name, struct row_source *source);

#endif
