/* serve.c - which path gets which answer. It decides what is said and whether it is damaged, and
 * leaves pace and bytes to stream.c. */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/http.h>

#include "answer.h"
#include "ask.h"
#include "buf.h"
#include "damage.h"
#include "encode.h"
#include "fault.h"
#include "json.h"
#include "ledger.h"
#include "mem.h"
#include "phrase.h"
#include "rng.h"
#include "scene.h"
#include "server.h"
#include "sim.h"
#include "stream.h"

#define JSON_TYPE "application/json"

static void say(struct loop *loop, struct evhttp_request *req, int status, struct buf *body)
{
    stream_plain(loop, req, status, JSON_TYPE, buf_str(body), body->len);
    buf_release(body);
}

static void refuse(struct loop *loop, struct evhttp_request *req, int status, const char *code,
                   const char *message)
{
    struct buf body = BUF_INIT;
    const char *type = status >= 500 ? "server_error" : "invalid_request_error";
    answer_add_error(&body, type, code, message);
    say(loop, req, status, &body);
}

static const char *header(struct evhttp_request *req, const char *name)
{
    return evhttp_find_header(evhttp_request_get_input_headers(req), name);
}

static bool is_allowed(const struct server *sv, struct evhttp_request *req)
{
    const char *given = header(req, "Authorization");
    if (!sv->api_key)
        return true;
    return given && strncmp(given, "Bearer ", 7) == 0 && strcmp(given + 7, sv->api_key) == 0;
}

static void models(struct loop *loop, struct evhttp_request *req)
{
    struct buf body = BUF_INIT;
    struct jsonw w = {.out = &body};
    jsonw_object(&w);
    jsonw_key(&w, "object");
    jsonw_text(&w, "list");
    jsonw_key(&w, "data");
    jsonw_array(&w);
    jsonw_object(&w);
    jsonw_key(&w, "id");
    jsonw_text(&w, loop->server->model);
    jsonw_key(&w, "object");
    jsonw_text(&w, "model");
    jsonw_key(&w, "created");
    jsonw_long(&w, loop->server->started_s);
    jsonw_key(&w, "owned_by");
    jsonw_text(&w, "toolstorm");
    jsonw_end_object(&w);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    say(loop, req, 200, &body);
}

static void health(struct loop *loop, struct evhttp_request *req)
{
    struct buf body = BUF_INIT;
    buf_adds(&body, "{\"status\":\"ok\"}");
    say(loop, req, 200, &body);
}

static void version(struct loop *loop, struct evhttp_request *req)
{
    struct buf body = BUF_INIT;
    buf_adds(&body, "{\"version\":\"" TOOLSTORM_VERSION "\"}");
    say(loop, req, 200, &body);
}

static void server_info(struct loop *loop, struct evhttp_request *req)
{
    const struct server *sv = loop->server;
    struct buf body = BUF_INIT;
    struct jsonw w = {.out = &body};
    jsonw_object(&w);
    jsonw_key(&w, "server");
    jsonw_text(&w, "toolstorm sim");
    jsonw_key(&w, "version");
    jsonw_text(&w, TOOLSTORM_VERSION);
    jsonw_key(&w, "model_path");
    jsonw_text(&w, sv->model);
    jsonw_key(&w, "boot");
    jsonw_text(&w, sv->boot);
    jsonw_key(&w, "seed");
    jsonw_long(&w, (long long)sv->seed);
    jsonw_key(&w, "faults");
    faults_write(sv->faults, &w);
    jsonw_end_object(&w);
    say(loop, req, 200, &body);
}

static void metric(struct buf *out, const char *name, const char *type, long value)
{
    buf_addf(out, "# TYPE toolstorm_sim_%s %s\ntoolstorm_sim_%s %ld\n", name, type, name, value);
}

static void metrics(struct loop *loop, struct evhttp_request *req)
{
    struct server *sv = loop->server;
    struct buf body = BUF_INIT;
    metric(&body, "requests_total", "counter", atomic_load(&sv->requests));
    metric(&body, "requests_in_flight", "gauge", atomic_load(&sv->inflight));
    metric(&body, "completion_tokens_total", "counter", atomic_load(&sv->completion_tokens));
    metric(&body, "abandoned_total", "counter", atomic_load(&sv->abandoned));
    buf_adds(&body, "# TYPE toolstorm_sim_damaged_total counter\n");
    for (int i = 0; i < N_REASONS; i++) {
        long n = ledger_count(sv->ledger, (enum reason)i);
        if (n > 0)
            buf_addf(&body, "toolstorm_sim_damaged_total{reason=\"%s\"} %ld\n",
                     reason_name((enum reason)i), n);
    }
    stream_plain(loop, req, 200, "text/plain; version=0.0.4", buf_str(&body), body.len);
    buf_release(&body);
}

static void ledger(struct loop *loop, struct evhttp_request *req)
{
    struct buf body = BUF_INIT;
    ledger_copy(loop->server->ledger, &body);
    stream_plain(loop, req, 200, "application/x-ndjson", buf_str(&body), body.len);
    buf_release(&body);
}

static bool fits(const void *arg, enum reason reason, int round)
{
    const struct scene *scene = arg;
    struct expect e;
    scene_expect(scene, round, &e);
    return damage_fits(reason, scene, &e);
}

/* Session 1 of a new run may come to an endpoint that damaged session 1 of the one before. */
static bool was_damaged(struct server *sv, const struct scene *scene)
{
    const struct ask *ask = scene->ask;
    if (!ask->named || ask->replay)
        return false;
    uint64_t key = ledger_key(ask->scenario, ask->seed, ask->session);
    if (ask->round == 1)
        ledger_forget(sv->ledger, key);
    return ledger_has(sv->ledger, key);
}

