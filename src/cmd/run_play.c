/* run_play.c - the pump between the workers and the store, and what the run came to. It prints
 * nothing but the progress line. */
#include "run_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "commands.h"
#include "embed.h"
#include "load.h"
#include "outcome.h"
#include "progress.h"
#include "progress_line.h"
#include "run_options.h"
#include "run_resume.h"
#include "run_setup.h"
#include "store.h"
#include "until.h"

#define IDLE_US        100000 /* signals and the progress line want a look so often */
#define STORE_TOGETHER 64

/* The sequential test takes what counts, by its place in the start order. */
static bool decides(struct until *until, const struct run_options *o, long start_order,
                    enum verdict_class class)
{
    long place = start_order - o->warmup;
    return until && place > 0 && until_add(until, place, class);
}

/* What is stored decides before anything is played. */
static bool past_decides(struct until *until, const struct run_play *p)
{
    bool decided = false;
    for (size_t i = 0; p->past && i < p->past->n_stored; i++)
        decided |= decides(until, p->setup->options, p->past->stored[i].start_order,
                           p->past->stored[i].class);
    return decided;
}

/* How many bytes of evidence a run has stored and left out. */
struct evidence_count {
    size_t kept, dropped;
    long rounds_dropped;
    bool resumed; /* what was left out before is not in it */
};

/* A session's evidence is stored whole or not at all: half a conversation proves little. */
static void limit_evidence(const struct run_options *o, struct outcome *one,
                           struct evidence_count *count)
{
    size_t bytes = outcome_evidence(one), limit = (size_t)o->evidence_limit << 20;
    if (!limit || count->kept + bytes <= limit) {
        count->kept += bytes;
        return;
    }
    count->dropped += bytes;
    count->rounds_dropped += outcome_drop_evidence(one);
}

/* Finished sessions that are stored together. */
struct finished {
    struct outcome *all[STORE_TOGETHER];
    const struct session_row *rows[STORE_TOGETHER];
    size_t n;
};

/* Waits for one and takes those that are there by then. */
static void collect(struct load *l, int64_t wait_us, struct finished *f)
{
    for (f->n = 0; f->n < STORE_TOGETHER; wait_us = 0) {
        struct outcome *one = load_next(l, wait_us);
        if (!one)
            return;
        f->rows[f->n] = outcome_row(one);
        f->all[f->n++] = one;
    }
}

/* How long there is nothing to do as long as no session ends. */
static int64_t idle_us(const struct store *s, int64_t now_us)
{
    int64_t due_us = store_due_us(s);
    return due_us < now_us + IDLE_US ? due_us - now_us : IDLE_US;
}

/* Moves finished sessions from the workers to the store until there are no more. */
static int pump(const struct run_play *p, struct load *l, struct until *until,
                struct evidence_count *evidence, struct err *err)
{
    const struct run_options *o = p->setup->options;
    struct progress *progress = load_progress(l);
    struct progress_line line = progress_line_new(o->quiet, p->prefix, load_total(l));
    struct finished f;
    int rc = 0;
    bool stopping = false;
    for (int64_t now = clock_mono_us(); !load_is_over(l);) {
        bool decided = false;
        collect(l, rc == 0 ? idle_us(p->store, now) : IDLE_US, &f);
        for (size_t i = 0; i < f.n; i++)
            limit_evidence(o, f.all[i], evidence);
        if (rc == 0)
            rc = store_sessions(p->store, p->run, f.rows, f.n, err);
        for (size_t i = 0; i < f.n; i++) {
            decided |=
                decides(until, o, f.rows[i]->start_order, reason_class(outcome_reason(f.all[i])));
            outcome_free(f.all[i]);
        }
        now = clock_mono_us();
        if (rc == 0)
            rc = store_tick(p->store, now, err);
        if (!stopping && (rc != 0 || decided || cmd_stopped())) {
            stopping = true;
            load_stop(l);
        }
        progress_line_update(&line, progress, now);
    }
    progress_line_end(&line);
    return rc;
}

static int read_tally(const struct run_play *p, struct played *t, struct err *err)
{
    const struct embedded *sql = embed_find("reports/tally.sql");
    struct query *q = store_query(p->store, sql->data, err);
    if (!q)
        return -1;
    query_bind_long(q, ":run", p->run);
    int rc = query_step(q, err);
    if (rc == 1)
        *t = (struct played){.corrupt = query_long(q, 0),
                             .judged = query_long(q, 1),
                             .errors = query_long(q, 2),
                             .sessions = query_long(q, 3),
                             .concurrency = query_long(q, 4),
                             .peak = query_long(q, 5),
                             .low = query_double(q, 6),
                             .high = query_double(q, 7)};
    query_free(q);
    return rc == 1   ? 0
           : rc == 0 ? err_set(err, STATUS_TOOL, "run %ld is not in the store", p->run)
                     : -1;
}

