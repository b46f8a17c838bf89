/* reach.c - which rules can hit nothing in a run, before it is played. Right replies of its first
 * sessions are asked what could be done to them; it damages nothing. */
#include "sim.h"

#include "ask.h"
#include "buf.h"
#include "damage.h"
#include "expect.h"
#include "fault.h"
#include "scenario.h"
#include "scene.h"

#define MOST_SESSIONS 50 /* looked at: parts differ by chance, and hardly more than these do */

/* One session, and whether a rule's damage could be done in it at all. */
struct look {
    struct scene scene;
    bool *fitted;
};

static bool fits(const void *arg, enum reason reason, int round)
{
    struct expect e = {0};
    const struct look *look = arg;
    scene_expect(&look->scene, round, &e);
    bool fit = damage_fits(reason, &look->scene, &e);
    *look->fitted |= fit;
    return fit;
}

static bool session_reached(const struct faults *f, size_t rule, const struct sim_plan *p,
                            long session, bool stream, bool *fitted)
{
    const struct ask ask = {.named = true,
                            .session = session,
                            .seed = p->seed,
                            .rounds = p->rounds,
                            .stream = stream,
                            .include_usage = true};
    struct look look = {.fitted = fitted};
    struct scene *scene = &look.scene;
    *scene = (struct scene){.ask = &ask, .scenario = p->scenario, .key = token_key(p->seed)};
    const struct play_settings settings = {.seed = p->seed, .rounds = p->rounds};
    scene->play = play_new(p->scenario, &settings, &scene->key, session);
    struct fault_case most = {.run_seed = p->seed,
                              .session = p->only ? p->only : p->sessions,
                              .rounds = play_rounds(scene->play),
                              .inflight = (int)p->concurrency,
                              .stream = stream,
                              .boot = p->boot ? p->boot : ""};
    most.request = p->sessions * most.rounds * (p->twin ? 2 : 1);
    bool reached = faults_can_hit(f, rule, &most, p->boot != NULL, fits, &look);
    scene_close(scene);
    return reached;
}

static bool reached(const struct faults *f, size_t rule, const struct sim_plan *p, bool *fitted)
{
    long first = p->only ? p->only : 1, last = p->only ? p->only : p->sessions;
    for (long session = first; session <= last && session < first + MOST_SESSIONS; session++)
        if (session_reached(f, rule, p, session, p->stream, fitted) ||
            (p->twin && session_reached(f, rule, p, session, !p->stream, fitted)))
            return true;
    return false;
}

int sim_idle_faults(const char *const *rules, size_t n, const struct sim_plan *p, struct buf *out,
                    struct err *err)
{
    struct faults *f = faults_new(rules, n, p->factors, p->n_factors, 0, err);
    if (!f)
        return -1;
    for (size_t i = 0; i < n; i++) {
        bool fitted = false;
        if (reached(f, i, p, &fitted))
            continue;
        const char *when = damage_when(faults_reason(f, i));
        buf_addf(out, "--fault '%s' can hit nothing in this run: ", rules[i]);
        if (fitted || !when)
            buf_adds(out, "its conditions never hold\n");
        else
            buf_addf(out, "it takes a reply in which %s\n", when);
    }
    faults_free(f);
    return 0;
}
