/* probe.c - a handful of requests, one after the other. What a server says about itself is kept as
 * it said it; nothing here knows one server from another. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "endpoint.h"
#include "http.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "trial.h"

#define PROBE_TIMEOUT_US 10000000
#define FACT_BYTES       65536 /* kept of one route's answer */

static const char *const fact_routes[] = {"/models", "^/version",     "^/get_server_info",
                                          "^/props", "^/api/version", "^/info"};

static int refused(const struct endpoint *ep, int status, struct span body, struct err *err)
{
    char *words = trial_server_words(ep, body);
    err_set(err, STATUS_ENDPOINT, "endpoint '%s' answers HTTP %d: %s", ep->host, status,
            words[0] ? words : "(no text)");
    free(words);
    return -1;
}

static void first_model(struct span body, char **model)
{
    if (*model)
        return;
    struct json *v = json_parse(body, NULL);
    *model = mem_str(json_text(json_get(json_at(json_get(v, "data"), 0), "id")));
    json_free(v);
}

int probe_model(const struct endpoint *ep, char **model, int *status, struct err *err)
{
    struct buf body = BUF_INIT;
    char why[160] = "";
    char *url = endpoint_route(ep, "/models");
    int rc = 0;
    *status = http_get(ep, url, PROBE_TIMEOUT_US, &body, why);
    if (*status == 0)
        rc = err_set(err, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", ep->host, why);
    else if (*status == 401 || *status == 403)
        rc = refused(ep, *status, buf_span(&body), err);
    else if (*status == 200)
        first_model(buf_span(&body), model);
    free(url);
    buf_release(&body);
    return rc;
}

static int probe_route(const struct endpoint *ep, const char *route, struct jsonw *w, char **model,
                       struct err *err)
{
    struct buf body = BUF_INIT;
    char why[160] = "";
    char *url = endpoint_route(ep, route);
    int status = http_get(ep, url, PROBE_TIMEOUT_US, &body, why);
    int rc = 0;
    bool is_models = strcmp(route, "/models") == 0;
    if (status == 0 && is_models)
        rc = err_set(err, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", ep->host, why);
    else if ((status == 401 || status == 403) && is_models)
        rc = refused(ep, status, buf_span(&body), err);
    else if (status == 200 && json_check(buf_span(&body)) < 0) {
        if (is_models)
            first_model(buf_span(&body), model);
        if (body.len <= FACT_BYTES) {
            jsonw_key(w, route[0] == '^' ? route + 1 : route);
            jsonw_raw(w, buf_span(&body));
        }
    }
    free(url);
    buf_release(&body);
    return rc;
}

int probe_facts(const struct endpoint *ep, struct buf *facts, char **model, struct err *err)
{
    struct jsonw w = {.out = facts};
    int rc = 0;
    jsonw_object(&w);
    for (size_t i = 0; i < sizeof fact_routes / sizeof fact_routes[0] && rc == 0; i++)
        rc = probe_route(ep, fact_routes[i], &w, model, err);
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
