/* run.c - the main job: starts the load, stores what comes back, and prints a summary that it reads
 * back from the store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "commands.h"
#include "embed.h"
#include "load.h"
#include "outcome.h"
#include "progress.h"
#include "progress_line.h"
#include "report.h"
#include "run_options.h"
#include "run_record.h"
#include "run_setup.h"
#include "session.h"
#include "store.h"
#include "until.h"

#define POLL_US 20000 /* the store wants a look about so often */

/* Moves finished sessions from the workers to the store until there are no more. */
static int pump(struct load *l, struct store *store, long run, const struct run_options *o,
                struct until *until, struct err *err)
{
    struct progress *p = load_progress(l);
    struct progress_line line = progress_line_new(o->quiet, load_total(l));
    int rc = 0;
    bool stopping = false;
    while (!load_is_over(l)) {
        struct outcome *one = load_next(l, POLL_US);
        bool decided = false;
        if (one && rc == 0)
            rc = store_session(store, run, outcome_row(one), err);
        if (one && until)
            decided =
                until_add(until, outcome_row(one)->start_order, reason_class(outcome_reason(one)));
        outcome_free(one);
        int64_t now = clock_mono_us();
        if (rc == 0)
            rc = store_tick(store, now, err);
        if (!stopping && (rc != 0 || decided || cmd_stopped())) {
            stopping = true;
            load_stop(l);
        }
        progress_line_update(&line, p, now);
    }
    progress_line_end(&line);
    return rc;
}

/* What the run came to, as figures of the store. */
struct tally {
    long corrupt, judged, errors, sessions, concurrency, peak;
    double low, high; /* of the 95 % interval */
};

static int read_tally(struct store *store, long run, struct tally *t, struct err *err)
{
    const struct embedded *sql = embed_find("reports/tally.sql");
    struct query *q = store_query(store, sql->data, err);
    if (!q)
        return -1;
    query_bind_long(q, ":run", run);
    int rc = query_step(q, err);
    if (rc == 1)
        *t = (struct tally){.corrupt = query_long(q, 0),
                            .judged = query_long(q, 1),
                            .errors = query_long(q, 2),
                            .sessions = query_long(q, 3),
                            .concurrency = query_long(q, 4),
                            .peak = query_long(q, 5),
                            .low = query_double(q, 6),
                            .high = query_double(q, 7)};
    query_free(q);
    return rc == 1   ? 0
           : rc == 0 ? err_set(err, STATUS_TOOL, "run %ld is not in the store", run)
                     : -1;
}

static enum exit_status limit_status(const struct run_options *o, const struct tally *t)
{
    if (isnan(o->fail_over))
        return t->corrupt > 0 ? STATUS_CORRUPT : STATUS_PASS;
    if (t->low > o->fail_over)
        return STATUS_CORRUPT;
    return t->high <= o->fail_over ? STATUS_PASS : STATUS_UNDECIDED;
}

/* Damage that was seen stays seen; a pass has to be earned. */
static enum exit_status run_status(const struct run_options *o, const struct tally *t)
{
    enum exit_status status = t->judged > 0 ? limit_status(o, t) : STATUS_ENDPOINT;
    if (status == STATUS_CORRUPT)
        return status;
    long finished = t->judged + t->errors;
    if (finished > 0 && (double)t->errors > o->max_errors * (double)finished)
        return STATUS_ENDPOINT;
    long reachable = t->sessions < t->concurrency ? t->sessions : t->concurrency;
    if (t->judged < o->min_sessions || t->peak < reachable)
        return STATUS_UNDECIDED;
    return status;
}

static int print_summary(struct store *store, long run, const struct run_options *o,
                         struct err *err)
{
    struct report_style style = {.json = strcmp(o->output, "json") == 0,
                                 .colour = cmd_stdout_has_colour(),
                                 .columns = cmd_columns(),
                                 .db = o->db};
    struct buf text = BUF_INIT;
    int rc = report_summary(store, run, &style, &text, err);
    if (rc == 0)
        rc = cmd_print(&text, err);
    buf_release(&text);
    return rc;
}

