/* merge.h - several databases become one: every row of every table comes along, shards of one run
 * become one run. */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct store;

struct merge_request {
    const char *const *files;
    size_t n_files;
    const char *const *local_options; /* settings in which shards of one run may differ; ends with
                                         NULL */
    bool partial;                     /* shards may be missing */
};

/* What a file has brought that was not there. */
struct merge_added {
    long runs, sessions;
};

/* Copies the files' rows into `s`, all or none; runs and sweeps get new numbers, those that are
 * there already (by uid) are completed. Then shards of one run are joined, those that were in `s`
 * before included. `added` has a place for each file. Errors leave `s` as it was: status 2 for a
 * file that is no database, is `s` itself or was written by a newer program, for a session that
 * was played twice and for missing shards; 5 for what can't be read or written. */
int merge_databases(struct store *s, const struct merge_request *r, struct merge_added *added,
                    struct err *err) MUST_CHECK;

#endif