/* Spoils the answer if a rule hits it, and says how in *line. */
static bool maybe_damage(struct server *sv, const struct scene *scene, int inflight,
                         struct answer *answer, struct ledger_line *line)
{
    const struct ask *ask = scene->ask;
    struct fault_case now = {.run_seed = ask->seed,
                             .session = ask->named ? ask->session : (long)scene->ordinal,
                             .round = scene->round,
                             .rounds = scene->rounds,
                             .request = (long)scene->ordinal,
                             .inflight = inflight,
                             .stream = ask->stream,
                             .boot = ask->boot[0] ? ask->boot : sv->boot,
                             .damaged = was_damaged(sv, scene)};
    struct fault_hit hit;
    if (!faults_decide(sv->faults, &now, fits, scene, &hit))
        return false;
    *line = (struct ledger_line){.scenario = ask->named ? ask->scenario : NULL,
                                 .seed = ask->seed,
                                 .session = now.session,
                                 .round = now.round,
                                 .reason = hit.reason,
                                 .rule = hit.rule,
                                 .family = damage_apply(&hit, scene, answer),
                                 .boot = now.boot,
                                 .inflight = inflight,
                                 .request = now.request};
    return true;
}

static void play(struct loop *loop, struct evhttp_request *req, const struct scene *scene,
                 int inflight)
{
    struct server *sv = loop->server;
    const struct ask *ask = scene->ask;
    struct rng dice = rng_stream(sv->seed ^ ask->seed, scene->ordinal, "answer");
    struct encode_settings encode = {.model = sv->model,
                                     .id = rng_u64(&dice),
                                     .created = sv->started_s,
                                     .include_usage = ask->include_usage,
                                     .tokens_per_chunk = sv->tokens_per_chunk};
    struct answer answer;
    struct ledger_line line;
    struct expect e;
    answer_init(&answer);
    scene_expect(scene, scene->round, &e);
    scene_say(scene, &answer.said);
    if (sv->think)
        phrase_add(sv->phrases, "thought", e.lang, 2, &dice, &answer.said.reasoning);
    answer_complete(&answer, ask);
    bool damaged = maybe_damage(sv, scene, inflight, &answer, &line);
    struct stream_order order = {.answer = &answer,
                                 .encode = &encode,
                                 .stream = ask->stream,
                                 .dice = rng_u64(&dice),
                                 .damage = damaged ? &line : NULL};
    stream_start(loop, req, &order);
}

static struct span body_of(struct evhttp_request *req)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(req);
    size_t len = evbuffer_get_length(in);
    return (struct span){len ? (const char *)evbuffer_pullup(in, -1) : "", len};
}

/* The chat route's work once the request has been counted. False: refused. */
static bool try_chat(struct loop *loop, struct evhttp_request *req, long ordinal, int inflight)
{
    struct server *sv = loop->server;
    struct err err = {0};
    struct ask ask;
    struct scene scene;
    struct span body = body_of(req);
    if (ask_read(&ask, header(req, SIM_SESSION_HEADER), body, &err) != 0) {
        refuse(loop, req, 400, NULL, err.text);
        return false;
    }
    if (ask.model[0] && strcmp(ask.model, sv->model) != 0) {
        char *text = mem_printf("The model `%s` does not exist.", ask.model);
        refuse(loop, req, 404, "model_not_found", text);
        free(text);
        return false;
    }
    if (scene_open(&scene, sv, &ask, body, (uint64_t)ordinal, &err) != 0) {
        refuse(loop, req, 400, "unknown_scenario", err.text);
        return false;
    }
    struct evbuffer *in = evhttp_request_get_input_buffer(req);
    evbuffer_drain(in, evbuffer_get_length(in));
    play(loop, req, &scene, inflight);
    scene_close(&scene);
    return true;
}

static void chat(struct loop *loop, struct evhttp_request *req)
{
    struct server *sv = loop->server;
    long ordinal = atomic_fetch_add(&sv->requests, 1) + 1;
    long inflight = atomic_fetch_add(&sv->inflight, 1) + 1;
    if (!try_chat(loop, req, ordinal, (int)inflight))
        atomic_fetch_sub(&sv->inflight, 1);
}

static const struct route {
    const char *path; /* below the root, and below /v1 */
    enum evhttp_cmd_type method;
    bool guarded; /* by the API key */
    void (*answer)(struct loop *loop, struct evhttp_request *req);
} routes[] = {
    {"/chat/completions", EVHTTP_REQ_POST, true, chat},
    {"/models", EVHTTP_REQ_GET, true, models},
    {"/health", EVHTTP_REQ_GET, false, health},
    {"/version", EVHTTP_REQ_GET, false, version},
    {"/metrics", EVHTTP_REQ_GET, false, metrics},
    {"/get_server_info", EVHTTP_REQ_GET, false, server_info},
    {"/debug/ledger", EVHTTP_REQ_GET, false, ledger},
};

static const struct route *find_route(const char *path)
{
    if (strncmp(path, "/v1/", 4) == 0)
        path += 3;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    return NULL;
}

void serve_request(struct evhttp_request *req, void *arg)
{
    struct loop *loop = arg;
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    const struct route *route = find_route(path ? path : "");
    stream_note(loop, req);
    if (!route)
        refuse(loop, req, 404, "not_found", "there is nothing at this path");
    else if (route->method != evhttp_request_get_command(req))
        refuse(loop, req, 405, "method_not_allowed", "this path does not take this method");
    else if (route->guarded && !is_allowed(loop->server, req))
        refuse(loop, req, 401, "invalid_api_key", "Incorrect API key provided.");
    else
        route->answer(loop, req);
}
