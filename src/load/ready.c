/* ready.c - asks again and again, each step only when the one before it is good. What a right tool
 * call is, a scenario says and the judge decides, as in a run. */
#include "ready.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "expect.h"
#include "http.h"
#include "judge.h"
#include "mem.h"
#include "message.h"
#include "probe.h"
#include "reply.h"
#include "scenario.h"
#include "token.h"
#include "trial.h"

#define GET_LIMIT_US    5000000
#define LEAST_US        1000000 /* of a request, even when the time is over: a reason is worth it */
#define PAUSE_US        50000   /* how often `stop` is asked between two tries */
#define CALL_MAX_TOKENS 2048    /* room for a model that thinks first */
#define CALL_SCENARIO   "chain"
#define SEED            1

/* Routes that servers have, the most telling first. One of them is enough. */
static const char *const health_routes[] = {"^/health", "/models", "^/version", "^/api/version"};
#define N_HEALTH_ROUTES (sizeof health_routes / sizeof health_routes[0])

/* What a try of one step came to. */
enum step { STEP_READY, STEP_WAIT, STEP_HOPELESS };

struct ready {
    const struct ready_request *request;
    int64_t start_us;
    struct endpoint endpoint; /* the request's, its time limits cut to what is left */
    char *model;
    struct scenario *scenario;
    struct judge *judge;
    struct toolset *toolset;
    long tries;
    struct err last; /* why the last try failed */
    char told[sizeof((struct err *)0)->text];
};

static int64_t left_us(const struct ready *w)
{
    int64_t left = w->start_us + w->request->limit_us - clock_mono_us();
    return left > 0 ? left : 0;
}

/* For the next request: the endpoint's limit, or what is left. */
static int64_t request_limit_us(const struct ready *w)
{
    int64_t left = left_us(w) > LEAST_US ? left_us(w) : LEAST_US;
    int64_t limit = w->request->endpoint->timeout_us;
    return limit && limit < left ? limit : left;
}

static bool stopped(const struct ready *w)
{
    return w->request->stop && w->request->stop();
}

/* An answer that says nothing about health: no such route, or none for us. */
static bool is_silent(int status)
{
    return (status >= 300 && status < 400) || status == 401 || status == 403 || status == 404 ||
           status == 405 || status == 501;
}

static enum step check_health(struct ready *w)
{
    char why[160] = "";
    bool answered = false;
    for (size_t i = 0; i < N_HEALTH_ROUTES; i++) {
        const char *route = health_routes[i];
        struct buf body = BUF_INIT;
        char *url = endpoint_route(&w->endpoint, route);
        int64_t limit_us = request_limit_us(w) < GET_LIMIT_US ? request_limit_us(w) : GET_LIMIT_US;
        int status = http_get(&w->endpoint, url, limit_us, &body, why);
        free(url);
        buf_release(&body);
        if (status >= 200 && status < 300)
            return STEP_READY;
        answered = answered || status;
        if (status && !is_silent(status)) {
            err_set(&w->last, STATUS_ENDPOINT, "endpoint '%s' answers HTTP %d on %s",
                    w->endpoint.host, status, route + (route[0] == '^'));
            return STEP_WAIT;
        }
        if (!status && i > 0 && !answered)
            break;
    }
    if (answered) /* some gateways have the chat route alone */
        return STEP_READY;
    err_set(&w->last, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", w->endpoint.host, why);
    return STEP_WAIT;
}

/* Asked even when the model is known: a refused key will be refused for ever. */
static enum step check_model(struct ready *w)
{
    int status;
    int rc = probe_model(&w->endpoint, &w->model, &status, &w->last);
    if (status == 401)
        return STEP_HOPELESS;
    return rc == 0 ? STEP_READY : STEP_WAIT;
}

static enum step check_completion(struct ready *w)
{
    return probe_completion(&w->endpoint, w->model, w->request->stop, &w->last) == 0 ? STEP_READY
                                                                                     : STEP_WAIT;
}

/* The first request of a session, every try another one. */
static void write_call(const struct ready *w, const struct play *play, struct buf *body)
{
    struct buf history = BUF_INIT;
    size_t n;
    const struct message *opening = play_opening(play, &n);
    for (size_t i = 0; i < n; i++)
        w->endpoint.dialect->message(&opening[i], &history);
    struct chat_request q = {.model = w->model,
                             .messages = buf_span(&history),
                             .tools = span_of(scenario_tools_json(w->scenario)),
                             .tool_choice = "auto",
                             .stream = true,
                             .temperature = -1,
                             .max_tokens = CALL_MAX_TOKENS,
                             .seed = -1};
    w->endpoint.dialect->request(&q, body);
    buf_release(&history);
}

static enum step judge_call(struct ready *w, const struct play *play, const struct reply *r)
{
    struct expect expect = {0};
    struct verdict v = {0};
    play_expect(play, 1, &expect);
    expect.max_tokens = CALL_MAX_TOKENS;
    judge_reply(w->judge, w->toolset, &expect, r, &v);
    enum reason reason = v.reason;
    if (v.class == CLASS_ERROR && trial_explain(&w->endpoint, r, &w->last) == 0)
        err_set(&w->last, STATUS_ENDPOINT, "the request with tools failed: %s",
                reason_name(reason));
    else if (v.class != CLASS_OK && v.class != CLASS_ERROR)
        err_set(&w->last, STATUS_ENDPOINT,
                "endpoint '%s' answers, but not with a right tool call: "
                "%s, %s",
                w->endpoint.host, reason_name(reason), reason_meaning(reason));
    bool right = v.class == CLASS_OK;
    verdict_release(&v);
    return right ? STEP_READY : STEP_WAIT;
}

static enum step check_call(struct ready *w)
{
    if (!w->request->tool_call)
        return STEP_READY;
    struct token_key key = token_key(SEED);
    struct play_settings ps = {.seed = SEED};
    struct play *play = play_new(w->scenario, &ps, &key, w->tries);
    char *header = mem_printf("X-Toolstorm-Session: scenario=%s;seed=%d;session=%ld;round=1",
                              scenario_name(w->scenario), SEED, w->tries);
    struct buf body = BUF_INIT;
    struct reply r;
    write_call(w, play, &body);
    struct trial t = {
        .body = buf_span(&body), .header = header, .stream = true, .stop = w->request->stop};
    enum step step = STEP_HOPELESS;
    if (trial_send(&w->endpoint, &t, &r, &w->last) == 0)
        step = judge_call(w, play, &r);
    reply_release(&r);
    buf_release(&body);
    free(header);
    play_free(play);
    return step;
}

static enum step (*const steps[])(struct ready *w) = {check_health, check_model, check_completion,
                                                      check_call};

/* All steps from the first: what was good a moment ago may have gone away. */
static enum step try_all(struct ready *w)
{
    w->last = (struct err){0};
    w->tries++;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        w->endpoint.timeout_us = request_limit_us(w);
        enum step step = steps[i](w);
        if (step != STEP_READY)
            return step;
        if (stopped(w))
            return STEP_WAIT;
    }
    return STEP_READY;
}

