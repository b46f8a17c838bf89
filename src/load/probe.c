/* probe.c - a handful of requests, one after the other. What a server says about itself is kept as
 * it said it; nothing here knows one server from another. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "http.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "trial.h"

#define MODEL_TIMEOUT_US 10000000 /* for a list of models that must come */
#define FACT_TIMEOUT_US  2000000  /* for what may come */
#define FACTS_TIME_US    5000000  /* for all of that */
#define FACT_BYTES       65536    /* kept of one route's answer */

static const char *const fact_routes[] = {"^/version", "^/get_server_info", "^/props",
                                          "^/api/version", "^/info"};

/* The answer to a GET. */
struct got {
    int status;
    struct buf body;
    char why[160];
};

static void get(const struct endpoint *ep, const char *route, int64_t limit_us, struct got *g)
{
    char *url = endpoint_route(ep, route);
    *g = (struct got){0};
    g->status = http_get(ep, url, limit_us, &g->body, g->why);
    free(url);
}

static int refused(const struct endpoint *ep, const struct got *g, struct err *err)
{
    char *words = trial_server_words(ep, buf_span(&g->body));
    err_set(err, STATUS_ENDPOINT, "endpoint '%s' answers HTTP %d: %s", ep->host, g->status,
            words[0] ? words : "(no text)");
    free(words);
    return -1;
}

static bool is_key_refused(int status)
{
    return status == 401 || status == 403;
}

static void first_model(struct span body, char **model)
{
    struct json *v = json_parse(body, NULL);
    *model = mem_str(json_text(json_get(json_at(json_get(v, "data"), 0), "id")));
    json_free(v);
}

/* Why there is no model to name. */
static int no_model(const struct endpoint *ep, const struct got *g, struct err *err)
{
    const char *hint = "is the base URL right? If it is, name the model with --model";
    if (g->status == 0)
        return err_set(err, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", ep->host, g->why);
    if (is_key_refused(g->status))
        return refused(ep, g, err);
    if (g->status >= 300)
        return err_set(err, STATUS_ENDPOINT,
                       "endpoint '%s' answers HTTP %d%s%s%s for its models; %s", ep->host,
                       g->status, g->why[0] ? " (" : "", g->why, g->why[0] ? ")" : "", hint);
    if (g->why[0])
        return err_set(err, STATUS_ENDPOINT, "endpoint '%s' answers %s for its models; %s",
                       ep->host, g->why, hint);
    return err_set(err, STATUS_ENDPOINT, "endpoint '%s' lists no models; name one with --model",
                   ep->host);
}

/* *model from the answer of /models, if it is not known. */
static int take_model(const struct endpoint *ep, const struct got *g, char **model, struct err *err)
{
    if (*model)
        return 0;
    if (g->status == 200)
        first_model(buf_span(&g->body), model);
    return *model ? 0 : no_model(ep, g, err);
}

int probe_model(const struct endpoint *ep, char **model, int *status, struct err *err)
{
    struct got g;
    get(ep, "/models", MODEL_TIMEOUT_US, &g);
    *status = g.status;
    int rc = g.status == 0 || is_key_refused(g.status) ? no_model(ep, &g, err)
                                                       : take_model(ep, &g, model, err);
    buf_release(&g.body);
    return rc;
}

static void add_fact(struct jsonw *w, const char *route, const struct got *g)
{
    if (g->status != 200 || g->body.len > FACT_BYTES || json_check(buf_span(&g->body)) >= 0)
        return;
    jsonw_key(w, route[0] == '^' ? route + 1 : route);
    jsonw_raw(w, buf_span(&g->body));
}

int probe_facts(const struct endpoint *ep, struct buf *facts, char **model, struct err *err)
{
    struct jsonw w = {.out = facts};
    struct got g;
    int64_t end_us = clock_mono_us() + FACTS_TIME_US;
    jsonw_object(&w);
    get(ep, "/models", *model ? FACT_TIMEOUT_US : MODEL_TIMEOUT_US, &g);
    int rc = take_model(ep, &g, model, err);
    bool answers = g.status != 0;
    add_fact(&w, "/models", &g);
    buf_release(&g.body);
    for (size_t i = 0; rc == 0 && answers && i < sizeof fact_routes / sizeof *fact_routes; i++) {
        int64_t left_us = end_us - clock_mono_us();
        if (left_us <= 0)
            break;
        get(ep, fact_routes[i], left_us < FACT_TIMEOUT_US ? left_us : FACT_TIMEOUT_US, &g);
        add_fact(&w, fact_routes[i], &g);
        buf_release(&g.body);
    }
    jsonw_end_object(&w);
    return rc;
}

int probe_completion(const struct endpoint *ep, const char *model, bool (*stop)(void),
                     struct err *err)
{
    struct chat_request q = {.model = model, .temperature = -1, .max_tokens = 16, .seed = -1};
    struct buf body = BUF_INIT;
    struct reply r;
    trial_body(ep, &q, "Say ok.", &body);
    struct trial t = {.body = buf_span(&body), .stop = stop};
    int rc = trial_send(ep, &t, &r, err);
    if (rc == 0)
        rc = trial_explain(ep, &r, err);
    reply_release(&r);
    buf_release(&body);
    return rc;
}
