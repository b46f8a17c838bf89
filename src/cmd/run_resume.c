/* run_resume.c - reads how far a run has come. What is stored of a session is the whole session, so
 * what is missing is played as if it had never begun; only times need care. */
#include "run_resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "load.h"
#include "mem.h"
#include "run_options.h"
#include "run_record.h"
#include "run_setup.h"
#include "store.h"

/* What the run's row says. */
struct row {
    bool killed, over;
    long resumed; /* so many times before */
    char now[40];
};

static int find(struct run_resume *r, struct store *store, const struct run_options *o,
                struct row *row, struct err *err)
{
    static const char sql[] =
        "SELECT run, status = 'running', status NOT IN ('running', 'interrupted'), "
        "max(coalesce(wall_us, 0), coalesce((SELECT max(end_us) FROM sessions s WHERE s.run = "
        "r.run), 0)), coalesce(cpu_us, -1), coalesce(late_p99_us, -1), "
        "max(coalesce(peak_in_flight, 0), coalesce((SELECT max(in_flight_max) FROM rounds o WHERE "
        "o.run = r.run), 0)), (SELECT coalesce(sum(size), 0) FROM evidence e WHERE e.run = r.run), "
        "(SELECT count(*) FROM run_facts f WHERE f.run = r.run AND f.key GLOB 'resumed*'), "
        "strftime('%Y-%m-%dT%H:%M:%SZ', 'now') FROM runs r WHERE label = :label AND (SELECT value "
        "FROM run_settings t WHERE t.run = r.run AND key = 'shard') IS :shard AND run NOT IN "
        "(SELECT run FROM sweep_starts WHERE run IS NOT NULL) AND run NOT IN (SELECT run FROM "
        "run_shards) ORDER BY run DESC LIMIT 1";
    struct query *q = store_query(store, sql, err);
    if (!q)
        return -1;
    query_bind_text(q, "label", o->label);
    query_bind_text(q, "shard", o->shard);
    int rc = query_step(q, err);
    if (rc == 1) {
        r->run = query_long(q, 0);
        row->killed = query_long(q, 1) != 0;
        r->over = query_long(q, 2) != 0;
        r->played_us = query_long(q, 3);
        r->cpu_us = query_long(q, 4);
        r->late_p99_us = query_long(q, 5);
        r->peak_in_flight = query_long(q, 6);
        r->evidence_bytes = (size_t)query_long(q, 7);
        row->resumed = query_long(q, 8);
        snprintf(row->now, sizeof row->now, "%s", query_text(q, 9));
    } else if (rc == 0) {
        rc = err_set(err, STATUS_USAGE, "there is no run with label '%s'%s%s in '%s' to go on with",
                     o->label, o->shard ? " and shard " : "", o->shard ? o->shard : "", o->db);
    }
    query_free(q);
    return rc < 0 ? -1 : 0;
}

static enum verdict_class class_of(const char *word)
{
    int c = 0;
    while (c < CLASS_OK && strcmp(class_name((enum verdict_class)c), word) != 0)
        c++;
    return (enum verdict_class)c;
}

static int read_stored(struct run_resume *r, struct store *store, struct err *err)
{
    struct query *q = store_query(
        store, "SELECT start_order, class FROM sessions WHERE run = :run ORDER BY start_order",
        err);
    int rc = q ? 0 : -1;
    if (q)
        query_bind_long(q, "run", r->run);
    while (q && (rc = query_step(q, err)) == 1) {
        r->stored = mem_grow(r->stored, &r->stored_cap, r->n_stored, sizeof *r->stored);
        r->stored[r->n_stored++] =
            (struct run_stored){query_long(q, 0), class_of(query_text(q, 1))};
    }
    query_free(q);
    return rc;
}

static void list_missing(struct run_resume *r, long total)
{
    r->missing = mem_zero((size_t)total + 1, sizeof *r->missing);
    size_t at = 0;
    for (long place = 0; place < total; place++) {
        if (at < r->n_stored && r->stored[at].start_order == place + 1)
            at++;
        else
            r->missing[r->n_missing++] = place;
    }
}

/* What was never said to be over may still be going on. */
static int check_killed(const struct run_resume *r, struct store *store, const char *db,
                        struct err *err)
{
    struct err why = {0};
    if (store_check_alone(store, &why) == 0)
        return 0;
    return err_set(err, STATUS_TOOL,
                   "run %ld may be going on: another program has '%s' open; try again when it has "
                   "ended",
                   r->run, db);
}

/* The row says that the run goes on, and the facts what its figures cover. */
static int note(const struct run_resume *r, struct store *store, const struct row *row,
                struct err *err)
{
    char key[40] = "resumed";
    if (row->resumed)
        snprintf(key, sizeof key, "resumed (%ld)", row->resumed + 1);
    struct buf text = BUF_INIT;
    buf_addf(&text, "at %s, when %zu of %ld sessions were stored and the run had been %s; ",
             row->now, r->n_stored, (long)r->n_stored + r->n_missing,
             row->killed ? "killed" : "interrupted");
    buf_adds(&text, "times leave out the break, and the load rose anew behind it");
    if (row->killed)
        buf_adds(&text, "; what was in flight at the end is not in the time it took, CPU time is "
                        "not known, and how late this client was covers the part behind it alone");
    const struct pair fact = {key, buf_str(&text)};
    const struct run_end again = {.status = "running",
                                  .peak_in_flight = -1,
                                  .wall_us = -1,
                                  .cpu_us = -1,
                                  .late_p99_us = -1,
                                  .facts = &fact,
                                  .n_facts = 1};
    int rc = store_run_end(store, r->run, &again, err);
    buf_release(&text);
    return rc;
}

int run_resume_begin(struct run_resume *r, struct store *store, const struct run_setup *s,
                     struct err *err)
{
    struct row row = {0};
    if (find(r, store, s->options, &row, err) != 0 ||
        run_record_check(store, r->run, s, err) != 0 || read_stored(r, store, err) != 0)
        return -1;
    list_missing(r, load_sessions(&s->settings));
    if (row.killed && check_killed(r, store, s->options->db, err) != 0)
        return -1;
    return r->over ? 0 : note(r, store, &row, err);
}

void run_resume_release(struct run_resume *r)
{
    free(r->stored);
    free(r->missing);
    *r = (struct run_resume){0};
}
