/* isolate.c - `toolstorm isolate PLAN.json`: which minimal set of flags the damage needs. The
 * search is sweep/hunt.c's, the evidence report/trail.c's; here the steps are played. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cell.h"
#include "cell_options.h"
#include "commands.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "planfile.h"
#include "report.h"
#include "store.h"
#include "sweep_book.h"
#include "trail.h"

#define LEAST_BASELINE 40 /* sessions of a baseline's start */
#define MOST_TRIES     3  /* of a step whose start fails */

struct isolate_args {
    const char *db, *output, *failure;
    bool resume, dry_run, quiet;
};

#define AT(field) offsetof(struct isolate_args, field)

static const struct opt table[] = {
    {"resume", NULL, 0, OPT_BOOL, AT(resume), NULL, "no", 0, 0, NULL, "Search",
     "go on after the last finished step; when it is over, print the result again"},
    {"dry-run", NULL, 0, OPT_BOOL, AT(dry_run), NULL, "no", 0, 0, NULL, NULL,
     "print the order of the flags and what it will cost, and start nothing"},
    {"on-hook-failure", NULL, 0, OPT_TEXT, AT(failure), NULL, NULL, 0, 0, "stop|go-on", NULL,
     "a start that fails ends the search, or is tried again, three times in all (default: the "
     "plan's word, else stop)"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|md|json", NULL,
     "form of the result"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "no word about how far it is"},
    {0},
};

struct isolate {
    const struct isolate_args *args;
    struct planfile plan;
    struct sweep_book book;
    size_t factor_of[HUNT_MAX_FLAGS]; /* flag number to factor */
    size_t on_level[HUNT_MAX_FLAGS], off_level[HUNT_MAX_FLAGS];
    char *on[HUNT_MAX_FLAGS], *off[HUNT_MAX_FLAGS];
    struct trail_rule rule;
    long baseline_sessions;
    bool go_on;
};

/* --- flags ---------------------------------------------------------------------------------------
 */

static void add_flag(struct isolate *s, size_t factor)
{
    const struct factor *f = &s->plan.factors[factor];
    int i = s->rule.n_flags++;
    s->factor_of[i] = factor;
    s->on_level[i] = planfile_cell(&s->plan, s->plan.baseline)[factor];
    s->off_level[i] = 1 - s->on_level[i];
    s->on[i] = mem_printf("%s=%s", f->name, f->levels[s->on_level[i]]);
    s->off[i] = mem_printf("%s=%s", f->name, f->levels[s->off_level[i]]);
}

/* In the plan's order, cheap ones first; options of `run` last: without load a step takes long. */
static int make_flags(struct isolate *s, struct err *err)
{
    for (size_t f = 0; f < s->plan.n_factors; f++)
        if (s->plan.factors[f].n_levels != 2)
            return err_set(err, STATUS_USAGE,
                           "isolate takes factors of two levels, and '%s' has %zu",
                           s->plan.factors[f].name, s->plan.factors[f].n_levels);
    for (int options = 0; options < 2; options++)
        for (size_t f = 0; f < s->plan.n_factors; f++)
            if (cell_options_is_option(s->plan.factors[f].name) == (options == 1))
                add_flag(s, f);
    s->rule.name = s->plan.name;
    s->rule.on = (const char *const *)s->on;
    s->rule.off = (const char *const *)s->off;
    s->rule.p0 = s->plan.p0;
    s->rule.cap = s->plan.step_cap;
    return 0;
}

static void levels_of(const struct isolate *s, unsigned on, size_t *levels)
{
    for (int i = 0; i < s->rule.n_flags; i++)
        levels[s->factor_of[i]] = on >> i & 1 ? s->on_level[i] : s->off_level[i];
}

static int read_baseline_size(struct isolate *s, struct err *err)
{
    struct cell_options o;
    struct cell_request q = {.plan = &s->plan, .levels = planfile_cell(&s->plan, s->plan.baseline)};
    int rc = cell_options_init(&o, &q, err);
    s->baseline_sessions = o.run.sessions > LEAST_BASELINE ? o.run.sessions : LEAST_BASELINE;
    cell_options_release(&o);
    return rc;
}

