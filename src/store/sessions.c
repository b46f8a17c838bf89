/* sessions.c - finished sessions on their way into the database, in the order in which the tables'
 * trees want them. It knows which rows a session has and when they reach the disk. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "database.h"
#include "deflate.h"
#include "mem.h"

/* A session is committed at once unless the last commit was this short a time ago; a batch then
 * waits no longer than this. A commit costs 0.1 ms, so batching takes over above 40 a second. */
#define BATCH_US 25000

/* Sessions in one batch, whatever the clock says. */
#define BATCH_SESSIONS 500

static int write_evidence(struct store *s, const struct row_key *key, const char *name,
                          struct span bytes)
{
    if (bytes.len == 0)
        return 0;
    struct buf small = BUF_INIT;
    struct evidence_part part = {.part = name, .size = (long)bytes.len, .data = bytes};
    if (deflate_pays(bytes, &small)) {
        part.deflated = true;
        part.data = buf_span(&small);
    }
    int rc = database_insert(s, TABLE_EVIDENCE, key, &part, NULL);
    buf_release(&small);
    return rc;
}

/* What an answer and its twin are called in the database. */
static const struct answer_names {
    enum table_id rounds, findings;
    const char *request, *headers, *response, *arrivals; /* parts of the evidence */
} own_names = {TABLE_ROUNDS, TABLE_FINDINGS, "request", "headers", "response", "arrivals"},
  twin_names = {TABLE_TWINS,    TABLE_TWIN_FINDINGS, "twin.request",
                "twin.headers", "twin.response",     "twin.arrivals"};

static int write_exchange(struct store *s, struct row_key *key, const struct answer_names *names,
                          const struct round_row *row)
{
    key->round = row->round;
    if (write_evidence(s, key, names->request, row->request) < 0 ||
        write_evidence(s, key, names->headers, row->headers) < 0 ||
        write_evidence(s, key, names->response, row->response) < 0 ||
        write_evidence(s, key, names->arrivals, span_of(row->arrivals_json)) < 0)
        return -1;
    return 0;
}

/* Rows of many sessions for one table. */
struct row_list {
    struct source_row *rows;
    size_t n, cap;
};

static void add_row(struct row_list *l, const struct row_key *key, const void *row)
{
    l->rows = mem_grow(l->rows, &l->cap, l->n, sizeof *l->rows);
    l->rows[l->n++] = (struct source_row){*key, row};
}

static int write_findings(struct store *s, const struct row_key *key, enum table_id table,
                          const struct finding_row *rows, size_t n)
{
    struct row_list list = {0};
    struct row_key numbered = *key;
    for (size_t i = 0; i < n; i++) {
        numbered.number = (int)i + 1;
        add_row(&list, &numbered, &rows[i]);
    }
    int rc = database_insert_rows(s, table, list.rows, list.n);
    free(list.rows);
    return rc;
}

static void list_rounds(struct row_list *l, const struct row_key *key, const struct round_row *rows,
                        size_t n)
{
    struct row_key of_round = *key;
    for (size_t i = 0; i < n; i++) {
        of_round.round = rows[i].round;
        add_row(l, &of_round, &rows[i]);
    }
}

/* What few sessions have. */
static int write_rest(struct store *s, long run, const struct session_row *row)
{
    struct row_key key = {.run = run, .session = row->session};
    for (size_t i = 0; i < row->n_rounds; i++)
        if (write_exchange(s, &key, &own_names, &row->rounds[i]) < 0)
            return -1;
    for (size_t i = 0; i < row->n_twins; i++)
        if (write_exchange(s, &key, &twin_names, &row->twins[i]) < 0)
            return -1;
    key.round = 0;
    if (write_findings(s, &key, own_names.findings, row->findings, row->n_findings) < 0)
        return -1;
    return write_findings(s, &key, twin_names.findings, row->twin_findings, row->n_twin_findings);
}

static int write_rows(struct store *s, long run, const struct session_row *const *rows, size_t n)
{
    struct row_list sessions = {0}, rounds = {0}, twins = {0};
    for (size_t i = 0; i < n; i++) {
        const struct row_key key = {.run = run, .session = rows[i]->session};
        add_row(&sessions, &key, rows[i]);
        list_rounds(&rounds, &key, rows[i]->rounds, rows[i]->n_rounds);
        list_rounds(&twins, &key, rows[i]->twins, rows[i]->n_twins);
    }
    int rc = database_insert_rows(s, TABLE_SESSIONS, sessions.rows, sessions.n);
    if (rc == 0)
        rc = database_insert_rows(s, own_names.rounds, rounds.rows, rounds.n);
    if (rc == 0)
        rc = database_insert_rows(s, twin_names.rounds, twins.rows, twins.n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = write_rest(s, run, rows[i]);
    free(sessions.rows);
    free(rounds.rows);
    free(twins.rows);
    return rc;
}

static int write_whole(struct store *s, long run, const struct session_row *const *rows, size_t n,
                       struct err *err)
{
    if (database_begin(s, err) < 0 ||
        database_again(s, &s->savepoint, "SAVEPOINT session", "write", err) < 0)
        return -1;
    if (write_rows(s, run, rows, n) < 0) {
        /* The sessions before it are whole: they are kept if the disk lets us. */
        database_fail(s, "write", err);
        if (!sqlite3_get_autocommit(s->db))
            sqlite3_exec(s->db, "ROLLBACK TO session; RELEASE session", NULL, NULL, NULL);
        return -1;
    }
    s->batched += (long)n;
    return database_again(s, &s->release, "RELEASE session", "write", err);
}

static int by_session(const void *a, const void *b)
{
    long x = (*(const struct session_row *const *)a)->session;
    long y = (*(const struct session_row *const *)b)->session;
    return (x > y) - (x < y);
}

/* All in one go; if that fails, one by one up to the one that can't be stored. */
static int write_sessions(struct store *s, long run, const struct session_row *const *rows,
                          size_t n, struct err *err)
{
    struct err whole = {0};
    if (n == 1)
        return write_whole(s, run, rows, 1, err);
    const struct session_row **sorted = mem_zero(n, sizeof *sorted);
    memcpy(sorted, rows, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_session);
    int rc = write_whole(s, run, sorted, n, &whole);
    free(sorted);
    if (rc == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (write_whole(s, run, &rows[i], 1, err) < 0)
            return -1;
    return 0;
}

int store_sessions(struct store *s, long run, const struct session_row *const *rows, size_t n,
                   struct err *err)
{
    if (!n)
        return 0;
    if (write_sessions(s, run, rows, n, err) < 0)
        return -1;
    int64_t now = clock_mono_us();
    if (s->batched >= BATCH_SESSIONS || now - s->last_commit_us >= BATCH_US)
        return store_flush(s, err);
    return 0;
}

int store_session(struct store *s, long run, const struct session_row *row, struct err *err)
{
    return store_sessions(s, run, &row, 1, err);
}

int store_tick(struct store *s, int64_t now_us, struct err *err)
{
    return now_us < store_due_us(s) ? 0 : store_flush(s, err);
}

int64_t store_due_us(const struct store *s)
{
    return s->in_batch ? s->batch_since_us + BATCH_US : INT64_MAX;
}