static int finish_run(struct load *l, struct store *store, long run, int64_t cpu_start_us,
                      const struct until *until, struct err *err)
{
    int64_t start_us = load_progress(l)->start_us;
    struct load_figures f = load_end(l);
    struct pair fact = {"sequential test", until ? until_words(until) : ""};
    bool decided = until && until_status(until) != STATUS_UNDECIDED;
    struct run_end end = {.status = decided         ? "decided"
                                    : cmd_stopped() ? "interrupted"
                                                    : "done",
                          .facts = &fact,
                          .n_facts = until ? 1 : 0,
                          .peak_in_flight = f.peak_in_flight,
                          .wall_us = clock_mono_us() - start_us,
                          .cpu_us = clock_cpu_us() - cpu_start_us,
                          .late_p99_us = f.late_p99_us};
    return store_run_end(store, run, &end, err);
}

static int play(const struct run_setup *s, struct store *store, const char *command,
                struct err *err)
{
    long run = run_record_begin(store, s, command, err);
    if (run < 0)
        return -1;
    int64_t cpu_start_us = clock_cpu_us();
    struct load *l = load_start(&s->settings, err);
    if (!l)
        return -1;
    struct until until = {0}, *deciding = NULL;
    if (strcmp(s->options->until, "decided") == 0) {
        until_init(&until, s->options->p0, s->options->p1, load_total(l));
        deciding = &until;
    }
    int rc = pump(l, store, run, s->options, deciding, err);
    if (finish_run(l, store, run, cpu_start_us, deciding, err) != 0)
        rc = -1;
    struct tally tally = {0};
    if (rc == 0)
        rc = read_tally(store, run, &tally, err);
    if (rc == 0)
        rc = print_summary(store, run, s->options, err);
    if (rc == 0 && deciding && tally.judged > 0)
        rc = (int)until_status(deciding);
    else if (rc == 0)
        rc = (int)run_status(s->options, &tally);
    until_release(&until);
    return rc >= 0 && cmd_stopped() ? cmd_stopped() : rc;
}

static int preview(const struct run_setup *s, struct err *err)
{
    struct buf body = BUF_INIT;
    session_preview(&s->settings, s->options->only ? s->options->only : 1, &body);
    buf_addc(&body, '\n');
    int rc = cmd_print(&body, err);
    buf_release(&body);
    return rc;
}

static int run(const struct run_options *o, int argc, char **argv, struct err *err)
{
    struct run_setup setup = {0};
    struct store *store = NULL;
    char *command = NULL;
    int rc = -1;
    /* The store first: a database that can't be written should not cost a request. */
    if (!o->dry_run) {
        store = store_open(o->db, STORE_WRITE, err);
        if (!store)
            goto out;
    }
    if (run_setup_init(&setup, o, err) != 0)
        goto out;
    if (o->dry_run) {
        rc = preview(&setup, err);
        goto out;
    }
    command = run_record_command(&setup, argc, argv);
    cmd_catch_stop();
    rc = play(&setup, store, command, err);
out:
    free(command);
    store_close(store);
    run_setup_release(&setup);
    return rc;
}

int cmd_run(int argc, char **argv, struct err *err)
{
    struct run_options o = {.fail_over = NAN, .certify = NAN, .temperature = -1};
    struct opt_list operands = {0};
    int rc = cmd_options("run [options]",
                         "Plays tool-calling sessions against an OpenAI-compatible chat endpoint, "
                         "judges every reply, stores\nthe run, and prints how many sessions were "
                         "corrupted. Without --base-url it runs against a\nsimulated endpoint of "
                         "its own.",
                         run_option_table, &o, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': run takes no operands", operands.items[0]);
    if (rc == 0 && run_options_check(&o, err) == 0)
        rc = run(&o, argc, argv, err);
    else if (rc == 0)
        rc = -1;
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(run_option_table, &o);
    return rc;
}
