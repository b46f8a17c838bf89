// layers: sim judge scenario wire chat base
/* test_sim_judged.c - endpoint and judge know nothing of each other and must agree: every damage,
 * alone and mixed, in every scenario, is found and named as the ledger has it, and nothing else. */
#include "check.h"
#include "judge.h"
#include "simclient.h"

struct court {
    struct judge *judge;
    struct scenario *scenario;
    struct toolset *toolset;
};

static void court_open(struct court *c, const char *scenario)
{
    struct err err = {0};
    struct judge_options options = {0};
    size_t n;
    c->judge = judge_new(&options, &err);
    c->scenario = must_load(scenario);
    const struct tool *tools = scenario_tools(c->scenario, &n);
    c->toolset = toolset_new(c->judge, tools, n, &err);
    CHECK_STR(err.text, "");
}

static void court_close(struct court *c)
{
    toolset_free(c->toolset);
    scenario_free(c->scenario);
    judge_free(c->judge);
}

static void print_case(const struct visit *v, int round, const struct entry *e,
                       const struct verdict *verdict)
{
    const struct reply *r = &v->replies[round - 1];
    fprintf(
        stderr,
        "  %s session %ld round %d stream %d: done %s %s, judged %s (%s); end %d status %d "
        "finish %s calls %zu content '%.300s' reasoning '%.200s' args '%.200s' error '%.200s'\n",
        scenario_name(v->scenario), v->session, round, v->stream, e ? e->reason : "nothing",
        e ? e->family : "", reason_name(verdict->reason),
        verdict->n_signs ? verdict->signs[0].note : "", r->end, r->status, r->finish, r->n_calls,
        buf_str(&r->content), buf_str(&r->reasoning), r->n_calls ? buf_str(&r->calls[0].args) : "",
        buf_str(&r->error_text));
}

static int check_visit(const struct court *c, const struct visit *v, const struct entry *ledger,
                       size_t n)
{
    int entries = 0;
    for (int round = 1; round <= v->rounds; round++) {
        const struct entry *e = find_entry(ledger, n, v->session, round);
        struct expect expect;
        struct verdict verdict = {0};
        play_expect(v->play, round, &expect);
        expect.max_tokens = v->max_tokens;
        expect.reasoning_parser = true;
        judge_reply(c->judge, c->toolset, &expect, &v->replies[round - 1], &verdict);
        bool agree =
            e ? strcmp(reason_name(verdict.reason), e->reason) == 0 : verdict.class == CLASS_OK;
        CHECK(agree);
        if (!agree)
            print_case(v, round, e, &verdict);
        verdict_release(&verdict);
        entries += e != NULL;
    }
    return entries;
}

#define FEW 10 /* sessions that wait for limits; more would pass them by their number */

static void set_limits(struct client *c)
{
    c->ep.ttft_timeout_us = c->ep.idle_timeout_us = 1000000;
    c->ep.timeout_us = 2000000;
    c->ep.caps.line = 1 << 20;
    c->ep.caps.reply = 2 << 20;
}

/* n sessions at once under these rules. Returns the ledger's length. */
static size_t hold_court(const struct court *court, const char *const *rules, size_t n_rules, int n)
{
    struct sim *s = must_start(&(struct sim_options){.seed = 6,
                                                     .faults = rules,
                                                     .n_faults = n_rules,
                                                     .tokens_per_chunk = 4,
                                                     .split = n > 30 ? 60 : 0,
                                                     .think = n % 2,
                                                     .threads = 2});
    struct client client;
    client_open(&client, s);
    if (n < FEW)
        set_limits(&client);
    struct visit **visits = mem_zero((size_t)n, sizeof *visits);
    for (int i = 0; i < n; i++)
        visits[i] = visit_start(&client, &(struct visit_order){.scenario = court->scenario,
                                                               .seed = 31,
                                                               .session = i + 1,
                                                               .stream = i % 3 > 0,
                                                               .max_tokens = 500});
    client_settle(&client);
    size_t n_entries, found = 0;
    struct entry *ledger = read_ledger(s, &n_entries);
    for (int i = 0; i < n; i++) {
        found += (size_t)check_visit(court, visits[i], ledger, n_entries);
        visit_free(visits[i]);
    }
    CHECK_INT(found, n_entries);
    free(visits);
    free(ledger);
    client_close(&client);
    sim_stop(s);
    return n_entries;
}

static bool is_slow(enum reason r)
{
    return r == REASON_stall || r == REASON_timeout || r == REASON_too_large;
}

static void test_each_reason(const struct court *court)
{
    for (int i = 0; i < N_REASONS; i++) {
        const char *rule = reason_name((enum reason)i);
        if (sim_check_faults(&rule, 1, NULL) != 0)
            continue;
        hold_court(court, &rule, 1, is_slow((enum reason)i) ? FEW - 4 : 25);
    }
}

/* Every family, from the help's list. */
static void test_families(const struct court *court)
{
    static const char *const reasons[] = {"leak.markup", "leak.markup_reasoning",
                                          "leak.server_parse"};
    struct buf help = BUF_INIT;
    sim_fault_help(&help);
    char *list = mem_str(strchr(strstr(help.data, "\nFamilies") + 1, '\n')), *rest = list;
    for (char *name; (name = strtok_r(rest, " ,\n", &rest));)
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
            char *rule = mem_printf("%s:%s", reasons[i], name);
            const char *rules[] = {rule};
            if (sim_check_faults(rules, 1, NULL) == 0)
                CHECK(hold_court(court, rules, 1, 10) == 10);
            else
                CHECK(i == 1); /* there, only special tokens can be told from a plan */
            free(rule);
        }
    free(list);
    buf_release(&help);
}

/* All at once: some sessions of each kind among many that are right. */
static void test_mixed(const struct court *court)
{
    const char *rules[N_REASONS];
    char *texts[N_REASONS];
    size_t n = 0;
    for (int i = 0; i < N_REASONS; i++) {
        const char *name = reason_name((enum reason)i);
        if (is_slow((enum reason)i) || sim_check_faults(&name, 1, NULL) != 0)
            continue;
        texts[n] = mem_printf("%s=2%%@inflight>1", name);
        rules[n] = texts[n];
        n++;
    }
    size_t entries = hold_court(court, rules, n, 200);
    CHECK(entries > 20 && entries < 150);
    while (n > 0)
        free(texts[--n]);
}

int main(void)
{
    struct err err = {0};
    CHECK(http_global_init(&err) == 0);
    for (size_t i = 0; scenario_shipped(i); i++) {
        struct court court;
        court_open(&court, scenario_shipped(i));
        CHECK(hold_court(&court, NULL, 0, 64) == 0);
        CHECK(hold_court(&court, NULL, 0, 63) == 0);
        test_each_reason(&court);
        test_mixed(&court);
        if (i == 0)
            test_families(&court);
        court_close(&court);
    }
    http_global_end();
    return check_end();
}
