/* trail.c - replays a search from its stored sessions: the outcome of a step is computed from them
 * each time, in the order in which they started, so that a search that was killed goes on as if
 * nothing had happened. It writes nothing. */
#include "trail.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "store.h"

#define ERROR_ALL_STEPS 0.05 /* chance of a wrong step, shared by the flags */

/* --- one step ------------------------------------------------------------------------------------
 */

struct session_query {
    struct query *q;
    long next; /* place in the start order that comes next */
};

static int start_sessions(struct session_query *sq, struct store *s, long run, struct err *err)
{
    *sq = (struct session_query){0};
    sq->q = store_query(s,
                        "SELECT class, start_order - coalesce((SELECT CAST(value AS INTEGER) FROM "
                        "run_settings WHERE run = :run AND key = 'warmup'), 0) FROM sessions WHERE "
                        "run = :run AND NOT warmup ORDER BY start_order",
                        err);
    if (!sq->q)
        return -1;
    query_bind_long(sq->q, "run", run);
    sq->next = 1;
    return 0;
}

/* The next session's class; NULL at the end, and where one is missing: what started later can't
 * count before it. */
static const char *next_class(struct session_query *sq, struct err *err, int *rc)
{
    *rc = query_step(sq->q, err);
    if (*rc != 1 || query_long(sq->q, 1) != sq->next) {
        *rc = *rc < 0 ? -1 : 0;
        return NULL;
    }
    sq->next++;
    return query_text(sq->q, 0);
}

/* Counts the run's sessions until the test has decided; without a test, all of them. */
static int count_sessions(struct store *s, struct trail_step *step, struct sprt *test,
                          struct err *err)
{
    struct session_query sq;
    if (start_sessions(&sq, s, step->run, err) != 0)
        return -1;
    int rc = 0;
    while (!test || test->state == SPRT_GO_ON) {
        const char *class = next_class(&sq, err, &rc);
        if (!class)
            break;
        bool failed = strcmp(class, "error") == 0, ok = strcmp(class, "ok") == 0;
        step->errors += failed;
        step->n += !failed;
        step->x += !failed && !ok;
        if (test && !failed)
            sprt_add(test, !ok);
    }
    query_free(sq.q);
    return rc < 0 ? -1 : 0;
}

/* --- the sequence --------------------------------------------------------------------------------
 */

static void plan_test(struct trail *t)
{
    double error = ERROR_ALL_STEPS / t->rule->n_flags;
    t->test = (struct sprt_rule){.p0 = t->rule->p0,
                                 .p1 = (double)t->base_x / (double)t->base_n / 2,
                                 .alpha = error,
                                 .beta = error};
}

/* The baseline must surely corrupt more than twice as often as what counts as clean. */
static void settle_baseline(struct trail *t, struct trail_step *step)
{
    t->base_x += step->x;
    t->base_n += step->n;
    t->n_baselines++;
    bool shown =
        t->base_n > 0 && rate_clopper_pearson(t->base_x, t->base_n, 0.95).low > 2 * t->rule->p0;
    step->settled = shown || t->n_baselines >= TRAIL_BASELINES;
    step->outcome = shown ? HUNT_CORRUPT : HUNT_CLEAN;
    if (shown)
        plan_test(t);
}

static int add_step(struct trail *t, struct store *s, long run, struct err *err)
{
    struct trail_step step = {.step = t->hunt.next, .run = run, .settled = true};
    bool is_baseline = step.step.kind == HUNT_BASELINE;
    struct sprt test = sprt_start(&t->test);
    if (count_sessions(s, &step, is_baseline ? NULL : &test, err) != 0)
        return -1;
    if (is_baseline)
        settle_baseline(t, &step);
    else
        step.outcome = test.state == SPRT_FAIL   ? HUNT_CORRUPT
                       : test.state == SPRT_PASS ? HUNT_CLEAN
                                                 : HUNT_UNDECIDED;
    t->sessions += step.n;
    t->steps = mem_grow(t->steps, &t->steps_cap, t->n_steps, sizeof *t->steps);
    t->steps[t->n_steps++] = step;
    if (step.settled)
        hunt_add(&t->hunt, step.outcome);
    return 0;
}

/* The row of a start must say that it is the step that comes next. */
static int check_step(const struct trail *t, const char *stored, struct err *err)
{
    struct buf name = BUF_INIT;
    if (t->hunt.end == HUNT_GOES_ON)
        trail_step_name(t->rule, &t->hunt.next, &name);
    bool fits = strcmp(buf_str(&name), stored) == 0;
    buf_release(&name);
    return fits ? 0
                : err_set(err, STATUS_TOOL,
                          "a stored step '%s' does not follow from those before it", stored);
}

int trail_read(struct trail *t, struct store *s, long sweep, const struct trail_rule *rule,
               struct err *err)
{
    t->rule = rule;
    t->hunt = hunt_start(rule->n_flags);
    struct query *q = store_query(s,
                                  "SELECT run, step FROM sweep_starts WHERE sweep = :sweep AND "
                                  "state = 'done' ORDER BY start",
                                  err);
    if (!q)
        return -1;
    query_bind_long(q, "sweep", sweep);
    int rc;
    while ((rc = query_step(q, err)) == 1) {
        if (check_step(t, query_text(q, 1), err) != 0 ||
            add_step(t, s, query_long(q, 0), err) != 0) {
            rc = -1;
            break;
        }
    }
    query_free(q);
    return rc;
}

void trail_release(struct trail *t)
{
    free(t->steps);
    *t = (struct trail){0};
}
