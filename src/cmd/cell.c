/* cell.c - the life of one server start. It decides nothing about the sweep: which cell comes next,
 * and what a failure means for the rest, is the commands' business. */
#include "cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cell_options.h"
#include "clock.h"
#include "commands.h"
#include "endpoint.h"
#include "hook.h"
#include "http.h"
#include "mem.h"
#include "planfile.h"
#include "ready.h"
#include "run_play.h"
#include "run_record.h"
#include "run_setup.h"
#include "store.h"
#include "sweeps.h"

#define READY_PERIOD_US 1000000

/* A start while it lives. */
struct life {
    const struct cell *cell;
    struct cell_result *result;
    struct sweep_start_row row;
    char *boot;
    char *base_url;   /* as `apply` printed it, or NULL */
    char *unverified; /* factors that `collect` did not name, or NULL */
};

static bool is_stopped(void)
{
    return cmd_stopped() != 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static int note_state(struct life *l, const char *state, const char *detail, struct err *err)
{
    l->row.state = state;
    l->row.detail = detail;
    return sweeps_start(l->cell->store, l->cell->sweep, l->cell->start, &l->row, err);
}

/* The start ends this way unless it has ended already. */
static void end_with(struct life *l, enum cell_end end, const char *where, const char *why)
{
    struct cell_result *r = l->result;
    if (r->end != CELL_DONE)
        return;
    r->end = is_stopped() ? CELL_INTERRUPTED : end;
    snprintf(r->why, sizeof r->why, "%s%.500s", where, why);
}

static const char *state_word(enum cell_end end)
{
    switch (end) {
    case CELL_DONE: return "done";
    case CELL_FAILED: return "failed";
    case CELL_REFUSED: return "refused";
    case CELL_INTERRUPTED: break;
    }
    return "interrupted";
}

/* --- the hook --------------------------------------------------------------------------------- */

/* "TOOLSTORM_CLIENT_FACTORS=CONCURRENCY ROUNDS": those that are options of `run`, which a hook may
 * leave alone. */
static char *client_factors(const struct planfile *p)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "TOOLSTORM_CLIENT_FACTORS=");
    const char *separator = "";
    for (size_t i = 0; i < p->n_factors; i++) {
        if (!cell_options_is_option(p->factors[i].name))
            continue;
        buf_addf(&b, "%s%s", separator, p->factors[i].variable + strlen("TOOLSTORM_FACTOR_"));
        separator = " ";
    }
    return buf_take(&b);
}

static char **hook_variables(const struct cell *c, const char *boot, size_t *n)
{
    const struct planfile *p = c->plan;
    char **v = mem_zero(p->n_factors + 5, sizeof *v);
    *n = 0;
    v[(*n)++] = client_factors(p);
    for (size_t i = 0; i < p->n_factors; i++)
        v[(*n)++] = mem_printf("%s=%s", p->factors[i].variable, p->factors[i].levels[c->levels[i]]);
    v[(*n)++] = mem_printf("TOOLSTORM_BOOT=%s", boot);
    v[(*n)++] = mem_printf("TOOLSTORM_BLOCK=%ld", c->block);
    v[(*n)++] = mem_printf("TOOLSTORM_SWEEP=%s", p->name);
    if (p->endpoint)
        v[(*n)++] = mem_printf("TOOLSTORM_ENDPOINT=%s", p->endpoint);
    return v;
}

/* Runs the hook and keeps what it said. */
static int call_hook(const struct cell *c, const char *boot, const char *action, int64_t limit_us,
                     struct hook_result *r, struct err *err)
{
    size_t n;
    char **variables = hook_variables(c, boot, &n);
    struct hook_request q = {.path = c->plan->hook,
                             .action = action,
                             .variables = (const char *const *)variables,
                             .n_variables = n,
                             .limit_us = limit_us,
                             .stopped = strcmp(action, "stop") == 0 ? NULL : is_stopped};
    int rc = hook_run(&q, r, err);
    for (size_t i = 0; i < n; i++)
        free(variables[i]);
    free(variables);
    if (rc != 0)
        return rc;
    struct hook_call_row row = {.start = c->start,
                                .action = action,
                                .failed = r->failed,
                                .end = r->end,
                                .elapsed_us = r->elapsed_us,
                                .output = buf_span(&r->output)};
    return sweeps_hook_call(c->store, c->sweep, &row, err);
}

static void add_said(const struct hook_result *r, struct buf *out)
{
    buf_adds(out, r->end);
    if (r->tail[0])
        buf_addf(out, "; it said: %s", r->tail);
}

static int apply(struct life *l, struct err *err)
{
    struct hook_result r = {0};
    int rc = call_hook(l->cell, l->boot, "apply", l->cell->plan->apply_us, &r, err);
    if (rc == 0 && r.failed) {
        struct buf said = BUF_INIT;
        add_said(&r, &said);
        end_with(l, CELL_FAILED, "the hook's apply: ", buf_str(&said));
        buf_release(&said);
    } else if (rc == 0) {
        struct span url = hook_value(buf_span(&r.output), "base_url");
        l->base_url = url.data ? mem_copy(url.data, url.len) : NULL;
    }
    hook_release(&r);
    return rc;
}

