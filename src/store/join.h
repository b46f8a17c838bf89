/* join.h - rows that were copied into a database find those that they belong to. Works within the
 * transaction that is open. */
#ifndef JOIN_H
#define JOIN_H

#include "err.h"

struct buf;
struct store;

struct join {
    struct store *store;
    const char *from;                 /* the file that the rows came from */
    const char *const *local_options; /* see merge.h */
};

/* Runs with numbers above `after`: one that is there already, and the shards of one run, become one
 * run with the lowest number. Errors: status 2 if a session is there twice with different rows. */
int join_runs(const struct join *j, long after, struct err *err) MUST_CHECK;

/* Likewise for sweeps, by their uid. */
int join_sweeps(const struct join *j, long after, struct err *err) MUST_CHECK;

/* Runs statements without results; empties `sql`. */
int join_exec(const struct join *j, struct buf *sql, struct err *err) MUST_CHECK;

/* The number that a statement gives, `none` for no row or NULL, -1 after an error. */
long join_ask(const struct join *j, const char *sql, long none, struct err *err);

#endif
