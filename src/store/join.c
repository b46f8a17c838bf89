/* join.c - folds the rows of one run or sweep into those of another. Like merge.c it takes tables
 * and their keys from tables.c. */
#include "join.h"

#include <string.h>

#include "buf.h"
#include "database.h"
#include "shards.h"

/* Two owners of rows: runs or sweeps. */
struct pair_of {
    const char *owner; /* "run", "sweep" */
    long from, to;
};

int join_exec(const struct join *j, struct buf *sql, struct err *err)
{
    int rc = database_exec(j->store, buf_str(sql), "write", err);
    buf_clear(sql);
    return rc;
}

long join_ask(const struct join *j, const char *sql, long none, struct err *err)
{
    struct query *q = store_query(j->store, sql, err);
    int rc = q ? query_step(q, err) : -1;
    long n = rc == 1 && !query_is_null(q, 0) ? query_long(q, 0) : rc < 0 ? -1 : none;
    query_free(q);
    return n;
}

/* --- tables -------------------------------------------------------------------------------------
 */

static bool is_owned(const struct table *t, const char *owner)
{
    return strcmp(t->columns[0].name, owner) == 0 && strcmp(t->key, owner) != 0;
}

/* Rows that come and go with a session. */
static bool is_of_session(const struct table *t)
{
    return strncmp(t->key, "run, session", 12) == 0;
}

/* Lists that every run numbers for itself. */
static bool is_numbered(const struct table *t)
{
    return strncmp(t->key, "run, number", 11) == 0;
}

static void add_columns(const struct table *t, struct buf *sql)
{
    for (size_t i = 1; i < t->n_columns; i++)
        buf_addf(sql, "%s%s", i > 1 ? ", " : "", t->columns[i].name);
}

/* "the row is in `a` and belongs to something that `b` has too" */
static void add_common(const struct table *t, const char *owner, long a, long b, struct buf *sql)
{
    const char *rest = strchr(t->key, ',') + 2;
    if (is_of_session(t))
        buf_addf(sql, "run = %ld AND session IN (SELECT session FROM sessions WHERE run = %ld)", a,
                 b);
    else
        buf_addf(sql, "%s = %ld AND (%s) IN (SELECT %s FROM %s WHERE %s = %ld)", owner, a, rest,
                 rest, t->name, owner, b);
}

static void add_difference(const struct table *t, const struct pair_of *p, bool back,
                           struct buf *sql)
{
    long a = back ? p->to : p->from, b = back ? p->from : p->to;
    buf_addf(sql, "SELECT %s FROM (SELECT ", is_of_session(t) ? "session" : "1");
    add_columns(t, sql);
    buf_addf(sql, " FROM %s WHERE ", t->name);
    add_common(t, p->owner, a, b, sql);
    buf_adds(sql, " EXCEPT SELECT ");
    add_columns(t, sql);
    buf_addf(sql, " FROM %s WHERE ", t->name);
    add_common(t, p->owner, b, a, sql);
    buf_addc(sql, ')');
}

/* What both have must be the same. */
static int check_same(const struct join *j, const struct table *t, const struct pair_of *p,
                      struct err *err)
{
    struct buf sql = BUF_INIT;
    add_difference(t, p, false, &sql);
    buf_adds(&sql, " UNION ALL ");
    add_difference(t, p, true, &sql);
    buf_adds(&sql, " LIMIT 1");
    long n = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    if (n > 0 && is_of_session(t))
        return err_set(err, STATUS_USAGE,
                       "'%s': session %ld is in run %ld of '%s' with other rows: it was played "
                       "twice, or other runs share label, tags and settings (give each a --tag)",
                       j->from, n, p->to, j->store->path);
    if (n > 0)
        return err_set(err, STATUS_USAGE, "'%s': its '%s' of %s %ld in '%s' are others", j->from,
                       t->name, p->owner, p->to, j->store->path);
    return n < 0 ? -1 : 0;
}

static int check_all(const struct join *j, const struct pair_of *p, struct err *err)
{
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        if (is_owned(t, p->owner) && !t->replaces && strcmp(t->key, "run, number") != 0 &&
            check_same(j, t, p, err) < 0)
            return -1;
    }
    return 0;
}

/* `newer`: of rows that can be replaced, those of `from` count. */
static int move_rows(const struct join *j, const struct table *t, const struct pair_of *p,
                     bool newer, struct err *err)
{
    struct buf sql = BUF_INIT;
    if (!t->replaces) {
        buf_addf(&sql, "DELETE FROM %s WHERE ", t->name);
        add_common(t, p->owner, p->from, p->to, &sql);
        buf_addc(&sql, ';');
    }
    buf_addf(&sql, "UPDATE OR %s %s SET %s = %ld WHERE %s = %ld; DELETE FROM %s WHERE %s = %ld",
             !t->replaces ? "ABORT"
             : newer      ? "REPLACE"
                          : "IGNORE",
             t->name, p->owner, p->to, p->owner, p->from, t->name, p->owner, p->from);
    int rc = join_exec(j, &sql, err);
    buf_release(&sql);
    return rc;
}

