/* shards.c - `run --shard K/N` plays a part of a run; here the parts become what one machine would
 * have stored. Sessions, their numbers and verdicts are that exactly; of times and loads it says
 * what the shards' clocks allow. */
#include "shards.h"

#include <string.h>

#include "buf.h"
#include "database.h"
#include "join.h"

#define MOST_NAMED 12

/* Whether it is one that stands alone. */
static long is_loose(const struct join *j, long run, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_addf(&sql,
             "SELECT count(*) FROM run_settings WHERE run = %ld AND key = 'shard' AND value NOT "
             "GLOB '*/1' AND run NOT IN (SELECT run FROM run_shards)",
             run);
    long n = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    return n;
}

int shards_begin(const struct join *j, long run, struct err *err)
{
    long loose = is_loose(j, run, err);
    if (loose <= 0)
        return (int)loose;
    const struct table *t = table_get(TABLE_SHARDS);
    struct buf sql = BUF_INIT, names = BUF_INIT;
    for (size_t i = 0; i < t->n_columns; i++)
        if (strncmp(t->columns[i].name, "shard", 5) != 0)
            buf_addf(&names, ", %s", t->columns[i].name);
    buf_addf(&sql,
             "INSERT INTO run_shards (shard, shards%s) SELECT CAST(value AS INTEGER), "
             "CAST(substr(value, instr(value, '/') + 1) AS INTEGER)%s FROM runs JOIN (SELECT value "
             "FROM run_settings WHERE run = %ld AND key = 'shard') WHERE run = %ld;",
             buf_str(&names), buf_str(&names), run, run);
    /* One machine would have started session K in place K. */
    buf_addf(&sql,
             "UPDATE sessions SET start_order = (start_order - 1) * shards + shard FROM run_shards "
             "s WHERE sessions.run = %ld AND s.run = %ld;"
             "UPDATE run_facts SET key = printf('%%s (shard %%d/%%d)', key, shard, shards) FROM "
             "run_shards s WHERE run_facts.run = %ld AND s.run = %ld;"
             "DELETE FROM run_settings WHERE run = %ld AND key = 'shard'",
             run, run, run, run, run);
    int rc = join_exec(j, &sql, err);
    buf_release(&names);
    buf_release(&sql);
    return rc;
}

/* "r.run has no setting or tag that `run` has not, and the other way round" */
static void add_same_pairs(const char *table, const char *but, long run, struct buf *sql)
{
    static const char form[] = " AND NOT EXISTS (SELECT key, value FROM %s WHERE run = %s AND key "
                               "NOT IN (%s) EXCEPT SELECT key, value FROM %s WHERE run = %s)";
    struct buf number = BUF_INIT;
    buf_addf(&number, "%ld", run);
    buf_addf(sql, form, table, "r.run", but, table, buf_str(&number));
    buf_addf(sql, form, table, buf_str(&number), but, table, "r.run");
    buf_release(&number);
}

/* A run that began with the same scenario, settings and tags. */
static long find_same(const struct join *j, long run, struct err *err)
{
    struct buf sql = BUF_INIT, but = BUF_INIT;
    buf_adds(&but, "''");
    for (const char *const *o = j->local_options; *o; o++)
        buf_addf(&but, ", '%s'", *o);
    buf_addf(&sql,
             "SELECT min(r.run) FROM runs r JOIN runs n ON n.run = %ld WHERE r.run < n.run AND "
             "r.scenario_text IS n.scenario_text AND r.model IS n.model AND r.version IS n.version "
             "AND r.judge_version IS n.judge_version AND (SELECT max(shards) FROM run_shards WHERE "
             "run = r.run) = (SELECT max(shards) FROM run_shards WHERE run = n.run)",
             run);
    add_same_pairs("run_settings", buf_str(&but), run, &sql);
    add_same_pairs("run_tags", "''", run, &sql);
    long there = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&but);
    buf_release(&sql);
    return there;
}

long shards_find(const struct join *j, long run, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_addf(&sql,
             "SELECT min(run) FROM run_shards WHERE run < %ld AND uid IN (SELECT uid FROM "
             "run_shards WHERE run = %ld)",
             run, run);
    long there = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    return there != 0 ? there : find_same(j, run, err);
}

