/* sweep.c - `toolstorm sweep PLAN.json`: every cell of a plan, block by block, each on a server
 * start of its own; then what can be said of the factors. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cell.h"
#include "cell_options.h"
#include "clock.h"
#include "commands.h"
#include "forecast.h"
#include "json.h"
#include "matrix.h"
#include "mem.h"
#include "opt.h"
#include "planfile.h"
#include "report.h"
#include "schedule.h"
#include "store.h"
#include "sweep_book.h"

struct sweep_args {
    const char *db, *output, *failure;
    bool resume, dry_run, quiet;
};

#define AT(field) offsetof(struct sweep_args, field)

static const struct opt table[] = {
    {"resume", NULL, 0, OPT_BOOL, AT(resume), NULL, "no", 0, 0, NULL, "Sweep",
     "go on with the starts that are missing; with nothing missing, print the result again"},
    {"dry-run", NULL, 0, OPT_BOOL, AT(dry_run), NULL, "no", 0, 0, NULL, NULL,
     "print the schedule and what it will cost, and start nothing"},
    {"on-hook-failure", NULL, 0, OPT_TEXT, AT(failure), NULL, NULL, 0, 0, "stop|go-on", NULL,
     "what a start that fails does to the rest (default: the plan's word, else stop)"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|md|json", NULL,
     "form of the result"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "no word about how far it is"},
    {0},
};

struct sweep {
    const struct sweep_args *args;
    struct planfile plan;
    struct sweep_book book;
    size_t *schedule;
    long n_places;
    long played; /* in this process */
    int64_t began_us;
    bool go_on, failed; /* a start failed */
};

/* --- the schedule in words ----------------------------------------------------------------------
 */

static int forecast_all(const struct sweep *s, struct store *store, struct forecast *f,
                        struct err *err)
{
    for (size_t c = 0; c < s->plan.n_cells; c++) {
        struct cell_options o;
        struct cell_request q = {.plan = &s->plan, .levels = planfile_cell(&s->plan, c)};
        int rc = cell_options_init(&o, &q, err);
        if (rc == 0)
            rc = forecast_add(f, &o.run, (double)(s->plan.blocks * (o.run.sessions + o.run.warmup)),
                              store, err);
        cell_options_release(&o);
        if (rc != 0)
            return -1;
    }
    return 0;
}