/* --- the forecast --------------------------------------------------------------------------------
 */

static int print_forecast(const struct isolate *s, struct err *err)
{
    double error = 0.05 / s->rule.n_flags;
    struct sprt_rule rule = {.p0 = s->rule.p0, .p1 = 0.075, .alpha = error, .beta = error};
    double clean = sprt_operating(&rule, 0).mean_n, corrupt = sprt_operating(&rule, 0.15).mean_n;
    int k = s->rule.n_flags, needed = k < 3 ? k : 3, controls = (k + 2) / 3;
    struct buf out = BUF_INIT;
    buf_addf(&out,
             "%s: %d flags, at most %d server starts with one cause\n"
             "at a baseline rate of 15%%: about %.0f sessions of a clean step, %.0f of one that "
             "corrupts;\nabout %.0f in all if %d of the flags are needed\n\n",
             s->plan.name, k, hunt_most_steps(k), clean, corrupt,
             (double)s->baseline_sessions + (needed + 1) * clean +
                 (k - needed + controls + 1) * corrupt,
             needed);
    buf_adds(&out, "tried in this order, on and off:\n");
    for (int i = 0; i < k; i++)
        buf_addf(&out, "%3d  %s  %s\n", i + 1, s->on[i], s->off[i]);
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* --- playing -------------------------------------------------------------------------------------
 */

/* Further options of the step's run. */
static size_t step_words(const struct isolate *s, const struct trail *t, char **words)
{
    size_t n = 0;
    if (t->hunt.next.kind == HUNT_BASELINE) {
        words[n++] = mem_printf("--sessions=%ld", s->baseline_sessions);
        return n;
    }
    words[n++] = mem_printf("--sessions=%ld", s->rule.cap);
    words[n++] = mem_str("--until=decided");
    words[n++] = mem_printf("--p0=%.17g", t->test.p0);
    words[n++] = mem_printf("--p1=%.17g", t->test.p1);
    words[n++] = mem_printf("--test-error=%.17g", t->test.alpha);
    return n;
}

static int play_step(struct isolate *s, const struct trail *t, struct cell_result *r,
                     struct err *err)
{
    size_t levels[PLANFILE_MAX_FACTORS];
    char *words[8];
    struct buf name = BUF_INIT;
    levels_of(s, t->hunt.next.on, levels);
    int number = sweep_book_cell(&s->book, levels, err);
    if (number < 0)
        return -1;
    trail_step_name(&s->rule, &t->hunt.next, &name);
    char *prefix = mem_printf("[step %zu, %s] ", t->n_steps + 1, buf_str(&name));
    size_t n = step_words(s, t, words);
    struct cell c = {.plan = &s->plan,
                     .store = s->book.store,
                     .sweep = s->book.sweep,
                     .db = s->args->db,
                     .quiet = s->args->quiet,
                     .prefix = prefix,
                     .levels = levels,
                     .start = ++s->book.n_starts,
                     .place = (long)t->n_steps + 1,
                     .block = (long)t->n_steps + 1,
                     .cell = number,
                     .step = buf_str(&name),
                     .words = (const char *const *)words,
                     .n_words = n};
    int rc = cell_play(&c, r, err);
    for (size_t i = 0; i < n; i++)
        free(words[i]);
    free(prefix);
    buf_release(&name);
    return rc;
}

static void say_step(const struct isolate *s, const struct trail *t)
{
    const struct trail_step *last = &t->steps[t->n_steps - 1];
    struct buf line = BUF_INIT;
    if (s->args->quiet)
        return;
    buf_addf(&line, "step %zu, ", t->n_steps);
    trail_step_name(&s->rule, &last->step, &line);
    buf_addf(&line, ": %ld/%ld; ", last->x, last->n);
    trail_step_result(&s->rule, last, &line);
    cmd_note("%s", buf_str(&line));
    buf_release(&line);
}

/* Plays the next step until it is done. 0 = done, 1 = the search ends here, -1 = failed. */
static int play_next(struct isolate *s, const struct trail *t, bool *failed, struct err *err)
{
    for (int tries = 1;; tries++) {
        struct cell_result r;
        if (play_step(s, t, &r, err) != 0)
            return -1;
        bool bad = r.end == CELL_FAILED || r.end == CELL_REFUSED || r.stop_failed;
        if (r.why[0])
            cmd_note("step %zu: %s", t->n_steps + 1, r.why);
        if (r.end == CELL_INTERRUPTED || cmd_stopped())
            return 1;
        if (bad && (!s->go_on || tries == MOST_TRIES)) {
            *failed = true;
            return 1;
        }
        if (r.end == CELL_DONE)
            return 0;
    }
}

static int search(struct isolate *s, struct trail *t, bool *failed, struct err *err)
{
    for (bool played = false;; played = true) {
        trail_release(t);
        if (trail_read(t, s->book.store, s->book.sweep, &s->rule, err) != 0)
            return -1;
        if (played)
            say_step(s, t);
        if (t->hunt.end != HUNT_GOES_ON)
            return 0;
        int rc = play_next(s, t, failed, err);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
}

/* --- the result ----------------------------------------------------------------------------------
 */

static int print_result(const struct isolate *s, const struct trail *t, struct err *err)
{
    struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    struct buf out = BUF_INIT;
    if (strcmp(s->args->output, "json") == 0) {
        struct jsonw w = {.out = &out};
        trail_write_json(t, &w);
        buf_addc(&out, '\n');
    } else if (strcmp(s->args->output, "md") == 0) {
        trail_write_md(t, &out);
    } else {
        trail_write_text(t, &style, &out);
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

static int isolate(struct isolate *s, struct err *err)
{
    struct trail t = {0};
    bool failed = false;
    struct store *store = store_open(s->args->db, STORE_WRITE, err);
    if (!store)
        return -1;
    s->book = (struct sweep_book){.store = store,
                                  .plan = &s->plan,
                                  .kind = "isolate",
                                  .db = s->args->db,
                                  .quiet = s->args->quiet};
    cmd_catch_stop();
    int rc = sweep_book_open(&s->book, s->args->resume, err);
    if (rc == 0)
        rc = search(s, &t, &failed, err);
    if (rc == 0)
        rc = print_result(s, &t, err);
    if (rc == 0)
        rc = cmd_stopped()              ? cmd_stopped()
             : failed                   ? STATUS_ENDPOINT
             : t.hunt.end == HUNT_FOUND ? STATUS_PASS
                                        : STATUS_UNDECIDED;
    trail_release(&t);
    store_close(store);
    return rc;
}

static int run_isolate(const struct isolate_args *a, const struct opt_list *operands,
                       struct err *err)
{
    struct isolate s = {.args = a};
    int rc = planfile_read(&s.plan, operands->items[0], operands->items + 1, operands->n - 1, err);
    if (rc == 0)
        rc = make_flags(&s, err);
    if (rc == 0)
        rc = cell_options_check(&s.plan, err);
    if (rc == 0)
        rc = read_baseline_size(&s, err);
    if (rc == 0) {
        s.go_on = a->failure ? strcmp(a->failure, "go-on") == 0 : s.plan.go_on_after_failure;
        rc = a->dry_run ? print_forecast(&s, err) : isolate(&s, err);
    }
    for (int i = 0; i < s.rule.n_flags; i++) {
        free(s.on[i]);
        free(s.off[i]);
    }
    planfile_release(&s.plan);
    return rc;
}

int cmd_isolate(int argc, char **argv, struct err *err)
{
    struct isolate_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("isolate [options] PLAN.json [-- options of run]",
                         "Finds out which of a plan's factors are needed for the damage, taken "
                         "together: switches one after\nanother from its baseline level to its "
                         "other level, each time on a fresh server start, and tests by\nsequential "
                         "tests whether the rest still corrupts. Exit status 0 if a set was found, "
                         "4 if not.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n == 0)
        rc = err_set(err, STATUS_USAGE, "isolate needs a plan file");
    if (rc == 0)
        rc = run_isolate(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
