/* sim.c - `toolstorm sim`: the simulated endpoint alone, until it is told to stop. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "buf.h"
#include "clock.h"
#include "commands.h"
#include "mem.h"
#include "opt.h"
#include "scenario.h"

struct sim_args {
    const char *host, *model, *boot, *ledger, *api_key_env;
    struct opt_list faults, factors, scenarios;
    long port, seed, tokens_per_chunk, split, threads;
    int64_t ttft_us, itl_us, limit_us;
    double jitter;
    bool think, quiet;
};

#define AT(field) offsetof(struct sim_args, field)

static const struct opt table[] = {
    {"host", NULL, 0, OPT_TEXT, AT(host), "ADDRESS", "127.0.0.1", 0, 0, NULL, "Endpoint",
     "address to listen on"},
    {"port", NULL, 0, OPT_LONG, AT(port), "N", "0", 0, 65535, NULL, NULL,
     "port; 0 takes a free one"},
    {"model", NULL, 0, OPT_TEXT, AT(model), "NAME", "sim-1", 0, 0, NULL, NULL,
     "name of its one model"},
    {"api-key-env", NULL, 0, OPT_TEXT, AT(api_key_env), "NAME", NULL, 0, 0, NULL, NULL,
     "demand the API key that this environment variable holds"},
    {"threads", NULL, 0, OPT_LONG, AT(threads), "N", "1", 1, 64, NULL, NULL, "event loops"},
    {"scenario", NULL, 0, OPT_LIST, AT(scenarios), "FILE", NULL, 0, 0, NULL, NULL,
     "know this scenario file besides the shipped ones"},
    {"for", NULL, 0, OPT_DURATION, AT(limit_us), "TIME", "0", 0, 1e6, NULL, NULL,
     "stop after so long; 0 = never"},
    {"ttft", NULL, 0, OPT_DURATION, AT(ttft_us), "TIME", "0", 0, 3600, NULL, "Pace",
     "delay before the first token"},
    {"itl", NULL, 0, OPT_DURATION, AT(itl_us), "TIME", "0", 0, 3600, NULL, NULL,
     "delay between two chunks"},
    {"jitter", NULL, 0, OPT_RATE, AT(jitter), "SHARE", "0", 0, 0, NULL, NULL,
     "how far delays scatter"},
    {"tokens-per-chunk", NULL, 0, OPT_LONG, AT(tokens_per_chunk), "N", "1", 1, 100000, NULL, NULL,
     "tokens in one chunk of a stream"},
    {"split", NULL, 0, OPT_LONG, AT(split), "BYTES", "0", 0, 100000, NULL, NULL,
     "cut the body at random places into pieces of at most so many bytes"},
    {"think", NULL, 0, OPT_BOOL, AT(think), NULL, "no", 0, 0, NULL, NULL,
     "send reasoning before each answer"},
    {"fault", NULL, 0, OPT_LIST, AT(faults), "RULE", NULL, 0, 0, NULL, "Damage",
     "damage sessions; `toolstorm help faults` says how rules are written"},
    {"factor", NULL, 0, OPT_LIST, AT(factors), "NAME=VALUE", NULL, 0, 0, NULL, NULL,
     "a setting that fault rules may ask about"},
    {"seed", NULL, 0, OPT_LONG, AT(seed), "N", "1", 0, 0, NULL, NULL, "which sessions are hit"},
    {"boot", NULL, 0, OPT_TEXT, AT(boot), "NAME", NULL, 0, 0, NULL, NULL,
     "name of this server start"},
    {"ledger", NULL, 0, OPT_TEXT, AT(ledger), "FILE", NULL, 0, 0, NULL, NULL,
     "append a JSON line for every damaged session"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "print nothing but the URL"},
    {0},
};

static void load_scenarios(const struct opt_list *names, struct scenario **out, size_t *n,
                           struct err *err)
{
    for (*n = 0; *n < names->n; ++*n) {
        out[*n] = scenario_load(names->items[*n], err);
        if (!out[*n])
            return;
    }
}

static void wait_for_stop(int64_t limit_us)
{
    int64_t until = clock_mono_us() + limit_us;
    while (!cmd_stopped() && (limit_us == 0 || clock_mono_us() < until)) {
        struct timespec pause = {.tv_nsec = 50000000};
        nanosleep(&pause, NULL);
    }
}

static int serve(const struct sim_args *a, struct scenario *const *scenarios, struct err *err)
{
    struct sim_options o = {.host = a->host,
                            .port = (int)a->port,
                            .scenarios = (const struct scenario *const *)scenarios,
                            .n_scenarios = a->scenarios.n,
                            .faults = a->faults.items,
                            .n_faults = a->faults.n,
                            .factors = a->factors.items,
                            .n_factors = a->factors.n,
                            .seed = (uint64_t)a->seed,
                            .boot = a->boot,
                            .model = a->model,
                            .ledger = a->ledger,
                            .api_key = a->api_key_env ? getenv(a->api_key_env) : NULL,
                            .ttft_us = a->ttft_us,
                            .itl_us = a->itl_us,
                            .jitter = a->jitter,
                            .tokens_per_chunk = (int)a->tokens_per_chunk,
                            .split = (int)a->split,
                            .think = a->think,
                            .threads = (int)a->threads};
    if (a->api_key_env && !o.api_key)
        return err_set(err, STATUS_USAGE, "'--api-key-env %s': no such environment variable",
                       a->api_key_env);
    cmd_catch_stop();
    struct sim *sim = sim_start(&o, err);
    if (!sim)
        return -1;
    struct buf line = BUF_INIT;
    buf_addf(&line, "%s\n", sim_url(sim));
    int rc = cmd_print(&line, err);
    buf_release(&line);
    if (!a->quiet)
        cmd_note("simulated endpoint, stop it with Ctrl-C");
    if (rc == 0)
        wait_for_stop(a->limit_us);
    sim_stop(sim);
    return rc;
}

int cmd_sim(int argc, char **argv, struct err *err)
{
    struct sim_args a = {0};
    struct opt_list operands = {0};
    struct scenario **scenarios = NULL;
    size_t n = 0;
    int rc = cmd_options("sim [options]",
                         "Serves /v1/chat/completions, /v1/models, /health, /metrics and "
                         "/debug/ledger. Its URL is the\nfirst line on standard output.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': sim takes no operands", operands.items[0]);
    if (rc == 0) {
        scenarios = mem_zero(a.scenarios.n, sizeof *scenarios);
        load_scenarios(&a.scenarios, scenarios, &n, err);
        rc = n == a.scenarios.n ? serve(&a, scenarios, err) : -1;
    }
    for (size_t i = 0; i < n; i++)
        scenario_free(scenarios[i]);
    free(scenarios);
    free(operands.items);
    opt_release(table, &a);
    return rc == 1 ? 0 : rc;
}
