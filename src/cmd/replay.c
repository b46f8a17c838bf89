/* replay.c - `toolstorm replay RUN SESSION`: the same bytes again, alone and in a crowd, and what
 * it says about the cause that the damage comes back or does not. */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "endpoint.h"
#include "endpoint_options.h"
#include "expect.h"
#include "http.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "rate_text.h"
#include "replay_words.h"
#include "report.h"
#include "request.h"
#include "restage.h"
#include "scenario.h"
#include "sim.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

struct replay_args {
    struct endpoint_options endpoint;
    const char *db, *output;
    bool alone;
    long crowd, times, round;
    long run, session;
};

#define AT(field) offsetof(struct replay_args, field)

static const struct opt table[] = {
    {"alone", NULL, 0, OPT_BOOL, AT(alone), NULL, "no", 0, 0, NULL, "Replay",
     "only without other requests: the same bytes, and the same behind another beginning"},
    {"crowd", NULL, 0, OPT_LONG, AT(crowd), "N", "0", 0, 100000, NULL, NULL,
     "only among other sessions of the run, N in flight; without --alone and --crowd both are "
     "done, "
     "with as many in flight as the run had"},
    {"times", NULL, 0, OPT_LONG, AT(times), "K", "20", 1, 100000, NULL, NULL,
     "how often the request is sent each way"},
    {"round", NULL, 0, OPT_LONG, AT(round), "N", "0", 0, 1e6, NULL, NULL,
     "this round's request; 0 = the first damaged one"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the answer"},
#define ENDPOINT_AT(field) AT(endpoint.field)
#include "endpoint_options.def"
    {0},
};

enum way { ALONE, FRESH, CROWD, N_WAYS };

static const struct {
    const char *name, *about;
} ways[N_WAYS] = {
    [ALONE] = {"alone", "nothing else in flight"},
    [FRESH] = {"fresh", "behind another beginning"},
    [CROWD] = {"crowd", "others in flight"},
};

struct replaying {
    struct replay_args *args;
    struct store *store;
    struct restage stage;
    struct figures figures; /* reports/replay.sql */
    struct play *play;
    struct expect expect;
    struct endpoint endpoint;
    struct sim *sim;
    size_t n_crowd;
    struct buf *bodies; /* of the crowd */
    char **headers;
    struct replayed results[N_WAYS];
    struct replay_tally tallies[N_WAYS];
};

/* --- requests -----------------------------------------------------------------------------------
 */

static struct span watched_body(const struct replaying *r)
{
    return figures_span(figures_get(&r->figures, "watched"), 0, "request");
}

static char *name_request(const struct replaying *r, const struct play *p, long session, int round)
{
    const struct section *run = restage_run(&r->stage);
    return request_name(
        &(struct request_place){.scenario = r->stage.scenario,
                                .seed = (uint64_t)figures_long(run, 0, "seed"),
                                .session = session,
                                .round = round,
                                .rounds = play_rounds(p),
                                .context_tokens = figures_long(run, 0, "context_tokens"),
                                .replay = true});
}

/* `body` with `text` in the place of `part`, which lies in it. */
static void splice(struct span body, struct span part, struct span text, struct buf *out)
{
    size_t before = (size_t)(part.data - body.data);
    buf_add(out, body.data, before);
    buf_add(out, text.data, text.len);
    buf_add(out, part.data + part.len, body.len - before - part.len);
}

/* The request with which another session of the run began: everything but the messages is as in the
 * watched one. */
static void add_opening(const struct replaying *r, const struct play *p, struct buf *out)
{
    struct span body = watched_body(r), messages = json_raw_get(body, "messages");
    struct buf history = BUF_INIT, array = BUF_INIT;
    request_history(r->endpoint.dialect, r->stage.scenario, p, &history);
    buf_addf(&array, "[%s]", buf_str(&history));
    splice(body, messages, buf_span(&array), out);
    buf_release(&history);
    buf_release(&array);
}

/* The watched request with a few words in front of its first message, other ones for every copy. */
static void add_fresh(const struct replaying *r, size_t copy, struct buf *out)
{
    struct span body = watched_body(r);
    struct span first = json_raw_at(json_raw_get(body, "messages"), 0);
    struct span content = json_raw_get(first, "content");
    char words[64] = "";
    struct span at = {content.data, 0};
    if (content.len && content.data[0] == '"') {
        at.data++;
        snprintf(words, sizeof words, "(Copy %zu.) ", copy + 1);
    }
    if (at.data)
        splice(body, at, span_of(words), out);
    else
        buf_add(out, body.data, body.len);
}

static int gather_crowd(struct replaying *r, struct err *err)
{
    const struct section *run = restage_run(&r->stage);
    long most = figures_long(run, 0, "n_sessions");
    size_t wanted = (size_t)(r->args->crowd ? r->args->crowd : figures_long(run, 0, "concurrency"));
    r->bodies = mem_zero(wanted, sizeof *r->bodies);
    r->headers = mem_zero(wanted, sizeof *r->headers);
    for (long k = 1; k <= most && r->n_crowd < wanted; k++) {
        if (k == r->args->session)
            continue;
        struct play *p = restage_play(&r->stage, r->store, k, NULL);
        if (!p)
            continue; /* it was never played */
        add_opening(r, p, &r->bodies[r->n_crowd]);
        r->headers[r->n_crowd++] = name_request(r, p, k, 1);
        play_free(p);
    }
    if (!r->n_crowd)
        return err_set(err, STATUS_USAGE, "run %ld has no other session to make a crowd of",
                       r->args->run);
    return 0;
}

/* --- playing ------------------------------------------------------------------------------------
 */

static bool is_stopped(void)
{
    return cmd_stopped() != 0;
}

static int play_way(struct replaying *r, enum way way, struct err *err)
{
    size_t times = (size_t)r->args->times;
    int round = (int)figures_long(figures_get(&r->figures, "watched"), 0, "round");
    char *header = name_request(r, r->play, r->args->session, round);
    struct buf *fresh = mem_zero(times, sizeof *fresh);
    struct replay_request *watched = mem_zero(times, sizeof *watched);
    struct replay_request *crowd = mem_zero(r->n_crowd, sizeof *crowd);
    for (size_t i = 0; i < times; i++) {
        if (way == FRESH)
            add_fresh(r, i, &fresh[i]);
        watched[i].body = way == FRESH ? buf_span(&fresh[i]) : watched_body(r);
        watched[i].header = header;
    }
    for (size_t i = 0; i < r->n_crowd; i++)
        crowd[i] = (struct replay_request){buf_span(&r->bodies[i]), r->headers[i]};
    const struct replay replay = {
        .endpoint = &r->endpoint,
        .judge = r->stage.judge,
        .toolset = r->stage.toolset,
        .expect = &r->expect,
        .watched = watched,
        .times = times,
        .crowd = crowd,
        .n_crowd = way == CROWD ? r->n_crowd : 0,
        .crowd_in_flight = r->n_crowd,
        .stream = figures_long(restage_run(&r->stage), 0, "stream") != 0,
        .stop = is_stopped,
    };
    int rc = replay_play(&replay, &r->results[way], err);
    r->tallies[way] = (struct replay_tally){true, r->results[way].corrupt, r->results[way].judged};
    for (size_t i = 0; i < times; i++)
        buf_release(&fresh[i]);
    free(fresh);
    free(watched);
    free(crowd);
    free(header);
    return rc;
}

static int play_ways(struct replaying *r, struct err *err)
{
    const struct replay_args *a = r->args;
    bool both = !a->alone && !a->crowd;
    cmd_catch_stop();
    if ((a->alone || both) && (play_way(r, ALONE, err) != 0 || play_way(r, FRESH, err) != 0))
        return -1;
    if (!a->crowd && !both)
        return 0;
    return gather_crowd(r, err) != 0 ? -1 : play_way(r, CROWD, err);
}

/* --- the endpoint -------------------------------------------------------------------------------
 */

/* The rules by which the run's simulated endpoint damaged sessions, one a line in the settings. */
static size_t split_lines(char *text, const char **lines, size_t most)
{
    size_t n = 0;
    for (char *at = text; *at && n < most;) {
        lines[n++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    return n;
}

#define MAX_RULES 256

static int start_sim(struct replaying *r, struct err *err)
{
    const struct section *run = restage_run(&r->stage);
    const struct section *tags = figures_get(&r->stage.figures, "tags");
    char *text = mem_str(figures_text(run, 0, "faults"));
    const char *faults[MAX_RULES], *boot = NULL;
    const char **factors = mem_zero(tags->n_rows, sizeof *factors);
    for (size_t i = 0; i < tags->n_rows; i++) {
        factors[i] = figures_text(tags, i, "tag");
        if (strcmp(figures_text(tags, i, "key"), "boot") == 0)
            boot = figures_text(tags, i, "value");
    }
    const struct scenario *scenario = r->stage.scenario;
    const struct sim_options options = {.scenarios = &scenario,
                                        .n_scenarios = 1,
                                        .faults = faults,
                                        .n_faults = split_lines(text, faults, MAX_RULES),
                                        .seed = (uint64_t)figures_long(run, 0, "seed"),
                                        .boot = boot,
                                        .factors = factors,
                                        .n_factors = tags->n_rows,
                                        .think = figures_long(run, 0, "sim_think") != 0,
                                        .ttft_us = 5000,
                                        .itl_us = 500};
    r->sim = sim_start(&options, err);
    if (r->sim)
        cmd_note("the run had a simulated endpoint: using another one with its rules at %s",
                 sim_url(r->sim));
    free(factors);
    free(text);
    return r->sim ? 0 : -1;
}

static int open_endpoint(struct replaying *r, struct err *err)
{
    struct endpoint_options *o = &r->args->endpoint;
    const struct section *run = restage_run(&r->stage);
    if (!o->base_url && figures_long(run, 0, "simulated")) {
        if (start_sim(r, err) != 0)
            return -1;
        return endpoint_options_open_at(o, sim_url(r->sim), &r->endpoint, err);
    }
    if (!o->base_url)
        o->base_url = figures_text(run, 0, "base_url");
    return endpoint_options_open(o, &r->endpoint, err);
}

/* --- the answer ---------------------------------------------------------------------------------
 */

static enum replay_cause cause_of(const struct replaying *r)
{
    return replay_words_cause(&r->tallies[ALONE], &r->tallies[FRESH], &r->tallies[CROWD]);
}

static const char *way_rate(const struct replaying *r, enum way way, char text[RATE_TEXT_SIZE])
{
    const struct replay_tally *t = &r->tallies[way];
    if (!t->judged)
        return "none judged";
    return rate_text(text, RATE_TEXT_SIZE, t->corrupt, t->judged);
}

static void write_text(const struct replaying *r, struct buf *out)
{
    const struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    const struct section *w = figures_get(&r->figures, "watched");
    size_t columns = style.columns > 0 ? (size_t)style.columns : 80;
    enum replay_cause cause = cause_of(r);
    buf_addf(out, "round %ld of session %ld of run %ld (%s), sent again %ld times each way:\n",
             figures_long(w, 0, "round"), r->args->session, r->args->run,
             figures_text(w, 0, "reason"), r->args->times);
    struct grid g = {.align = "lll"};
    for (int i = 0; i < N_WAYS; i++) {
        char rate[RATE_TEXT_SIZE];
        if (!r->tallies[i].tried)
            continue;
        grid_add(&g, ways[i].name);
        grid_add(&g, way_rate(r, (enum way)i, rate));
        if (i == CROWD)
            grid_addf(&g, "%zu %s", r->n_crowd, ways[i].about);
        else
            grid_add(&g, ways[i].about);
        if (r->results[i].errors) {
            char *note =
                mem_printf("%ld not judged: %s", r->results[i].errors, r->results[i].error);
            grid_note(&g, note);
            free(note);
        }
    }
    grid_print(&g, &style, 2, out);
    text_paint(out, &style, PAINT_BOLD, replay_words_name(cause));
    buf_adds(out, "\n  ");
    text_wrap(out, replay_words_meaning(cause), 2, columns);
    if (cause == REPLAY_PROMPT && replay_words_crowd_adds(&r->tallies[ALONE], &r->tallies[CROWD]))
        buf_adds(out, "  In a crowd it comes back more often than alone.\n");
}

static void write_json(const struct replaying *r, struct buf *out)
{
    const struct section *w = figures_get(&r->figures, "watched");
    struct jsonw j = {.out = out};
    jsonw_object(&j);
    jsonw_key(&j, "run");
    jsonw_long(&j, r->args->run);
    jsonw_key(&j, "session");
    jsonw_long(&j, r->args->session);
    jsonw_key(&j, "round");
    jsonw_long(&j, figures_long(w, 0, "round"));
    jsonw_key(&j, "reason");
    jsonw_text(&j, figures_text(w, 0, "reason"));
    for (int i = 0; i < N_WAYS; i++) {
        char rate[RATE_TEXT_SIZE];
        jsonw_key(&j, ways[i].name);
        if (!r->tallies[i].tried) {
            jsonw_null(&j);
            continue;
        }
        struct interval ci =
            rate_clopper_pearson(r->tallies[i].corrupt, r->tallies[i].judged, 0.95);
        jsonw_object(&j);
        jsonw_key(&j, "corrupted");
        jsonw_long(&j, r->tallies[i].corrupt);
        jsonw_key(&j, "judged");
        jsonw_long(&j, r->tallies[i].judged);
        jsonw_key(&j, "errors");
        jsonw_long(&j, r->results[i].errors);
        jsonw_key(&j, "low");
        jsonw_double(&j, ci.low);
        jsonw_key(&j, "high");
        jsonw_double(&j, ci.high);
        jsonw_key(&j, "text");
        jsonw_text(&j, way_rate(r, (enum way)i, rate));
        jsonw_end_object(&j);
    }
    jsonw_key(&j, "cause");
    jsonw_text(&j, replay_words_name(cause_of(r)));
    jsonw_key(&j, "means");
    jsonw_text(&j, replay_words_meaning(cause_of(r)));
    jsonw_end_object(&j);
    buf_addc(out, '\n');
}

static enum exit_status status_of(const struct replaying *r)
{
    enum replay_cause cause = cause_of(r);
    return cause == REPLAY_UNJUDGED ? STATUS_ENDPOINT
           : cause == REPLAY_UNSEEN ? STATUS_PASS
                                    : STATUS_CORRUPT;
}

static int replay(struct replaying *r, struct err *err)
{
    struct replay_args *a = r->args;
    const struct binding bindings[] = {{.name = "run", .number = a->run},
                                       {.name = "session", .number = a->session},
                                       {.name = "round", .number = a->round}};
    r->store = store_open(a->db, STORE_READ, err);
    if (!r->store || words_sql_define(r->store, err) != 0 ||
        restage_init(&r->stage, r->store, a->run, err) != 0 ||
        figures_read(&r->figures, r->store, "reports/replay.sql", bindings, 3, err) != 0)
        return -1;
    const struct section *watched = figures_get(&r->figures, "watched");
    if (!figures_long(figures_get(&r->figures, "known"), 0, "rounds"))
        return err_set(err, STATUS_USAGE, "run %ld has no session %ld", a->run, a->session);
    if (!watched->n_rows)
        return err_set(err, STATUS_USAGE,
                       "no request of session %ld of run %ld was kept%s: run with --keep all",
                       a->session, a->run, a->round ? " for that round" : "");
    r->play = restage_play(&r->stage, r->store, a->session, err);
    if (!r->play || open_endpoint(r, err) != 0)
        return -1;
    restage_expect(&r->stage, r->play, (int)figures_long(watched, 0, "round"), &r->expect);
    if (play_ways(r, err) != 0)
        return -1;
    struct buf out = BUF_INIT;
    if (strcmp(a->output, "json") == 0)
        write_json(r, &out);
    else
        write_text(r, &out);
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc != 0 ? -1 : cmd_stopped() ? cmd_stopped() : (int)status_of(r);
}

static void release(struct replaying *r)
{
    endpoint_release(&r->endpoint);
    if (r->sim)
        sim_stop(r->sim);
    for (size_t i = 0; i < r->n_crowd; i++) {
        buf_release(&r->bodies[i]);
        free(r->headers[i]);
    }
    free(r->bodies);
    free(r->headers);
    play_free(r->play);
    figures_release(&r->figures);
    restage_release(&r->stage);
    store_close(r->store);
}

static int read_operands(struct replay_args *a, const struct opt_list *operands, struct err *err)
{
    if (operands->n != 2)
        return err_set(err, STATUS_USAGE, "replay needs a run and a session: toolstorm replay 1 7");
    if (a->alone && a->crowd)
        return err_set(err, STATUS_USAGE, "--alone and --crowd: without both, both are done");
    if (cmd_number(operands->items[0], "run", &a->run, err) != 0)
        return -1;
    return cmd_number(operands->items[1], "session", &a->session, err);
}

int cmd_replay(int argc, char **argv, struct err *err)
{
    struct replay_args a = {0};
    struct opt_list operands = {0};
    int rc =
        cmd_options("replay [options] RUN SESSION",
                    "Sends the request of a stored round again, byte by byte: alone, behind "
                    "another beginning that no cache\ncan serve, and among other sessions of its "
                    "run; says how often the damage came back each way, and what\nthat means. "
                    "Exit status 1 if it came back, 0 if it did not.",
                    table, &a, argc, argv, &operands, err);
    if (rc == 0 && read_operands(&a, &operands, err) == 0 &&
        endpoint_options_check(&a.endpoint, err) == 0 && http_global_init(err) == 0) {
        struct replaying r = {.args = &a};
        rc = replay(&r, err);
        release(&r);
        http_global_end();
    } else if (rc == 0) {
        rc = -1;
    } else if (rc == 1) {
        rc = STATUS_PASS;
    }
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
