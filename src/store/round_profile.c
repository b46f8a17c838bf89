/* round_profile.c - what a report tells about rounds, as one SQL aggregate, so that a million of
 * them is read once and never sorted by SQLite. It is told which rounds are damaged and which are
 * judged, and adds no rate. */
#include "functions.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "sample.h"

#define SLICES        40      /* of a run's time */
#define MAX_IN_FLIGHT 1000000 /* more are counted as so many */

enum { TTFT, ITL, WHOLE, N_TIMES };

/* How rounds ended, in the lowest bits of a round's time. */
enum { OK, DAMAGED, ERROR };
#define OUTCOME_BITS 2

struct load {
    long damaged, judged;
};

/* The run whose rounds are coming. */
struct run_rounds {
    int64_t run, last_us; /* when the last round was done */
    uint64_t *sent;       /* time and outcome of each */
    int64_t *done;
    size_t n, sent_cap, done_cap;
    long damaged;
};

struct profile {
    struct sample times[N_TIMES];
    struct load *loads; /* by requests in flight */
    size_t n_loads, loads_cap;
    struct run_rounds run;
    struct buf runs; /* elements of a JSON array: the runs before */
};

struct slice {
    long requests, replies, damaged, errors;
};

static int outcome_of(uint64_t sent)
{
    return (int)(sent & ((1u << OUTCOME_BITS) - 1));
}

/* Times before the run's start count as its start. */
static uint64_t pack(int64_t sent_us, int outcome)
{
    return (uint64_t)(sent_us > 0 ? sent_us : 0) << OUTCOME_BITS | (uint64_t)outcome;
}

static void write_slices(const struct run_rounds *r, int64_t width, struct jsonw *w)
{
    struct slice slices[SLICES] = {0};
    for (size_t i = 0; i < r->n; i++) {
        int64_t sent = (int64_t)(r->sent[i] >> OUTCOME_BITS) / width, done = r->done[i] / width;
        if (sent < SLICES)
            slices[sent].requests++;
        if (done < 0 || done >= SLICES)
            continue;
        slices[done].replies++;
        slices[done].damaged += outcome_of(r->sent[i]) == DAMAGED;
        slices[done].errors += outcome_of(r->sent[i]) == ERROR;
    }
    jsonw_array(w);
    for (size_t i = 0; i < SLICES; i++) {
        jsonw_array(w);
        jsonw_long(w, slices[i].requests);
        jsonw_long(w, slices[i].replies);
        jsonw_long(w, slices[i].damaged);
        jsonw_long(w, slices[i].errors);
        jsonw_end_array(w);
    }
    jsonw_end_array(w);
}

/* A letter a round, in the order of sending; rounds that came in the order of session and round
 * keep it where they were sent at once. */
static void write_order(struct run_rounds *r, struct jsonw *w)
{
    static const char letters[] = {[OK] = 'o', [DAMAGED] = 'd', [ERROR] = 'e'};
    struct buf text = BUF_INIT;
    sample_sort_bits(r->sent, r->n, OUTCOME_BITS);
    buf_reserve(&text, r->n);
    for (size_t i = 0; i < r->n; i++)
        buf_addc(&text, letters[outcome_of(r->sent[i])]);
    jsonw_span(w, buf_span(&text));
    buf_release(&text);
}

static void end_run(struct profile *p)
{
    struct run_rounds *r = &p->run;
    if (!r->n)
        return;
    if (p->runs.len)
        buf_addc(&p->runs, ',');
    struct jsonw w = {.out = &p->runs};
    int64_t width = r->last_us > 0 ? (r->last_us + SLICES) / SLICES : 1;
    jsonw_object(&w);
    jsonw_member_long(&w, "run", r->run);
    jsonw_member_long(&w, "rounds", (long long)r->n);
    jsonw_member_long(&w, "damaged", r->damaged);
    jsonw_member_long(&w, "width_us", width);
    jsonw_key(&w, "slices");
    write_slices(r, width, &w);
    jsonw_key(&w, "order");
    write_order(r, &w);
    jsonw_end_object(&w);
    r->n = 0;
    r->damaged = 0;
    r->last_us = 0;
}

