/* run_setup.c - puts a run together. What it builds, workers only read. */
#include "run_setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "file.h"
#include "history.h"
#include "http.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "message.h"
#include "probe.h"
#include "run_options.h"
#include "scenario.h"
#include "secrets.h"
#include "sim.h"

#define MAX_DEFAULT_THREADS 4
#define RULES_BYTES         (4u << 20)
#define HISTORY_BYTES       (64u << 20)

static int load_judge(struct run_setup *s, struct err *err)
{
    struct buf rules = BUF_INIT;
    if (s->options->rules && file_read(s->options->rules, RULES_BYTES, &rules, err) != 0)
        return -1;
    struct judge_options jo = {.strict = s->options->strict,
                               .rules_json = s->options->rules ? buf_str(&rules) : NULL};
    s->judge = judge_new(&jo, err);
    if (!s->judge && s->options->rules)
        err_prefix(err, "'%s'", s->options->rules);
    buf_release(&rules);
    if (!s->judge || judge_self_check(s->judge, err) != 0)
        return -1;
    size_t n;
    const struct tool *tools = scenario_tools(s->scenario, &n);
    s->toolset = toolset_new(s->judge, tools, n, err);
    return s->toolset ? 0 : -1;
}

/* The name of the server start, if a tag gives one. */
static const char *boot_of(const struct opt_list *tags)
{
    for (size_t i = 0; i < tags->n; i++)
        if (strncmp(tags->items[i], "boot=", 5) == 0)
            return tags->items[i] + 5;
    return NULL;
}

/* A rule that hits nothing makes a clean run, which should not be taken for a good sign. */
static int warn_of_idle_faults(const struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    struct sim_plan p = {.scenario = s->scenario,
                         .seed = (uint64_t)o->seed,
                         .rounds = (int)o->rounds,
                         .sessions = o->sessions + o->warmup,
                         .only = o->only,
                         .concurrency = o->concurrency,
                         .stream = o->stream,
                         .twin = o->twin,
                         .boot = boot_of(&o->tags),
                         .factors = o->tags.items,
                         .n_factors = o->tags.n};
    struct buf lines = BUF_INIT;
    int rc = sim_idle_faults(o->faults.items, o->faults.n, &p, &lines, err);
    char *rest = rc == 0 && lines.len ? lines.data : NULL;
    for (char *line; rest && (line = strtok_r(rest, "\n", &rest));)
        cmd_note("warning: %s", line);
    buf_release(&lines);
    return rc;
}

static int start_sim(struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    struct sim_options so = {.scenarios = (const struct scenario *const *)&s->scenario,
                             .n_scenarios = 1,
                             .faults = o->faults.items,
                             .n_faults = o->faults.n,
                             .seed = (uint64_t)o->seed,
                             .boot = boot_of(&o->tags),
                             .factors = o->tags.items,
                             .n_factors = o->tags.n,
                             .ledger = o->ledger,
                             .ttft_us = o->sim_ttft_us,
                             .itl_us = o->sim_itl_us,
                             .split = (int)o->sim_split,
                             .think = o->sim_think};
    if (warn_of_idle_faults(s, err) != 0)
        return -1;
    s->sim = sim_start(&so, err);
    if (!s->sim)
        return -1;
    if (!o->quiet)
        cmd_note("no --base-url and no OPENAI_BASE_URL: using a simulated endpoint at %s",
                 sim_url(s->sim));
    return 0;
}

static int open_endpoint(struct run_setup *s, struct err *err)
{
    const struct endpoint_options *o = &s->options->endpoint;
    if (o->base_url)
        return endpoint_options_open(o, &s->endpoint, err);
    if (!s->options->dry_run && start_sim(s, err) != 0)
        return -1;
    return endpoint_options_open_at(o, s->sim ? sim_url(s->sim) : "http://127.0.0.1/v1",
                                    &s->endpoint, err);
}

/* The model to name, and what the server says about itself. */
static int ask_endpoint(struct run_setup *s, struct err *err)
{
    s->model = mem_str(s->options->endpoint.model);
    if (s->options->dry_run) {
        if (!s->model)
            s->model = mem_str("MODEL");
        return 0;
    }
    if (probe_facts(&s->endpoint, &s->server_facts, &s->model, err) != 0)
        return -1;
    if (s->sim || !s->options->preflight)
        return 0;
    return probe_completion(&s->endpoint, s->model, NULL, err);
}

static enum on_damage on_damage_of(const char *word)
{
    return strcmp(word, "stop") == 0    ? DAMAGE_STOP
           : strcmp(word, "scrub") == 0 ? DAMAGE_SCRUB
                                        : DAMAGE_KEEP;
}

static enum keep keep_of(const char *word)
{
    return strcmp(word, "all") == 0    ? KEEP_ALL
           : strcmp(word, "none") == 0 ? KEEP_NONE
                                       : KEEP_DAMAGED;
}