static int print_schedule(const struct sweep *s, struct err *err)
{
    struct forecast f = {0};
    struct err none = {0};
    struct store *store = store_open(s->args->db, STORE_READ, &none);
    int rc = forecast_all(s, store, &f, err);
    store_close(store);
    if (rc != 0)
        return -1;
    struct buf out = BUF_INIT;
    buf_addf(&out, "%s: %zu cells, %ld blocks: %ld server starts, %.0f sessions\n", s->plan.name,
             s->plan.n_cells, s->plan.blocks, s->n_places, f.sessions);
    buf_addf(&out, "about %.0f prompt and %.0f completion tokens\n", f.prompt_tokens,
             f.completion_tokens);
    buf_addf(&out, "about %.0f min of sessions (%s)%s\n\n", f.seconds / 60 + 0.5,
             f.measured ? "by earlier runs in the database"
                        : "a guess: 1 s to the first token, 30 tokens/s",
             s->plan.hook ? ", and the restarts" : "");
    buf_adds(&out, "start  block  configuration\n");
    for (long i = 0; i < s->n_places; i++) {
        size_t cell = s->schedule[i];
        buf_addf(&out, "%5ld  %5ld  ", i + 1, i / (long)s->plan.n_cells + 1);
        planfile_cell_name(&s->plan, planfile_cell(&s->plan, cell), &out);
        buf_adds(&out, cell == s->plan.baseline ? "  (baseline)\n" : "\n");
    }
    rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* --- playing -------------------------------------------------------------------------------------
 */

static void add_time_left(const struct sweep *s, long missing, struct buf *out)
{
    if (s->played == 0 || missing == 0)
        return;
    double each = (double)(clock_mono_us() - s->began_us) / 1e6 / (double)s->played;
    double left = each * (double)missing;
    if (left < 90)
        buf_addf(out, "; about %.0f s left", left);
    else
        buf_addf(out, "; about %.0f min left", left / 60);
}

/* One line about the start that is over. */
static int say_how_far(const struct sweep *s, const struct cell *c, const struct cell_result *r,
                       struct err *err)
{
    struct buf line = BUF_INIT;
    buf_addf(&line, "start %ld of %ld, ", c->place, s->n_places);
    planfile_cell_name(&s->plan, c->levels, &line);
    buf_adds(&line, ": ");
    int rc = 0;
    if (r->end == CELL_DONE) {
        rc = sweep_book_rate(&s->book, c->cell, r->run, &line, err);
        buf_adds(&line, "; so far ");
        if (rc == 0)
            rc = sweep_book_rate(&s->book, c->cell, 0, &line, err);
        add_time_left(s, s->n_places - c->place, &line);
    }
    if (r->why[0])
        buf_addf(&line, "%s%s", r->end == CELL_DONE ? "; " : "", r->why);
    if (rc == 0 && (!s->args->quiet || r->why[0]))
        cmd_note("%s", buf_str(&line));
    buf_release(&line);
    return rc;
}

/* One place of the schedule. 0 = go on, 1 = the sweep ends here, -1 = failed. */
static int play_place(struct sweep *s, long place, struct err *err)
{
    size_t cell = s->schedule[place - 1];
    const size_t *levels = planfile_cell(&s->plan, cell);
    int number = sweep_book_cell(&s->book, levels, err);
    if (number < 0)
        return -1;
    char *prefix = mem_printf("[%ld/%ld] ", place, s->n_places);
    struct cell c = {.plan = &s->plan,
                     .store = s->book.store,
                     .sweep = s->book.sweep,
                     .db = s->args->db,
                     .quiet = s->args->quiet,
                     .prefix = prefix,
                     .levels = levels,
                     .start = ++s->book.n_starts,
                     .place = place,
                     .block = (place - 1) / (long)s->plan.n_cells + 1,
                     .cell = number};
    struct cell_result r;
    int rc = cell_play(&c, &r, err);
    free(prefix);
    s->played++;
    if (rc != 0 || say_how_far(s, &c, &r, err) != 0)
        return -1;
    bool bad = (r.end != CELL_DONE && r.end != CELL_INTERRUPTED) || r.stop_failed;
    s->failed = s->failed || bad;
    return cmd_stopped() || (bad && !s->go_on);
}

/* Registers every cell in the plan's order, so that tables show it. */
static int add_cells(struct sweep *s, struct err *err)
{
    for (size_t c = 0; c < s->plan.n_cells; c++)
        if (sweep_book_cell(&s->book, planfile_cell(&s->plan, c), err) < 0)
            return -1;
    return 0;
}

static int play_all(struct sweep *s, struct err *err)
{
    s->began_us = clock_mono_us();
    int rc = add_cells(s, err);
    for (long place = 1; place <= s->n_places && rc == 0; place++) {
        int done = sweep_book_is_done(&s->book, place, err);
        rc = done < 0 ? -1 : done ? 0 : play_place(s, place, err);
    }
    return rc < 0 ? -1 : 0;
}

/* --- the result ----------------------------------------------------------------------------------
 */

static int print_result(const struct sweep *s, struct matrix *m, struct err *err)
{
    struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    struct buf out = BUF_INIT;
    if (strcmp(s->args->output, "json") == 0) {
        struct jsonw w = {.out = &out};
        matrix_write_json(m, &w);
        buf_addc(&out, '\n');
    } else if (strcmp(s->args->output, "md") == 0) {
        matrix_write_md(m, &out);
    } else {
        matrix_write_text(m, &style, &out);
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* Could everything be played, did the damage show at all, is a cell worse than the baseline? */
static int sweep_status(const struct sweep *s, const struct matrix *m)
{
    if (cmd_stopped())
        return cmd_stopped();
    if (s->failed || m->n_missing > 0)
        return STATUS_ENDPOINT;
    if (matrix_is_clean(m))
        return STATUS_UNDECIDED;
    return matrix_has_regression(m) ? STATUS_CORRUPT : STATUS_PASS;
}

static int report(const struct sweep *s, struct err *err)
{
    struct matrix m = {0};
    int rc = matrix_read(&m, s->book.store, s->book.sweep, s->n_places, err);
    if (rc == 0)
        rc = print_result(s, &m, err);
    if (rc == 0)
        rc = sweep_status(s, &m);
    if (rc >= 0 && m.n_missing > 0)
        cmd_note("%ld of %ld starts are missing; the same command with --resume goes on",
                 m.n_missing, s->n_places);
    matrix_release(&m);
    return rc;
}

static int sweep(struct sweep *s, struct err *err)
{
    struct store *store = store_open(s->args->db, STORE_WRITE, err);
    if (!store)
        return -1;
    s->book = (struct sweep_book){.store = store,
                                  .plan = &s->plan,
                                  .kind = "sweep",
                                  .db = s->args->db,
                                  .quiet = s->args->quiet};
    cmd_catch_stop();
    int rc = sweep_book_open(&s->book, s->args->resume, err);
    if (rc == 0)
        rc = play_all(s, err);
    if (rc == 0)
        rc = report(s, err);
    store_close(store);
    return rc;
}

static int run_sweep(const struct sweep_args *a, const struct opt_list *operands, struct err *err)
{
    struct sweep s = {.args = a};
    int rc = planfile_read(&s.plan, operands->items[0], operands->items + 1, operands->n - 1, err);
    if (rc == 0)
        rc = cell_options_check(&s.plan, err);
    if (rc == 0) {
        s.n_places = (long)s.plan.n_cells * s.plan.blocks;
        s.schedule = schedule_new(s.plan.n_cells, s.plan.blocks, s.plan.order_seed);
        s.go_on = a->failure ? strcmp(a->failure, "go-on") == 0 : s.plan.go_on_after_failure;
        rc = a->dry_run ? print_schedule(&s, err) : sweep(&s, err);
    }
    free(s.schedule);
    planfile_release(&s.plan);
    return rc;
}

int cmd_sweep(int argc, char **argv, struct err *err)
{
    struct sweep_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("sweep [options] PLAN.json [-- options of run]",
                         "Plays every configuration of a plan, interleaved in blocks, each time on "
                         "a fresh server start that\nthe plan's hook brings about, and says which "
                         "factors matter. Every start is stored: killed at any\nmoment, "
                         "--resume goes on. schemas/sweep.schema.json describes plans.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n == 0)
        rc = err_set(err, STATUS_USAGE, "sweep needs a plan file");
    if (rc == 0)
        rc = run_sweep(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