static void add_load(struct profile *p, int64_t in_flight, int outcome)
{
    size_t at = in_flight < 0 ? 0 : in_flight > MAX_IN_FLIGHT ? MAX_IN_FLIGHT : (size_t)in_flight;
    for (; p->n_loads <= at; p->n_loads++) {
        p->loads = mem_grow(p->loads, &p->loads_cap, p->n_loads, sizeof *p->loads);
        p->loads[p->n_loads] = (struct load){0};
    }
    p->loads[at].damaged += outcome == DAMAGED;
    p->loads[at].judged += outcome != ERROR;
}

static void add_time(struct sample *s, sqlite3_value *v)
{
    if (sqlite3_value_type(v) != SQLITE_NULL)
        sample_add(s, sqlite3_value_double(v));
}

/* (run, sent_us, done_us, judged, damaged, in_flight, ttft, itl, whole) */
void round_profile_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct profile *p = sqlite3_aggregate_context(c, sizeof *p);
    if (!p)
        return;
    struct run_rounds *r = &p->run;
    int64_t run = sqlite3_value_int64(v[0]), done_us = sqlite3_value_int64(v[2]);
    int outcome = !sqlite3_value_int(v[3]) ? ERROR : sqlite3_value_int(v[4]) ? DAMAGED : OK;
    if (run != r->run)
        end_run(p);
    r->run = run;
    r->sent = mem_grow(r->sent, &r->sent_cap, r->n, sizeof *r->sent);
    r->done = mem_grow(r->done, &r->done_cap, r->n, sizeof *r->done);
    r->sent[r->n] = pack(sqlite3_value_int64(v[1]), outcome);
    r->done[r->n++] = done_us;
    r->damaged += outcome == DAMAGED;
    if (done_us > r->last_us)
        r->last_us = done_us;
    add_load(p, sqlite3_value_int64(v[5]), outcome);
    for (int i = 0; outcome != ERROR && i < N_TIMES; i++)
        add_time(&p->times[i], v[6 + i]);
}

static void write_loads(const struct profile *p, struct jsonw *w)
{
    jsonw_array(w);
    for (size_t i = 0; i < p->n_loads; i++) {
        if (!p->loads[i].judged && i + 1 < p->n_loads)
            continue;
        jsonw_array(w);
        jsonw_long(w, (long long)i);
        jsonw_long(w, p->loads[i].damaged);
        jsonw_long(w, p->loads[i].judged);
        jsonw_end_array(w);
    }
    jsonw_end_array(w);
}

static void write_profile(struct profile *p, struct jsonw *w)
{
    static const double quantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    static const char *const names[N_TIMES] = {"ttft", "itl", "whole"};
    jsonw_object(w);
    for (int i = 0; i < N_TIMES; i++) {
        jsonw_key(w, names[i]);
        sample_sort(&p->times[i]);
        sample_write(&p->times[i], quantiles, sizeof quantiles / sizeof *quantiles, w);
    }
    jsonw_key(w, "in_flight");
    write_loads(p, w);
    jsonw_key(w, "runs");
    buf_addc(w->out, '[');
    buf_add(w->out, buf_str(&p->runs), p->runs.len);
    buf_addc(w->out, ']');
    jsonw_end_object(w);
}

void round_profile_final(sqlite3_context *c)
{
    struct profile *p = sqlite3_aggregate_context(c, 0);
    if (!p)
        return;
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    end_run(p);
    free(p->run.sent);
    free(p->run.done);
    write_profile(p, &w);
    sqlite3_result_text64(c, buf_str(&out), out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    buf_release(&out);
    for (int i = 0; i < N_TIMES; i++)
        sample_release(&p->times[i]);
    buf_release(&p->runs);
    free(p->loads);
}