/* Compares what is in force with what was asked for. */
static void verify(struct life *l, struct span output)
{
    const struct planfile *p = l->cell->plan;
    struct buf unnamed = BUF_INIT;
    for (size_t i = 0; i < p->n_factors; i++) {
        const char *name = p->factors[i].name;
        const char *level = p->factors[i].levels[l->cell->levels[i]];
        if (cell_options_is_option(name))
            continue;
        struct span now = hook_value(output, name);
        if (!now.data) {
            buf_addf(&unnamed, "%s%s", unnamed.len ? ", " : "", name);
        } else if (!span_is(now, level)) {
            char *said = mem_printf("%s=%.*s is in force, %s=%s was asked for", name, (int)now.len,
                                    now.data, name, level);
            end_with(l, CELL_REFUSED, "", said);
            free(said);
        }
    }
    if (unnamed.len)
        l->unverified = mem_printf("not verified: %s", buf_str(&unnamed));
    buf_release(&unnamed);
}

static int collect(struct life *l, struct err *err)
{
    struct hook_result r = {0};
    int rc = call_hook(l->cell, l->boot, "collect", l->cell->plan->collect_us, &r, err);
    if (rc == 0 && r.failed) {
        struct buf said = BUF_INIT;
        add_said(&r, &said);
        end_with(l, CELL_FAILED, "the hook's collect: ", buf_str(&said));
        buf_release(&said);
    } else if (rc == 0) {
        verify(l, buf_span(&r.output));
    }
    hook_release(&r);
    return rc;
}

static int stop(struct life *l, struct err *err)
{
    struct hook_result r = {0};
    int rc = call_hook(l->cell, l->boot, "stop", l->cell->plan->stop_us, &r, err);
    if (rc == 0 && r.failed) {
        l->result->stop_failed = true;
        if (!l->result->why[0])
            snprintf(l->result->why, sizeof l->result->why, "the hook's stop: %s", r.end);
    }
    hook_release(&r);
    return rc;
}

/* --- the endpoint ----------------------------------------------------------------------------- */

static void tell_waiting(void *arg, const char *what)
{
    (void)arg;
    cmd_note("waiting: %s", what);
}

static int wait_ready(struct life *l, const struct cell_options *o, struct err *err)
{
    struct endpoint ep = {0};
    if (http_global_init(err) != 0)
        return -1;
    struct err why = {0};
    int rc = endpoint_options_open(&o->run.endpoint, &ep, &why);
    if (rc != 0 && l->base_url) {
        end_with(l, CELL_FAILED, "the base_url that the hook printed: ", why.text);
        rc = 0;
    } else if (rc != 0) {
        *err = why;
    } else {
        struct ready_request q = {.endpoint = &ep,
                                  .model = o->run.endpoint.model,
                                  .limit_us = l->cell->plan->ready_us,
                                  .period_us = READY_PERIOD_US,
                                  .tool_call = l->cell->plan->ready_tool_call,
                                  .stop = is_stopped,
                                  .tell = l->cell->quiet ? NULL : tell_waiting};
        if (ready_wait(&q, NULL, &why) != 0)
            end_with(l, CELL_FAILED, "not ready: ", why.text);
    }
    endpoint_release(&ep);
    http_global_end();
    return rc;
}

/* Plays; what fails here is the endpoint's doing or the tool's, by the error's status. */
static int play_setup(struct life *l, struct run_setup *setup, const char *command, struct err *err)
{
    struct played played = {0};
    l->row.run = run_record_begin(l->cell->store, setup, command, err);
    l->result->run = l->row.run;
    if (l->row.run < 0 || note_state(l, "running", NULL, err) != 0)
        return -1;
    struct run_play p = {
        .setup = setup, .store = l->cell->store, .run = l->row.run, .prefix = l->cell->prefix};
    if (run_play(&p, &played, err) != 0)
        return -1;
    if (is_stopped())
        end_with(l, CELL_INTERRUPTED, "", "stopped while sessions were running");
    else if (played.judged == 0)
        end_with(l, CELL_FAILED, "", "no session could be judged: all ended in errors");
    return 0;
}

