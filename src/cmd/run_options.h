/* run_options.h - the options of `run`, as typed. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoint_options.h"
#include "opt.h"

struct run_options {
    struct endpoint_options endpoint;
    /* load */
    long sessions, warmup, concurrency, rounds, context, max_tokens, seed, threads, only,
        evidence_limit;
    double temperature, request_rate;
    const char *scenario, *history, *tool_choice, *shard, *extra_body;
    bool stream, twin, sampling_seed, preflight;
    long retry_overload;
    /* judging */
    const char *on_damage, *keep, *rules;
    bool strict;
    /* the run's name and place */
    const char *label, *db, *output, *junit;
    struct opt_list tags;
    /* verdict */
    double fail_over, max_errors, p0, p1, test_error, certify;
    const char *until;
    long min_sessions;
    /* the built-in endpoint */
    struct opt_list faults;
    const char *ledger;
    int64_t sim_ttft_us, sim_itl_us;
    long sim_split;
    bool sim_think;
    bool resume;
    /* talk */
    bool dry_run, quiet;
};

extern const struct opt run_option_table[];

/* Names of the options that change neither what is played nor how it is judged. Ends with NULL. */
extern const char *const run_local_options[];

/* The endpoint's own check and those that go beyond one option. */
int run_options_check(struct run_options *o, struct err *err) MUST_CHECK;

/* --shard K/N taken apart; 1 of 1 if it was not given. */
int run_options_shard(const struct run_options *o, long *shard, long *shards, struct err *err);

#endif