/* Columns of other tables that name a run. */
static int rename_run(const struct join *j, const struct pair_of *p, struct err *err)
{
    struct buf sql = BUF_INIT;
    int rc = 0;
    for (int id = 0; id < N_TABLES && rc == 0; id++) {
        const struct table *t = table_get((enum table_id)id);
        for (size_t i = 1; i < t->n_columns && rc == 0; i++)
            if (strcmp(t->columns[i].name, p->owner) == 0) {
                buf_addf(&sql, "UPDATE %s SET %s = %ld WHERE %s = %ld", t->name, p->owner, p->to,
                         p->owner, p->from);
                rc = join_exec(j, &sql, err);
            }
    }
    buf_release(&sql);
    return rc;
}

static int fold(const struct join *j, const struct pair_of *p, bool newer, struct err *err)
{
    /* The sessions last: they say what of the other tables both have. */
    for (int id = N_TABLES; id-- > 0;) {
        const struct table *t = table_get((enum table_id)id);
        if (is_owned(t, p->owner) && id != TABLE_SESSIONS && move_rows(j, t, p, newer, err) < 0)
            return -1;
    }
    if (strcmp(p->owner, "run") == 0 && move_rows(j, table_get(TABLE_SESSIONS), p, newer, err) < 0)
        return -1;
    if (rename_run(j, p, err) < 0)
        return -1;
    struct buf sql = BUF_INIT;
    buf_addf(&sql, "DELETE FROM %ss WHERE %s = %ld", p->owner, p->owner, p->from);
    int rc = join_exec(j, &sql, err);
    buf_release(&sql);
    return rc;
}

/* --- one run into another -----------------------------------------------------------------------
 */

static int shift(const struct join *j, long run, long us, struct err *err)
{
    struct buf sql = BUF_INIT;
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        bool any = false;
        for (size_t i = 0; i < t->n_columns; i++) {
            const char *name = t->columns[i].name;
            if (t->columns[i].kind != COL_MOMENT)
                continue;
            if (!any)
                buf_addf(&sql, "UPDATE %s SET ", t->name);
            buf_addf(&sql, "%s%s = %s + %ld", any ? ", " : "", name, name, us);
            any = true;
        }
        if (any)
            buf_addf(&sql, " WHERE run = %ld;", run);
    }
    int rc = join_exec(j, &sql, err);
    buf_release(&sql);
    return rc;
}

/* Moments count from the earlier start of the two. */
static int align(const struct join *j, const struct pair_of *p, struct err *err)
{
    struct buf sql = BUF_INIT;
    struct err why = {0};
    buf_addf(&sql,
             "SELECT (SELECT started_us FROM runs WHERE run = %ld) - started_us FROM runs WHERE "
             "run = %ld",
             p->from, p->to);
    long later_us = join_ask(j, buf_str(&sql), 0, &why); /* negative is no failure */
    int rc = why.status ? -1 : 0;
    if (rc < 0)
        *err = why;
    else if (later_us > 0)
        rc = shift(j, p->from, later_us, err);
    else if (later_us < 0) {
        buf_clear(&sql);
        buf_addf(&sql,
                 "UPDATE runs SET (started, started_us) = (SELECT started, started_us FROM runs "
                 "WHERE run = %ld) WHERE run = %ld",
                 p->from, p->to);
        rc = shift(j, p->to, -later_us, err);
        if (rc == 0)
            rc = join_exec(j, &sql, err);
    }
    buf_release(&sql);
    return rc;
}

/* Numbered lists get the numbers of the same entries there, or free ones. */
static int renumber(const struct join *j, const struct pair_of *p, struct err *err)
{
    const struct table *list = table_get(TABLE_REJUDGINGS);
    struct buf sql = BUF_INIT, same = BUF_INIT;
    for (size_t i = 0; i < list->n_columns; i++)
        if (list->columns[i].source == FROM_ROW)
            buf_addf(&same, " AND b.%s IS a.%s", list->columns[i].name, list->columns[i].name);
    buf_addf(&sql,
             "DROP TABLE IF EXISTS temp.renumbered; CREATE TEMP TABLE renumbered AS SELECT number, "
             "coalesce((SELECT min(number) FROM %s b WHERE b.run = %ld%s), (SELECT "
             "coalesce(max(number), 0) FROM %s WHERE run = %ld) + row_number() OVER (ORDER BY "
             "number)) AS wanted FROM %s a WHERE run = %ld;",
             list->name, p->to, buf_str(&same), list->name, p->to, list->name, p->from);
    for (int id = 0; id < N_TABLES; id++) {
        const struct table *t = table_get((enum table_id)id);
        /* By way of negative numbers, so that none is taken twice. Two entries of one content
         * become one. */
        if (is_numbered(t))
            buf_addf(&sql,
                     "UPDATE OR REPLACE %s SET number = -(SELECT wanted FROM renumbered r WHERE "
                     "r.number = %s.number) WHERE run = %ld; UPDATE %s SET number = -number WHERE "
                     "run = %ld;",
                     t->name, t->name, p->from, t->name, p->from);
    }
    buf_adds(&sql, "DROP TABLE temp.renumbered");
    int rc = join_exec(j, &sql, err);
    buf_release(&same);
    buf_release(&sql);
    return rc;
}