static int play(struct life *l, struct cell_options *o, struct err *err)
{
    struct run_setup setup = {0};
    struct err why = {0};
    o->run.quiet = true; /* nothing about a built-in endpoint at each start */
    int rc = run_setup_init(&setup, &o->run, &why);
    o->run.quiet = l->cell->quiet;
    if (rc != 0 && why.status == STATUS_ENDPOINT) {
        end_with(l, CELL_FAILED, "", why.text);
        rc = 0;
    } else if (rc != 0) {
        *err = why;
    } else {
        char *command = run_record_command(&setup, (int)o->n_words, o->words);
        rc = play_setup(l, &setup, command, err);
        free(command);
    }
    run_setup_release(&setup);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int build_options(struct life *l, bool boot_is_known, struct cell_options *o,
                         struct err *err)
{
    const struct cell *c = l->cell;
    char *own[6];
    size_t n = 0, total = 0;
    if (boot_is_known)
        own[n++] = mem_printf("--tag=boot=%s", l->boot);
    own[n++] = mem_printf("--tag=block=%ld", c->block);
    own[n++] = mem_printf("--tag=order=%ld", c->place);
    own[n++] = mem_printf("--label=%s/%d", c->plan->name, c->cell);
    own[n++] = mem_printf("--db=%s", c->db);
    if (l->base_url)
        own[n++] = mem_printf("--base-url=%s", l->base_url);
    const char **words = mem_zero(n + c->n_words, sizeof *words);
    for (size_t i = 0; i < c->n_words; i++)
        words[total++] = c->words[i];
    for (size_t i = 0; i < n; i++)
        words[total++] = own[i];
    struct cell_request q = {
        .plan = c->plan, .levels = c->levels, .words = words, .n_words = total};
    int rc = cell_options_init(o, &q, err);
    for (size_t i = 0; i < n; i++)
        free(own[i]);
    free(words);
    return rc;
}

/* Nobody restarts a server for a plan without a hook: its boot is not known, unless it is built in.
 */
static int run_options_of(struct life *l, struct cell_options *o, struct err *err)
{
    int rc = build_options(l, true, o, err);
    if (rc != 0 || l->cell->plan->hook || !o->run.endpoint.base_url)
        return rc;
    cell_options_release(o);
    return build_options(l, false, o, err);
}

/* From a server that was started to the end of its run. */
static int use(struct life *l, struct err *err)
{
    struct cell_options o = {0};
    int rc = run_options_of(l, &o, err);
    if (rc == 0 && l->cell->plan->hook && !o.run.endpoint.base_url)
        end_with(l, CELL_FAILED, "neither the plan nor the hook names an endpoint", "");
    if (rc == 0 && o.run.endpoint.base_url)
        rc = wait_ready(l, &o, err);
    if (rc == 0 && l->cell->plan->hook && l->result->end == CELL_DONE)
        rc = collect(l, err);
    if (rc == 0 && l->result->end == CELL_DONE)
        rc = play(l, &o, err);
    cell_options_release(&o);
    return rc;
}

static struct sweep_start_row first_row(const struct cell *c, const char *boot)
{
    return (struct sweep_start_row){.place = c->place,
                                    .block = c->block,
                                    .cell = c->cell,
                                    .step = c->step,
                                    .boot = boot,
                                    .run = -1,
                                    .started_us = clock_wall_us(),
                                    .ended_us = -1};
}

int cell_play(const struct cell *c, struct cell_result *r, struct err *err)
{
    *r = (struct cell_result){.run = -1};
    struct life l = {.cell = c, .result = r};
    l.boot = mem_printf("%s-%ld-%d", c->plan->name, c->sweep, c->start);
    l.row = first_row(c, l.boot);
    int rc = note_state(&l, "starting", NULL, err);
    bool started = rc == 0 && c->plan->hook;
    if (started)
        rc = apply(&l, err);
    if (rc == 0 && r->end == CELL_DONE)
        rc = use(&l, err);
    if (started) {
        struct err later = {0};
        if (rc == 0 && r->end == CELL_DONE)
            rc = note_state(&l, "stopping", l.unverified, err);
        if (stop(&l, &later) != 0 && rc == 0) {
            *err = later;
            rc = -1;
        }
    }
    l.row.ended_us = clock_wall_us();
    if (rc == 0)
        rc = note_state(&l, state_word(r->end), r->end == CELL_DONE ? l.unverified : r->why, err);
    free(l.boot);
    free(l.base_url);
    free(l.unverified);
    return rc;
}

int cell_abandon(const struct cell *c, const struct cell_leftover *left, struct err *err)
{
    struct hook_result r = {0};
    int rc = 0;
    if (c->plan->hook)
        rc = call_hook(c, left->boot, "stop", c->plan->stop_us, &r, err);
    hook_release(&r);
    struct sweep_start_row row = {.place = left->place,
                                  .block = left->block,
                                  .cell = left->cell,
                                  .step = left->step,
                                  .boot = left->boot,
                                  .state = left->played ? "done" : "abandoned",
                                  .detail = left->played ? NULL
                                                         : "the program ended before this start "
                                                           "was over",
                                  .run = left->run,
                                  .started_us = left->started_us,
                                  .ended_us = clock_wall_us()};
    if (rc == 0 && left->run > 0 && !left->played) {
        struct run_end end = {
            .status = "interrupted", .peak_in_flight = -1, .wall_us = -1, .late_p99_us = -1};
        end.cpu_us = -1;
        rc = store_run_end(c->store, left->run, &end, err);
    }
    return rc == 0 ? sweeps_start(c->store, c->sweep, left->start, &row, err) : rc;
}
