/* shards.h - the run that shards make together: its own row, and what is kept of each of them. */
#ifndef SHARDS_H
#define SHARDS_H

#include "err.h"

struct join;

/* Makes a shard that stands alone a joined run of one shard. Any other run stays as it is. */
int shards_begin(const struct join *j, long run, struct err *err) MUST_CHECK;

/* The joined run with a lower number that this joined run is a part of: it has one of its shards,
 * or others of the same scenario, settings and tags. 0 = none; -1 after an error. */
long shards_find(const struct join *j, long run, struct err *err);

/* Writes the joined run's own figures anew, from those of its shards. Any other run stays as it
 * is. */
int shards_sum(const struct join *j, long run, struct err *err) MUST_CHECK;

/* Error of status 2 if shards of a joined run are missing: names them. */
int shards_check_whole(const struct join *j, struct err *err) MUST_CHECK;

#endif
