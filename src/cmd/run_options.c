/* run_options.c - one row per option of `run`. */
#include "run_options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "rate.h"
#include "utf8.h"

#define MOST_SESSIONS    10000000
#define DEFAULT_SESSIONS 40

#define AT(field) offsetof(struct run_options, field)

const struct opt run_option_table[] = {
#define ENDPOINT_AT(field) AT(endpoint.field)
#include "endpoint_options.def"

    {"sessions", "num-prompts", 'n', OPT_LONG, AT(sessions), "N", NULL, 1, MOST_SESSIONS, NULL,
     "Load", "sessions to play (default: 40, or as many as --certify takes)"},
    {"warmup", NULL, 0, OPT_LONG, AT(warmup), "N", "0", 0, MOST_SESSIONS, NULL, NULL,
     "play so many sessions more, before those; they are stored and not counted"},
    {"concurrency", "max-concurrency", 'c', OPT_LONG, AT(concurrency), "N", "10", 1, 100000, NULL,
     NULL, "sessions in flight: a finished one is replaced until all have started"},
    {"rounds", "max-turns", 'r', OPT_LONG, AT(rounds), "N", "0", 0, 10000, NULL, NULL,
     "requests per session at the most; 0 = the scenario's own number"},
    {"context", NULL, 0, OPT_LONG, AT(context), "TOKENS", "2000", 0, 2000000, NULL, NULL,
     "about so many tokens of context before the first question"},
    {"max-tokens", NULL, 0, OPT_LONG, AT(max_tokens), "N", "1024", 0, 10000000, NULL, NULL,
     "limit of one reply; 0 = not sent"},
    {"scenario", NULL, 's', OPT_TEXT, AT(scenario), "NAME|FILE", "chain", 0, 0, NULL, NULL,
     "what is said and what must come back; `toolstorm help scenarios` lists them"},
    {"history", NULL, 0, OPT_TEXT, AT(history), "FILE", NULL, 0, 0, NULL, NULL,
     "begin every session with this captured conversation: a request body, an array of messages, "
     "or a log of requests, as agents and proxies write them"},
    {"stream", NULL, 0, OPT_BOOL, AT(stream), NULL, "yes", 0, 0, NULL, NULL,
     "ask for whole replies instead of streams"},
    {"twin", NULL, 0, OPT_BOOL, AT(twin), NULL, "no", 0, 0, NULL, NULL,
     "send each request in the other form too, streamed or whole, and store the pair; the session "
     "goes on with the asked form"},
    {"retry-overload", NULL, 0, OPT_LONG, AT(retry_overload), "N", "0", 0, 20, NULL, NULL,
     "send a request that was answered with 429 or 503 again, up to so many times, after the "
     "Retry-After that it names"},
    {"temperature", NULL, 't', OPT_DOUBLE, AT(temperature), "T", NULL, 0, 10, NULL, NULL,
     "sampling temperature (default: not sent)"},
    {"tool-choice", NULL, 0, OPT_TEXT, AT(tool_choice), "WORD", "auto", 0, 0, NULL, NULL,
     "auto, required, none or a tool's name; forcing calls can hide a bug"},
    {"seed", NULL, 0, OPT_LONG, AT(seed), "N", "1", 0, 0, NULL, NULL,
     "everything said in session K depends on this and K alone"},
    {"sampling-seed", NULL, 0, OPT_BOOL, AT(sampling_seed), NULL, "no", 0, 0, NULL, NULL,
     "send the server a sampling seed too, another one for each session"},
    {"request-rate", NULL, 0, OPT_DOUBLE, AT(request_rate), "PER SECOND", "0", 0, 1e6, NULL, NULL,
     "start sessions at this rate (Poisson) instead of as soon as there is room; 0 = off"},
    {"threads", NULL, 0, OPT_LONG, AT(threads), "N", "0", 0, 256, NULL, NULL,
     "worker threads; 0 = one per core, at most 4"},
    {"resume", NULL, 0, OPT_BOOL, AT(resume), NULL, "no", 0, 0, NULL, NULL,
     "go on with the newest run of this --label, given the same options: play the sessions that a "
     "kill or Ctrl-C has left out; with nothing missing, print the summary again"},
    {"only", NULL, 0, OPT_LONG, AT(only), "K", "0", 0, 10000000, NULL, NULL,
     "play session K alone; 0 = all"},
    {"shard", NULL, 0, OPT_TEXT, AT(shard), "K/N", NULL, 0, 0, NULL, NULL,
     "play every N-th session, beginning with the K-th; `toolstorm merge` joins the shards"},
    {"extra-body", NULL, 0, OPT_TEXT, AT(extra_body), "JSON", NULL, 0, 0, NULL, NULL,
     "members that join or replace those of the request"},
    {"preflight", NULL, 0, OPT_BOOL, AT(preflight), NULL, "yes", 0, 0, NULL, NULL,
     "do not send a tiny completion first"},

    {"on-damage", NULL, 0, OPT_TEXT, AT(on_damage), NULL, "stop", 0, 0, "stop|scrub|keep",
     "Judging", "a damaged session ends, goes on with the damage replaced, or goes on as it is"},
    {"strict", NULL, 0, OPT_BOOL, AT(strict), NULL, "no", 0, 0, NULL, NULL,
     "count suspects as leaks"},
    {"rules", NULL, 0, OPT_TEXT, AT(rules), "FILE", NULL, 0, 0, NULL, NULL,
     "further markup rules, in the form of schemas/markup"},
    {"fail-over", NULL, 0, OPT_RATE, AT(fail_over), "RATE", NULL, 0, 0, NULL, NULL,
     "exit 1 if the 95 % interval lies above this rate, 0 if below, 4 if it holds it (default: "
     "exit 1 on any corruption)"},
    {"until", NULL, 0, OPT_TEXT, AT(until), NULL, "played", 0, 0, "played|decided", NULL,
     "end when all sessions are played, or when a sequential test of --p0 against --p1 has decided "
     "(exit 0, 1, or 4 if it has not)"},
    {"p0", NULL, 0, OPT_RATE, AT(p0), "RATE", "1%", 0, 0, NULL, NULL,
     "acceptable rate of that test"},
    {"p1", NULL, 0, OPT_RATE, AT(p1), "RATE", "10%", 0, 0, NULL, NULL, "rate that it should catch"},
    {"test-error", NULL, 0, OPT_RATE, AT(test_error), "RATE", "5%", 0, 0, NULL, NULL,
     "its chance of a wrong fail at p0, and of a wrong pass at p1"},
    {"certify", NULL, 0, OPT_RATE, AT(certify), "RATE", NULL, 0, 0, NULL, NULL,
     "play as many sessions as rule this rate out if all are clean"},
    {"max-errors", NULL, 0, OPT_RATE, AT(max_errors), "RATE", "20%", 0, 0, NULL, NULL,
     "exit 3 if more sessions than this ended in an error"},
    {"min-sessions", NULL, 0, OPT_LONG, AT(min_sessions), "N", "1", 1, 10000000, NULL, NULL,
     "exit 4 if fewer sessions could be judged"},

    {"label", NULL, 'l', OPT_TEXT, AT(label), "NAME", "", 0, 0, NULL, "Storing",
     "name of the run; runs that share it are repeats"},
    {"tag", NULL, 0, OPT_LIST, AT(tags), "KEY=VALUE", NULL, 0, 0, NULL, NULL,
     "what tells this configuration from others"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL,
     "database; ':memory:' keeps nothing"},
    {"keep", NULL, 0, OPT_TEXT, AT(keep), NULL, "damaged", 0, 0, "damaged|all|none", NULL,
     "rounds whose request and response bytes are stored"},
    {"evidence-limit", NULL, 0, OPT_LONG, AT(evidence_limit), "MIB", "1024", 0, 1 << 30, NULL, NULL,
     "store at most so many MiB of such bytes, before compression, and count what is dropped; 0 = "
     "no "
     "limit"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the summary"},
    {"junit", NULL, 0, OPT_TEXT, AT(junit), "FILE", NULL, 0, 0, NULL, NULL,
     "write the run as JUnit XML, too: a test case per session"},
    {"dry-run", NULL, 0, OPT_BOOL, AT(dry_run), NULL, "no", 0, 0, NULL, NULL,
     "print the first request and send nothing"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL, "no progress line"},

    {"fault", NULL, 0, OPT_LIST, AT(faults), "RULE", NULL, 0, 0, NULL, "Built-in endpoint",
     "damage sessions; `toolstorm help faults` says how rules are written"},
    {"ledger", NULL, 0, OPT_TEXT, AT(ledger), "FILE", NULL, 0, 0, NULL, NULL,
     "append a JSON line for every session that it damaged"},
    {"sim-ttft", NULL, 0, OPT_DURATION, AT(sim_ttft_us), "TIME", "20ms", 0, 3600, NULL, NULL,
     "its delay before the first token"},
    {"sim-itl", NULL, 0, OPT_DURATION, AT(sim_itl_us), "TIME", "2ms", 0, 3600, NULL, NULL,
     "its delay between two tokens"},
    {"sim-split", NULL, 0, OPT_LONG, AT(sim_split), "BYTES", "0", 0, 100000, NULL, NULL,
     "it cuts bodies at random places into pieces of at most so many bytes"},
    {"sim-think", NULL, 0, OPT_BOOL, AT(sim_think), NULL, "no", 0, 0, NULL, NULL,
     "it sends reasoning before each answer"},
    {0},
};

const char *const run_local_options[] = {"db",        "dry-run", "junit",  "ledger", "output",
                                         "preflight", "quiet",   "resume", NULL};

/* Members that decide what is played and judged, and who sets them instead. */
static const struct {
    const char *member, *instead;
} own_members[] = {
    {"stream", "say --stream or --no-stream"},
    {"messages", "say --scenario or --history"},
    {"tools", "say --scenario"},
    {"tool_choice", "say --tool-choice"},
    {"model", "say --model"},
    {"n", "one answer is judged for each request"},
};

static int check_members(const struct json *body, struct err *err)
{
    for (size_t i = 0; i < sizeof own_members / sizeof own_members[0]; i++)
        if (json_get(body, own_members[i].member))
            return err_set(err, STATUS_USAGE, "'--extra-body': '%s' is not for it: %s",
                           own_members[i].member, own_members[i].instead);
    return 0;
}

static int check_extra_body(const char *text, struct err *err)
{
    if (!text)
        return 0;
    struct json *v = json_parse(span_of(text), err);
    int rc = 0;
    if (!v)
        rc = err_prefix(err, "'--extra-body'");
    else if (json_type(v) != JSON_OBJECT)
        rc = err_set(err, STATUS_USAGE, "'--extra-body': expected a JSON object");
    else
        rc = check_members(v, err);
    json_free(v);
    return rc;
}

/* How many sessions are played, from all that is said about it. */
static int check_sessions(struct run_options *o, struct err *err)
{
    if (!isnan(o->certify)) {
        double n = rate_zero_failure_n(o->certify, 0.95);
        if (!(n <= MOST_SESSIONS))
            return err_set(err, STATUS_USAGE,
                           "'--certify %g': expected a rate from 0.000001 to below 1", o->certify);
        if (o->sessions)
            return err_set(err, STATUS_USAGE,
                           "'--certify' says how many sessions are played: leave out --sessions");
        o->sessions = (long)n;
        o->min_sessions = o->sessions;
    }
    if (!o->sessions)
        o->sessions = DEFAULT_SESSIONS;
    if (o->only)
        o->warmup = 0;
    if (o->only > o->sessions)
        o->sessions = o->only;
    if (o->min_sessions > o->sessions)
        return err_set(err, STATUS_USAGE, "'--min-sessions %ld': only %ld are played",
                       o->min_sessions, o->sessions);
    return 0;
}

/* A name is shown everywhere, and formats such as JUnit and Prometheus take UTF-8 alone. */
static int check_name(const char *flag, const char *text, struct err *err)
{
    if (!text || utf8_check(span_of(text)) < 0)
        return 0;
    return err_set(err, STATUS_USAGE, "'--%s': expected text in UTF-8", flag);
}

static int check_names(const struct run_options *o, struct err *err)
{
    for (size_t i = 0; i < o->tags.n; i++)
        if (check_name("tag", o->tags.items[i], err) != 0)
            return -1;
    return check_name("label", o->label, err);
}

int run_options_check(struct run_options *o, struct err *err)
{
    if (check_names(o, err) != 0 || cmd_check_output(o->junit, o->db, err) != 0 ||
        cmd_check_output(o->ledger, o->db, err) != 0)
        return -1;
    if (endpoint_options_check(&o->endpoint, err) != 0 ||
        endpoint_options_pairs(&o->tags, "tag", '=', err) != 0 ||
        check_extra_body(o->extra_body, err) != 0)
        return -1;
    if (o->endpoint.base_url && o->faults.n > 0)
        return err_set(err, STATUS_USAGE,
                       "'--fault' damages the built-in endpoint only, and '%s' is used",
                       "--base-url");
    if (o->endpoint.base_url && o->ledger)
        return err_set(err, STATUS_USAGE, "'--ledger' is written by the built-in endpoint only");
    if (strcmp(o->until, "decided") == 0 && !(o->p0 > 0 && o->p0 < o->p1 && o->p1 < 1))
        return err_set(err, STATUS_USAGE, "'--p0 %g --p1 %g': expected 0 < p0 < p1 < 1", o->p0,
                       o->p1);
    if (!(o->test_error > 0 && o->test_error < 0.5))
        return err_set(err, STATUS_USAGE, "'--test-error %g': expected a rate between 0 and 50%%",
                       o->test_error);
    if (!o->endpoint.base_url && o->endpoint.http2)
        return err_set(err, STATUS_USAGE,
                       "'--http2': the built-in endpoint speaks HTTP/1.1 alone; name another with "
                       "--base-url");
    if (check_sessions(o, err) != 0)
        return -1;
    long shard, shards;
    return run_options_shard(o, &shard, &shards, err);
}

int run_options_shard(const struct run_options *o, long *shard, long *shards, struct err *err)
{
    *shard = *shards = 1;
    if (!o->shard)
        return 0;
    char *end;
    *shard = strtol(o->shard, &end, 10);
    if (*end == '/')
        *shards = strtol(end + 1, &end, 10);
    if (*end || *shards < 1 || *shard < 1 || *shard > *shards || *shards > o->sessions)
        return err_set(err, STATUS_USAGE,
                       "'--shard %s': expected K/N with K from 1 to N and N at most --sessions",
                       o->shard);
    return 0;
}