static void tell(struct ready *w)
{
    if (!w->request->tell || strcmp(w->told, w->last.text) == 0)
        return;
    snprintf(w->told, sizeof w->told, "%s", w->last.text);
    w->request->tell(w->request->arg, w->told);
}

static void pause_between(const struct ready *w)
{
    int64_t until = clock_mono_us() + w->request->period_us;
    while (!stopped(w) && left_us(w) > 0 && clock_mono_us() < until) {
        struct timespec t = {.tv_nsec = PAUSE_US * 1000L};
        nanosleep(&t, NULL);
    }
}

static int give_up(struct ready *w, enum step step, struct err *err)
{
    double waited_s = (double)(clock_mono_us() - w->start_us) / 1e6;
    const char *last = w->last.text[0] ? w->last.text : "it was stopped";
    if (stopped(w))
        return err_set(err, STATUS_ENDPOINT, "stopped waiting after %.1f s: %s", waited_s, last);
    if (step == STEP_HOPELESS)
        return err_set(err, w->last.status, "%s", last);
    return err_set(err, STATUS_ENDPOINT, "not ready after %.1f s and %ld tries: %s", waited_s,
                   w->tries, last);
}

static int prepare(struct ready *w, struct err *err)
{
    if (!w->request->tool_call)
        return 0;
    struct judge_options jo = {0};
    size_t n;
    w->scenario = scenario_load(CALL_SCENARIO, err);
    w->judge = w->scenario ? judge_new(&jo, err) : NULL;
    if (!w->judge)
        return -1;
    const struct tool *tools = scenario_tools(w->scenario, &n);
    w->toolset = toolset_new(w->judge, tools, n, err);
    return w->toolset ? 0 : -1;
}

int ready_wait(const struct ready_request *r, char **model, struct err *err)
{
    struct ready w = {.request = r,
                      .start_us = clock_mono_us(),
                      .endpoint = *r->endpoint,
                      .model = mem_str(r->model)};
    int rc = prepare(&w, err);
    enum step step = STEP_WAIT;
    while (rc == 0 && step == STEP_WAIT) {
        step = try_all(&w);
        if (step == STEP_WAIT && !stopped(&w) && left_us(&w) > 0) {
            tell(&w);
            pause_between(&w);
        }
        if (step == STEP_HOPELESS || (step == STEP_WAIT && (stopped(&w) || left_us(&w) == 0)))
            rc = give_up(&w, step, err);
    }
    if (rc == 0 && model) {
        *model = w.model;
        w.model = NULL;
    }
    free(w.model);
    toolset_free(w.toolset);
    judge_free(w.judge);
    scenario_free(w.scenario);
    return rc;
}