static enum exit_status limit_status(const struct run_options *o, const struct played *t)
{
    if (isnan(o->fail_over))
        return t->corrupt > 0 ? STATUS_CORRUPT : STATUS_PASS;
    if (t->low > o->fail_over)
        return STATUS_CORRUPT;
    return t->high <= o->fail_over ? STATUS_PASS : STATUS_UNDECIDED;
}

/* Damage that was seen stays seen; a pass has to be earned. */
static enum exit_status run_status(const struct run_options *o, const struct played *t)
{
    enum exit_status status = t->judged > 0 ? limit_status(o, t) : STATUS_ENDPOINT;
    if (status == STATUS_CORRUPT)
        return status;
    long finished = t->judged + t->errors;
    if (finished > 0 && (double)t->errors > o->max_errors * (double)finished)
        return STATUS_ENDPOINT;
    /* Nine tenths of the asked concurrency will do: quick sessions end while the last ones start.
     */
    long reachable = t->sessions < t->concurrency ? t->sessions : t->concurrency;
    if (t->judged < o->min_sessions || t->peak * 10 < reachable * 9)
        return STATUS_UNDECIDED;
    return status;
}

/* Adds what the run leaves beside its rows; `text` is the evidence's words, `test` the test's. */
static size_t add_facts(struct pair facts[2], const struct until *until, struct buf *test,
                        const struct evidence_count *evidence, char text[160])
{
    size_t n = 0;
    if (until) {
        until_describe(until, test);
        facts[n++] = (struct pair){"sequential test", buf_str(test)};
    }
    if (evidence->rounds_dropped) {
        snprintf(text, 160,
                 "%ld exchanges with %.1f MiB were not stored%s: --evidence-limit was reached",
                 evidence->rounds_dropped, (double)evidence->dropped / (1 << 20),
                 evidence->resumed ? " since the run was resumed" : "");
        facts[n++] = (struct pair){"evidence dropped", text};
    }
    return n;
}

/* Puts the figures of what was played before to those of this process, which are in `end`. */
static void add_past(const struct run_resume *past, struct run_end *end)
{
    if (past->peak_in_flight > end->peak_in_flight)
        end->peak_in_flight = past->peak_in_flight;
    if (past->late_p99_us > end->late_p99_us)
        end->late_p99_us = past->late_p99_us;
    end->cpu_us = past->cpu_us < 0 ? -1 : past->cpu_us + end->cpu_us;
}

/* `l` NULL: nothing was left to play. */
static int finish(const struct run_play *p, struct load *l, int64_t cpu_start_us,
                  const struct until *until, const struct evidence_count *evidence, struct err *err)
{
    int64_t wall_us = p->setup->settings.played_us;
    struct load_figures f = {.late_p99_us = -1};
    if (l) {
        int64_t start_us = load_progress(l)->start_us;
        f = load_end(l);
        wall_us = clock_mono_us() - start_us;
    }
    struct pair facts[2];
    char text[160];
    struct buf test = BUF_INIT;
    size_t n_facts = add_facts(facts, until, &test, evidence, text);
    bool decided = until && until_status(until) != STATUS_UNDECIDED;
    struct run_end end = {.status = decided         ? "decided"
                                    : cmd_stopped() ? "interrupted"
                                                    : "done",
                          .facts = facts,
                          .n_facts = n_facts,
                          .peak_in_flight = f.peak_in_flight,
                          .wall_us = wall_us,
                          .cpu_us = clock_cpu_us() - cpu_start_us,
                          .late_p99_us = f.late_p99_us};
    if (p->past)
        add_past(p->past, &end);
    int rc = store_run_end(p->store, p->run, &end, err);
    /* Damaged sessions end early: those that finished beyond the decision are no fair sample. */
    if (rc == 0 && decided)
        rc = store_uncount_after(p->store, p->run, until_places(until) + p->setup->options->warmup,
                                 err);
    buf_release(&test);
    return rc;
}

int run_play(const struct run_play *p, struct played *played, struct err *err)
{
    const struct run_options *o = p->setup->options;
    const struct settings *settings = &p->setup->settings;
    int64_t cpu_start_us = clock_cpu_us();
    struct until until = {0}, *deciding = NULL;
    if (strcmp(o->until, "decided") == 0) {
        until_init(&until, o->p0, o->p1, o->test_error, load_sessions(settings) - o->warmup);
        deciding = &until;
    }
    bool over = past_decides(deciding, p) || (settings->missing && settings->n_missing == 0) ||
                (p->past && p->past->over);
    struct load *l = over ? NULL : load_start(settings, err);
    struct evidence_count evidence = {.kept = p->past ? p->past->evidence_bytes : 0,
                                      .resumed = p->past};
    int rc = over || l ? 0 : -1;
    if (l)
        rc = pump(p, l, deciding, &evidence, err);
    if ((over || l) && !(p->past && p->past->over) &&
        finish(p, l, cpu_start_us, deciding, &evidence, err) != 0)
        rc = -1;
    if (rc == 0)
        rc = read_tally(p, played, err);
    if (rc == 0)
        played->status =
            deciding && played->judged > 0 ? until_status(deciding) : run_status(o, played);
    until_release(&until);
    return rc;
}