/* Whether `from` is further on: it has more sessions, or has come to its end since. */
static long is_newer(const struct join *j, const struct pair_of *p, struct err *err)
{
    static const char rows[] =
        "(SELECT run, uid, status FROM run_shards UNION ALL SELECT run, uid, "
        "status FROM runs WHERE run NOT IN (SELECT run FROM run_shards))";
    struct buf sql = BUF_INIT;
    buf_addf(&sql,
             "SELECT EXISTS (SELECT session FROM sessions WHERE run = %ld EXCEPT SELECT session "
             "FROM sessions WHERE run = %ld) OR EXISTS (SELECT 1 FROM %s a JOIN %s b USING (uid) "
             "WHERE a.run = %ld AND b.run = %ld AND a.status NOT IN ('running', 'interrupted') AND "
             "b.status IN ('running', 'interrupted'))",
             p->from, p->to, rows, rows, p->from, p->to);
    long newer = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    return newer;
}

/* The run's end, as its newer copy says it. */
static int take_end(const struct join *j, const struct pair_of *p, struct err *err)
{
    const struct table *t = table_get(TABLE_RUNS);
    struct buf sql = BUF_INIT, names = BUF_INIT;
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].source == FROM_END)
            buf_addf(&names, "%s%s", names.len ? ", " : "", t->columns[i].name);
    buf_addf(&sql, "UPDATE runs SET (%s) = (SELECT %s FROM runs WHERE run = %ld) WHERE run = %ld",
             buf_str(&names), buf_str(&names), p->from, p->to);
    int rc = join_exec(j, &sql, err);
    buf_release(&names);
    buf_release(&sql);
    return rc;
}

static int fold_run(const struct join *j, long from, long to, struct err *err)
{
    const struct pair_of p = {"run", from, to};
    if (align(j, &p, err) < 0 || renumber(j, &p, err) < 0)
        return -1;
    long newer = is_newer(j, &p, err);
    if (newer < 0 || check_all(j, &p, err) < 0 || (newer && take_end(j, &p, err) < 0))
        return -1;
    return fold(j, &p, newer != 0, err);
}

/* Where the run's rows belong: 0 = it stays. */
static long find_run(const struct join *j, long run, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_addf(&sql,
             "SELECT min(run) FROM runs WHERE run < %ld AND uid = (SELECT uid FROM runs WHERE run "
             "= %ld) AND run NOT IN (SELECT run FROM run_shards) AND %ld NOT IN (SELECT run FROM "
             "run_shards)",
             run, run, run);
    long there = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    return there != 0 ? there : shards_find(j, run, err);
}

static int join_run(const struct join *j, long run, struct err *err)
{
    if (shards_begin(j, run, err) < 0)
        return -1;
    long there = find_run(j, run, err);
    if (there < 0 || (there > 0 && fold_run(j, run, there, err) < 0))
        return -1;
    return shards_sum(j, there > 0 ? there : run, err);
}

/* The next number above `after`, or 0. */
static long next_number(const struct join *j, const char *owner, long after, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_addf(&sql, "SELECT min(%s) FROM %ss WHERE %s > %ld", owner, owner, owner, after);
    long n = join_ask(j, buf_str(&sql), 0, err);
    buf_release(&sql);
    return n;
}

int join_runs(const struct join *j, long after, struct err *err)
{
    while ((after = next_number(j, "run", after, err)) > 0)
        if (join_run(j, after, err) < 0)
            return -1;
    return (int)after;
}

static int join_sweep(const struct join *j, long sweep, struct err *err)
{
    struct buf sql = BUF_INIT;
    struct pair_of p = {"sweep", sweep, 0};
    buf_addf(&sql,
             "SELECT min(sweep) FROM sweeps WHERE sweep < %ld AND uid = (SELECT uid FROM sweeps "
             "WHERE sweep = %ld)",
             sweep, sweep);
    p.to = join_ask(j, buf_str(&sql), 0, err);
    buf_clear(&sql);
    buf_addf(&sql,
             "SELECT count(*) FILTER (WHERE sweep = %ld) > count(*) FILTER (WHERE sweep = %ld) "
             "FROM sweep_starts WHERE state NOT IN ('starting', 'running', 'stopping')",
             sweep, p.to);
    long newer = p.to > 0 ? join_ask(j, buf_str(&sql), 0, err) : 0;
    buf_release(&sql);
    if (p.to <= 0 || newer < 0)
        return p.to < 0 || newer < 0 ? -1 : 0;
    return check_all(j, &p, err) < 0 ? -1 : fold(j, &p, newer != 0, err);
}

int join_sweeps(const struct join *j, long after, struct err *err)
{
    while ((after = next_number(j, "sweep", after, err)) > 0)
        if (join_sweep(j, after, err) < 0)
            return -1;
    return (int)after;
}
