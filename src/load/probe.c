/* probe.c - a handful of requests, one after the other. What a server says about itself is kept as
 * it said it; nothing here knows one server from another. */
#include "probe.h"

#include <stdio.h>
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

#define PROBE_TIMEOUT_US 10000000
#define FACT_BYTES       65536 /* kept of one route's answer */
#define MESSAGE_BYTES    300   /* of a server's error text in one of ours */

static const char *const fact_routes[] = {"/models", "^/version",     "^/get_server_info",
                                          "^/props", "^/api/version", "^/info"};

/* The message inside an error body, in one line. The caller's. */
static char *server_words(const struct endpoint *ep, struct span body)
{
    struct json *v = json_parse(body, NULL);
    const struct json *error = json_get(v, "error") ? json_get(v, "error") : v;
    const char *text = json_text(error);
    if (!text)
        text = json_text(json_get(error, "message"));
    if (!text)
        text = json_text(json_get(v, "detail"));
    struct buf b = BUF_INIT;
    struct span from = text ? span_of(text) : body;
    for (size_t i = 0; i < from.len && b.len < MESSAGE_BYTES; i++) {
        unsigned char c = (unsigned char)from.data[i];
        if (c >= 0x20 && c != 0x7F)
            buf_addc(&b, (char)c);
        else if (b.len && b.data[b.len - 1] != ' ')
            buf_addc(&b, ' ');
    }
    json_free(v);
    char *words = buf_take(&b);
    endpoint_redact(ep, words);
    return words;
}

static int refused(const struct endpoint *ep, const char *url, int status, struct span body,
                   struct err *err)
{
    char *words = server_words(ep, body);
    err_set(err, STATUS_ENDPOINT, "endpoint '%s' answers HTTP %d: %s", url, status,
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
        rc = refused(ep, ep->host, status, buf_span(&body), err);
    else if (status == 200 && body.len <= FACT_BYTES && json_check(buf_span(&body)) < 0) {
        jsonw_key(w, route[0] == '^' ? route + 1 : route);
        jsonw_raw(w, buf_span(&body));
        if (is_models)
            first_model(buf_span(&body), model);
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

static void on_done(void *arg, struct reply *r)
{
    (void)r;
    *(bool *)arg = true;
}

static int explain(const struct endpoint *ep, const struct reply *r, struct err *err)
{
    if (r->end == END_CONNECT || r->end == END_TLS)
        return err_set(err, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", ep->host,
                       r->end_detail);
    if (r->status >= 300)
        return refused(ep, ep->url, r->status, buf_span(&r->raw), err);
    if (r->body_unreadable)
        return err_set(err, STATUS_ENDPOINT,
                       "endpoint '%s' answers with %s, not with a chat completion; is the base URL "
                       "right?",
                       ep->url, r->content_type[0] ? r->content_type : "something else");
    if (r->end != END_CLEAN)
        return err_set(err, STATUS_ENDPOINT, "endpoint '%s' did not answer a tiny request: %s",
                       ep->url, r->end_detail);
    if (!r->has_choice)
        return refused(ep, ep->url, r->status, buf_span(&r->raw), err);
    return 0;
}

int probe_completion(const struct endpoint *ep, const char *model, struct err *err)
{
    struct http *h = http_new(ep, 1, err);
    if (!h)
        return -1;
    struct message hello = {.role = ROLE_USER};
    struct buf history = BUF_INIT, body = BUF_INIT;
    struct reply r;
    reply_init(&r);
    buf_adds(&hello.content, "Say ok.");
    ep->dialect->message(&hello, &history);
    struct chat_request q = {.model = model,
                             .messages = buf_span(&history),
                             .temperature = -1,
                             .max_tokens = 16,
                             .seed = -1};
    ep->dialect->request(&q, &body);
    bool done = false;
    http_post(h, buf_span(&body), NULL, &r, on_done, &done);
    while (!done)
        http_run(h, 100000);
    int rc = explain(ep, &r, err);
    http_free(h);
    reply_release(&r);
    message_release(&hello);
    buf_release(&history);
    buf_release(&body);
    return rc;
}
