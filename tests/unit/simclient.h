/* simclient.h - plays sessions against a simulated endpoint and keeps what came back. */
#ifndef SIMCLIENT_H
#define SIMCLIENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "expect.h"
#include "http.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "scenario.h"
#include "sim.h"
#include "token.h"

struct client {
    struct endpoint ep;
    struct http *http;
};

static inline void client_open(struct client *c, const struct sim *s)
{
    struct err err = {0};
    if (endpoint_init(&c->ep, dialect_default(), sim_url(s), &err) != 0 ||
        !(c->http = http_new(&c->ep, 2000, &err))) {
        fprintf(stderr, "no client: %s\n", err.text);
        exit(1);
    }
    c->ep.timeout_us = 60000000;
}

static inline void client_close(struct client *c)
{
    http_free(c->http);
    endpoint_release(&c->ep);
}

/* One session of a scenario, all of its rounds, whatever comes back. */
struct visit {
    struct client *client;
    const struct scenario *scenario;
    struct token_key key;
    struct play *play;
    uint64_t seed;
    long session;
    int round, rounds;
    bool stream, in_flight;
    struct exchange *exchange;
    long max_tokens;
    const char *boot; /* NULL: not said */
    char *body, *header;
    struct reply *replies; /* of rounds 1.. */
};

static inline void visit_done(void *arg, struct reply *r);

static inline void visit_send(struct visit *v)
{
    free(v->header);
    v->header = mem_printf("%s: scenario=%s;seed=%llu;session=%ld;round=%d;rounds=%d;context=0%s%s",
                           SIM_SESSION_HEADER, scenario_name(v->scenario),
                           (unsigned long long)v->seed, v->session, v->round, v->rounds,
                           v->boot ? ";boot=" : "", v->boot ? v->boot : "");
    struct reply *r = &v->replies[v->round - 1];
    reply_init(r);
    r->stream = v->stream;
    v->in_flight = true;
    v->exchange = http_post(v->client->http, (struct http_body){.own = span_of(v->body)}, v->header,
                            r, visit_done, v);
}

static inline void visit_done(void *arg, struct reply *r)
{
    struct visit *v = arg;
    v->in_flight = false;
    if (v->round == v->rounds || r->end == END_CANCELLED)
        return;
    v->round++;
    visit_send(v);
}

struct visit_order {
    const struct scenario *scenario;
    uint64_t seed;
    long session;
    int rounds;
    bool stream;
    long max_tokens;
    const char *boot;
};

static inline struct visit *visit_start(struct client *c, const struct visit_order *o)
{
    struct visit *v = mem_zero(1, sizeof *v);
    struct play_settings settings = {.seed = o->seed, .rounds = o->rounds, .context_tokens = 300};
    v->client = c;
    v->scenario = o->scenario;
    v->seed = o->seed;
    v->session = o->session;
    v->stream = o->stream;
    v->boot = o->boot;
    v->max_tokens = o->max_tokens;
    v->key = token_key(o->seed);
    v->play = play_new(o->scenario, &settings, &v->key, o->session);
    v->round = 1;
    v->rounds = play_rounds(v->play);
    v->replies = mem_zero((size_t)v->rounds, sizeof *v->replies);
    char limit[40] = "";
    if (o->max_tokens)
        snprintf(limit, sizeof limit, ",\"max_tokens\":%ld", o->max_tokens);
    v->body =
        mem_printf("{\"model\":\"sim-1\",\"messages\":[{\"role\":\"user\",\"content\":\"go\"}],"
                   "\"stream\":%s%s%s}",
                   o->stream ? "true" : "false",
                   o->stream ? ",\"stream_options\":{\"include_usage\":true}" : "", limit);
    visit_send(v);
    return v;
}

static inline void visit_free(struct visit *v)
{
    for (int i = 0; i < v->rounds; i++)
        reply_release(&v->replies[i]);
    play_free(v->play);
    free(v->replies);
    free(v->body);
    free(v->header);
    free(v);
}

/* Until nothing is in flight. */
static inline void client_settle(struct client *c)
{
    while (http_run(c->http, 100000) > 0)
        ;
}

static inline struct visit *visit_all(struct client *c, const struct visit_order *o)
{
    struct visit *v = visit_start(c, o);
    client_settle(c);
    return v;
}

static inline bool same_buf(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

/* Is this exactly the right answer, rightly delivered? Reasoning may be anything. */
static inline bool visit_perfect(const struct visit *v, int round)
{
    const struct reply *got = &v->replies[round - 1];
    struct reply want;
    reply_init(&want);
    play_perfect(v->play, round, &want);
    bool same = got->end == END_CLEAN && got->status == 200 && got->done && !got->framing_broken &&
                got->error_text.len == 0 && same_buf(&got->content, &want.content) &&
                got->n_calls == want.n_calls && strcmp(got->finish, want.finish) == 0;
    for (size_t i = 0; same && i < want.n_calls; i++) {
        const struct tool_call *a = &got->calls[i], *b = &want.calls[i];
        same = same_buf(&a->id, &b->id) && same_buf(&a->name, &b->name) &&
               same_buf(&a->args, &b->args) && !a->index_conflict;
    }
    reply_release(&want);
    return same;
}

/* The ledger as a list. */
struct entry {
    long session;
    int round;
    char reason[40], family[40], scenario[40];
    long request, inflight;
};

static inline struct entry *read_ledger(const struct sim *s, size_t *n)
{
    struct buf text = BUF_INIT;
    struct entry *list = NULL;
    size_t cap = 0;
    sim_ledger(s, &text);
    *n = 0;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        struct span line = {text.data + at, (size_t)(end - text.data) - at};
        struct json *v = json_parse(line, NULL);
        list = mem_grow(list, &cap, *n, sizeof *list);
        struct entry *e = &list[(*n)++];
        *e = (struct entry){.session = json_long(json_get(v, "session"), -1),
                            .round = (int)json_long(json_get(v, "round"), -1),
                            .request = json_long(json_get(v, "request"), -1),
                            .inflight = json_long(json_get(v, "inflight"), -1)};
        const char *words[] = {"reason", "family", "scenario"};
        char *to[] = {e->reason, e->family, e->scenario};
        for (int i = 0; i < 3; i++)
            if (json_text(json_get(v, words[i])))
                snprintf(to[i], 40, "%s", json_text(json_get(v, words[i])));
        json_free(v);
        at += line.len + 1;
    }
    buf_release(&text);
    return list;
}

static inline const struct entry *find_entry(const struct entry *list, size_t n, long session,
                                             int round)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].session == session && list[i].round == round)
            return &list[i];
    return NULL;
}

static inline struct sim *must_start(const struct sim_options *o)
{
    struct err err = {0};
    struct sim *s = sim_start(o, &err);
    if (!s) {
        fprintf(stderr, "no endpoint: %s\n", err.text);
        exit(1);
    }
    return s;
}

static inline struct scenario *must_load(const char *name)
{
    struct err err = {0};
    struct scenario *sc = scenario_load(name, &err);
    if (!sc) {
        fprintf(stderr, "no scenario: %s\n", err.text);
        exit(1);
    }
    return sc;
}

#endif