/* The joined run's own row. What a shard does not know is NULL. */
static const char sums[] =
    "UPDATE runs SET (concurrency, threads, cpu_us, late_p99_us, wall_us, status) = (SELECT "
    "sum(concurrency), sum(threads), iif(count(cpu_us) = count(*), sum(cpu_us), NULL), "
    "iif(count(late_p99_us) = count(*), max(late_p99_us), NULL), iif(count(wall_us) = count(*), "
    "max(started_us + wall_us) - min(started_us), NULL), CASE WHEN count(*) < max(shards) THEN "
    "'partial' WHEN sum(status = 'running') THEN 'running' WHEN sum(status = 'interrupted') THEN "
    "'interrupted' WHEN sum(status = 'decided') THEN 'decided' ELSE 'done' END FROM run_shards s "
    "WHERE s.run = runs.run), sessions = (SELECT sum(CAST(value AS INTEGER)) FROM run_settings t "
    "WHERE t.run = runs.run AND key IN ('sessions', 'warmup')) WHERE run = %ld;";

/* Requests in flight at a time, by the clocks of all: what came back counts. */
static const char peak[] =
    "WITH asked AS (SELECT run, sent_us, done_us FROM rounds UNION ALL SELECT run, sent_us, "
    "done_us FROM twins), edges AS (SELECT sent_us AS t, 1 AS d FROM asked WHERE run = %ld AND "
    "done_us >= sent_us UNION ALL SELECT done_us, -1 FROM asked WHERE run = %ld AND done_us >= "
    "sent_us) UPDATE runs SET peak_in_flight = max(coalesce((SELECT max(peak_in_flight) FROM "
    "run_shards s WHERE s.run = runs.run), 0), coalesce((SELECT max(n) FROM (SELECT sum(d) OVER "
    "(ORDER BY t, d ROWS UNBOUNDED PRECEDING) AS n FROM edges)), 0)) WHERE run = %ld;";

static const char words[] =
    "INSERT OR REPLACE INTO run_settings (run, key, value) SELECT run, 'concurrency', concurrency "
    "FROM runs WHERE run = %ld; INSERT OR REPLACE INTO run_facts (run, key, value) SELECT run, "
    "'joined', printf('shards %%s, each played by a client of its own: what was in flight at most "
    "is by the clocks of all, what a round says of it is by its own client''s; the CPU time is the "
    "sum, the lateness the worst; the time is from the first start to the last end', "
    "group_concat(printf('%%d/%%d', shard, shards), ', ')) FROM (SELECT * FROM run_shards WHERE "
    "run = %ld ORDER BY shard)";

int shards_sum(const struct join *j, long run, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_addf(&sql, "SELECT count(*) FROM run_shards WHERE run = %ld", run);
    long n = join_ask(j, buf_str(&sql), 0, err);
    buf_clear(&sql);
    if (n > 0) {
        buf_addf(&sql, sums, run);
        buf_addf(&sql, peak, run, run, run);
        buf_addf(&sql, words, run, run);
        n = join_exec(j, &sql, err);
    }
    buf_release(&sql);
    return (int)n;
}

int shards_check_whole(const struct join *j, struct err *err)
{
    static const char sql[] =
        "WITH RECURSIVE wanted(run, k, n) AS (SELECT run, 1, max(shards) FROM run_shards GROUP BY "
        "run UNION ALL SELECT run, k + 1, n FROM wanted WHERE k < n) SELECT run, k, n, (SELECT "
        "label FROM runs WHERE run = wanted.run) FROM wanted WHERE NOT EXISTS (SELECT 1 FROM "
        "run_shards s WHERE s.run = wanted.run AND shard = k) ORDER BY run, k";
    struct query *q = store_query(j->store, sql, err);
    struct buf names = BUF_INIT, label = BUF_INIT;
    long run = 0, n = 0;
    int rc = q ? 0 : -1;
    /* Of the first run that lacks some. */
    while (q && (rc = query_step(q, err)) == 1 && (run == 0 || run == query_long(q, 0))) {
        run = query_long(q, 0);
        if (n++ < MOST_NAMED)
            buf_addf(&names, "%s%ld/%ld", names.len ? ", " : "", query_long(q, 1),
                     query_long(q, 2));
        buf_clear(&label);
        buf_adds(&label, query_text(q, 3));
    }
    if (rc >= 0 && n > MOST_NAMED)
        buf_addf(&names, " and %ld more", n - MOST_NAMED);
    if (rc >= 0 && n == 1)
        rc = err_set(err, STATUS_USAGE,
                     "shard %s of run '%.200s' is missing: name its database too, or say --partial",
                     buf_str(&names), buf_str(&label));
    else if (rc >= 0 && n > 1)
        rc = err_set(err, STATUS_USAGE,
                     "shards %s of run '%.200s' are missing: name their databases too, or say "
                     "--partial",
                     buf_str(&names), buf_str(&label));
    query_free(q);
    buf_release(&names);
    buf_release(&label);
    return rc < 0 ? -1 : 0;
}
