/* functions.h - the statistics as SQL functions. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <sqlite3.h>

#include "store.h"

/* One SQL function: what `query --functions` prints, and what carries it out. Exactly one of
 * `real`, `scalar` and the pair `step`, `final` is set. */
struct sql_function {
    struct store_function about;
    int n_args;                         /* -1 = any number */
    double (*real)(const double *args); /* numbers to a number; NULL in or NaN out gives NULL */
    void (*scalar)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
};

/* Makes them all known to a connection; an SQLite result code. */
int functions_register(sqlite3 *db);

/* aggregates.c */
extern const struct sql_function aggregate_functions[]; /* ends with a name of NULL */

/* round_profile.c: what reports tell about rounds. */
void round_profile_step(sqlite3_context *c, int n, sqlite3_value **v);
void round_profile_final(sqlite3_context *c);

#endif
