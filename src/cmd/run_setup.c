/* run_setup.c - puts a run together. What it builds, workers only read. */
#include "run_setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "dialect.h"
#include "file.h"
#include "http.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "probe.h"
#include "run_options.h"
#include "scenario.h"
#include "sim.h"

#define MAX_DEFAULT_THREADS 4
#define RULES_BYTES         (4u << 20)
#define KEY_FILE_BYTES      65536

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

/* The key from the file, else from the environment; none is fine. */
static int read_key(struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    const char *from_env = getenv(o->api_key_env);
    if (!o->api_key_file) {
        s->endpoint.api_key = from_env && from_env[0] ? mem_str(from_env) : NULL;
        return 0;
    }
    struct buf b = BUF_INIT;
    int rc = file_read(o->api_key_file, KEY_FILE_BYTES, &b, err);
    if (rc == 0) {
        size_t n = strcspn(buf_str(&b), "\r\n");
        s->endpoint.api_key = mem_copy(buf_str(&b), n);
        if (n == 0)
            rc = err_set(err, STATUS_USAGE, "'%s' holds no API key in its first line",
                         o->api_key_file);
    }
    buf_release(&b);
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
                             .ledger = o->ledger,
                             .ttft_us = o->sim_ttft_us,
                             .itl_us = o->sim_itl_us,
                             .split = (int)o->sim_split,
                             .think = o->sim_think};
    s->sim = sim_start(&so, err);
    if (!s->sim)
        return -1;
    if (!o->quiet)
        cmd_note("no --base-url and no OPENAI_BASE_URL: using a simulated endpoint at %s",
                 sim_url(s->sim));
    return 0;
}

static void copy_limits(struct endpoint *ep, const struct run_options *o)
{
    ep->cacert = mem_str(o->cacert);
    ep->cert = mem_str(o->cert);
    ep->cert_key = mem_str(o->cert_key);
    ep->proxy = mem_str(o->proxy);
    ep->unix_socket = mem_str(o->unix_socket);
    ep->insecure = o->insecure;
    ep->http2 = o->http2;
    ep->connect_timeout_us = o->connect_timeout_us;
    ep->ttft_timeout_us = o->ttft_timeout_us;
    ep->idle_timeout_us = o->idle_timeout_us;
    ep->timeout_us = o->timeout_us;
    ep->headers = mem_zero(o->headers.n, sizeof *ep->headers);
    ep->n_headers = o->headers.n;
    for (size_t i = 0; i < o->headers.n; i++)
        ep->headers[i] = mem_str(o->headers.items[i]);
}

static int open_endpoint(struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    if (!o->base_url && !o->dry_run && start_sim(s, err) != 0)
        return -1;
    const char *url = o->base_url ? o->base_url : s->sim ? sim_url(s->sim) : "http://127.0.0.1/v1";
    if (endpoint_init(&s->endpoint, dialect_default(), url, err) != 0)
        return -1;
    copy_limits(&s->endpoint, o);
    if (o->insecure && !o->quiet)
        cmd_note("warning: --insecure: the server's certificate is not checked; anyone on the way "
                 "can read the API key");
    return o->base_url ? read_key(s, err) : 0;
}

/* The model to name, and what the server says about itself. */
static int ask_endpoint(struct run_setup *s, struct err *err)
{
    s->model = mem_str(s->options->model);
    if (s->options->dry_run) {
        if (!s->model)
            s->model = mem_str("MODEL");
        return 0;
    }
    if (probe_facts(&s->endpoint, &s->server_facts, &s->model, err) != 0)
        return -1;
    if (!s->model)
        return err_set(err, STATUS_ENDPOINT, "endpoint '%s' lists no models; name one with --model",
                       s->endpoint.host);
    if (s->sim || !s->options->preflight)
        return 0;
    return probe_completion(&s->endpoint, s->model, err);
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

static int fill_settings(struct run_setup *s, struct err *err)
{
    const struct run_options *o = s->options;
    struct settings *t = &s->settings;
    *t = (struct settings){.endpoint = &s->endpoint,
                           .scenario = s->scenario,
                           .judge = s->judge,
                           .toolset = s->toolset,
                           .key = &s->key,
                           .sessions = o->sessions,
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
                           .sampling_seed = o->sampling_seed,
                           .extra_body = s->extra_body,
                           .on_damage = on_damage_of(o->on_damage),
                           .keep = keep_of(o->keep)};
    return run_options_shard(o, &t->shard, &t->shards, err);
}

int run_setup_init(struct run_setup *s, const struct run_options *o, struct err *err)
{
    s->options = o;
    s->scenario = scenario_load(o->scenario, err);
    if (!s->scenario)
        return -1;
    s->key = token_key((uint64_t)o->seed);
    if (o->extra_body) {
        s->extra_body = json_parse(span_of(o->extra_body), err);
        if (!s->extra_body)
            return -1;
    }
    if (load_judge(s, err) != 0 || sim_check_faults(o->faults.items, o->faults.n, err) != 0 ||
        http_global_init(err) != 0 || open_endpoint(s, err) != 0 || ask_endpoint(s, err) != 0)
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
    endpoint_release(&s->endpoint);
    buf_release(&s->server_facts);
    free(s->model);
    http_global_end();
    *s = (struct run_setup){0};
}
