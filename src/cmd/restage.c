/* restage.c - rebuilds what a stored run expected of its replies. The bytes that were sent and came
 * back are the database's; nothing is sent here. */
#include "restage.h"

#include <string.h>

#include "buf.h"
#include "expect.h"
#include "file.h"
#include "judge.h"
#include "report.h"
#include "scenario.h"
#include "store.h"

#define RULES_BYTES (4u << 20)

/* The rules in force, of the run's and those that may replace them. */
static int choose_rules(struct restage *r, const struct restage_rules *rules, struct err *err)
{
    const struct section *run = restage_run(r);
    bool own_file = !rules || !rules->file, own_level = !rules || rules->strict < 0;
    r->rules_file = own_file ? figures_text(run, 0, "rules") : rules->file;
    r->strict = own_level ? figures_long(run, 0, "strict") != 0 : rules->strict != 0;
    if (!r->rules_file[0] || file_read(r->rules_file, RULES_BYTES, &r->rules, err) == 0)
        return 0;
    return own_file ? err_prefix(err, "the run was judged with further rules") : -1;
}

static int load_judge(struct restage *r, const struct restage_rules *rules, struct err *err)
{
    if (choose_rules(r, rules, err) != 0)
        return -1;
    const struct judge_options options = {
        .strict = r->strict, .rules_json = r->rules_file[0] ? buf_str(&r->rules) : NULL};
    r->judge = judge_new(&options, err);
    if (!r->judge)
        return r->rules_file[0] ? err_prefix(err, "'%s'", r->rules_file) : -1;
    size_t n;
    const struct tool *tools = scenario_tools(r->scenario, &n);
    r->toolset = toolset_new(r->judge, tools, n, err);
    return r->toolset ? 0 : -1;
}

int restage_init_with(struct restage *r, struct store *s, long run,
                      const struct restage_rules *rules, struct err *err)
{
    const struct binding binding = {.name = "run", .number = run};
    if (report_check_run(s, run, err) != 0 ||
        figures_read(&r->figures, s, "reports/restage.sql", &binding, 1, err) != 0)
        return -1;
    const struct section *row = restage_run(r);
    r->key = token_key((uint64_t)figures_long(row, 0, "seed"));
    r->scenario = scenario_parse(figures_span(row, 0, "scenario_text"),
                                 figures_text(row, 0, "scenario"), err);
    return r->scenario ? load_judge(r, rules, err) : -1;
}

int restage_init(struct restage *r, struct store *s, long run, struct err *err)
{
    return restage_init_with(r, s, run, NULL, err);
}

void restage_release(struct restage *r)
{
    toolset_free(r->toolset);
    judge_free(r->judge);
    scenario_free(r->scenario);
    buf_release(&r->rules);
    figures_release(&r->figures);
    *r = (struct restage){0};
}

const struct section *restage_run(const struct restage *r)
{
    return figures_get(&r->figures, "run");
}

struct play *restage_play(const struct restage *r, struct store *s, long session, struct err *err)
{
    const struct section *run = restage_run(r);
    const struct play_settings settings = {
        .seed = (uint64_t)figures_long(run, 0, "seed"),
        .rounds = (int)figures_long(run, 0, "rounds"),
        .context_tokens = figures_long(run, 0, "context_tokens"),
        .n_sessions = figures_long(run, 0, "n_sessions"),
    };
    const struct binding bindings[] = {{.name = "run", .number = figures_long(run, 0, "run")},
                                       {.name = "session", .number = session}};
    struct figures known = {0};
    struct play *p = NULL;
    if (figures_add(&known, s, "session",
                    "SELECT canary FROM sessions WHERE run = :run AND session = :session", bindings,
                    2, err) == 0) {
        const struct section *row = figures_get(&known, "session");
        p = play_new(r->scenario, &settings, &r->key, session);
        if (!row->n_rows || strcmp(figures_text(row, 0, "canary"), play_canary(p)) != 0) {
            err_set(err, STATUS_USAGE,
                    "session %ld of run %ld can't be staged again: this program makes another "
                    "conversation of its scenario and seed",
                    session, bindings[0].number);
            play_free(p);
            p = NULL;
        }
    }
    figures_release(&known);
    return p;
}

void restage_expect(const struct restage *r, const struct play *p, int round, struct expect *e)
{
    play_expect(p, round, e);
    e->max_tokens = figures_long(restage_run(r), 0, "max_tokens");
}