static int threads_of(long asked)
{
    if (asked > 0)
        return (int)asked;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_DEFAULT_THREADS ? MAX_DEFAULT_THREADS : (int)cores;
}

/* What --tool-choice means in this scenario. */
static int read_choice(const struct run_setup *s, enum tool_choice *choice, struct err *err)
{
    static const char *const words[] = {
        [CHOICE_AUTO] = "auto", [CHOICE_NONE] = "none", [CHOICE_REQUIRED] = "required"};
    const char *said = s->options->tool_choice;
    for (int i = CHOICE_AUTO; i <= CHOICE_REQUIRED; i++)
        if (strcmp(said, words[i]) == 0) {
            *choice = (enum tool_choice)i;
            return 0;
        }
    size_t n;
    const struct tool *tools = scenario_tools(s->scenario, &n);
    struct buf known = BUF_INIT;
    *choice = CHOICE_NAMED;
    bool offered = false;
    for (size_t i = 0; i < n; i++) {
        offered |= strcmp(tools[i].name, said) == 0;
        buf_addf(&known, "%s%s", i ? ", " : "", tools[i].name);
    }
    if (!offered)
        err_set(err, STATUS_USAGE,
                "'--tool-choice %s': expected auto, required, none or a tool of scenario '%s': %s",
                said, scenario_name(s->scenario), buf_str(&known));
    buf_release(&known);
    return offered ? 0 : -1;
}

static int fill_settings(struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    struct settings *t = &s->settings;
    s->redactor = mem_zero(1, sizeof *s->redactor);
    secrets_init(s->redactor, &s->endpoint);
    *t = (struct settings){.endpoint = &s->endpoint,
                           .redactor = s->redactor,
                           .scenario = s->scenario,
                           .judge = s->judge,
                           .toolset = s->toolset,
                           .key = &s->key,
                           .sessions = o->sessions + o->warmup,
                           .warmup = o->warmup,
                           .only = o->only,
                           .concurrency = o->concurrency,
                           .threads = threads_of(o->threads),
                           .rounds = (int)o->rounds,
                           .context_tokens = o->context,
                           .request_rate = o->request_rate,
                           .seed = (uint64_t)o->seed,
                           .model = s->model,
                           .tool_choice = o->tool_choice,
                           .temperature = o->temperature,
                           .max_tokens = o->max_tokens,
                           .stream = o->stream,
                           .twin = o->twin,
                           .retry_overload = (int)o->retry_overload,
                           .sampling_seed = o->sampling_seed,
                           .extra_body = s->extra_body,
                           .on_damage = on_damage_of(o->on_damage),
                           .keep = keep_of(o->keep)};
    t->choice = s->choice;
    return run_options_shard(o, &t->shard, &t->shards, err);
}

/* A captured conversation becomes part of the scenario, and so of what is kept with the run. */
static int load_scenario(struct run_setup *s, struct err *err)
{
    const char *file = s->options->history;
    s->scenario = scenario_load(s->options->scenario, err);
    if (!s->scenario || !file)
        return s->scenario ? 0 : -1;
    struct buf captured = BUF_INIT, text = BUF_INIT;
    struct scenario *plain = s->scenario;
    s->scenario = NULL;
    if (file_read(file, HISTORY_BYTES, &captured, err) == 0) {
        if (history_begin(span_of(scenario_text(plain)), buf_span(&captured), &text, err) != 0)
            err_prefix(err, "'%s'", file);
        else
            s->scenario = scenario_parse(buf_span(&text), file, err);
    }
    scenario_free(plain);
    buf_release(&captured);
    buf_release(&text);
    return s->scenario ? 0 : -1;
}

int run_setup_init(struct run_setup *s, const struct run_options *o, struct err *err)
{
    s->options = o;
    if (load_scenario(s, err) != 0)
        return -1;
    if (!s->options->quiet && s->options->context > 0 && !scenario_has_context(s->scenario))
        cmd_note("scenario '%s' has no context of its own: --context has no effect",
                 scenario_name(s->scenario));
    s->key = token_key((uint64_t)o->seed);
    if (o->extra_body) {
        s->extra_body = json_parse(span_of(o->extra_body), err);
        if (!s->extra_body)
            return -1;
    }
    if (read_choice(s, &s->choice, err) != 0 || load_judge(s, err) != 0 ||
        sim_check_faults(o->faults.items, o->faults.n, err) != 0 || http_global_init(err) != 0 ||
        open_endpoint(s, err) != 0 || ask_endpoint(s, err) != 0)
        return -1;
    return fill_settings(s, err);
}

void run_setup_release(struct run_setup *s)
{
    if (s->sim)
        sim_stop(s->sim);
    toolset_free(s->toolset);
    judge_free(s->judge);
    scenario_free(s->scenario);
    json_free(s->extra_body);
    if (s->redactor)
        secrets_release(s->redactor);
    free(s->redactor);
    endpoint_release(&s->endpoint);
    buf_release(&s->server_facts);
    free(s->model);
    http_global_end();
    *s = (struct run_setup){0};
}
