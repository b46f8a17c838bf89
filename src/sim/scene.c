/* scene.c - plays the scenario that the request's header names, or answers by the request alone.
 * The context is not written again: literals do not depend on its text. */
#include "scene.h"

#include <string.h>

#include "ask.h"
#include "generic.h"
#include "scenario.h"
#include "server.h"

static const struct scenario *find_scenario(const struct server *server, const char *name)
{
    for (size_t i = 0; i < server->n_scenarios; i++)
        if (strcmp(scenario_name(server->scenarios[i]), name) == 0)
            return server->scenarios[i];
    return NULL;
}

static void say_without_calls(struct reply *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        buf_release(&r->calls[i].id);
        buf_release(&r->calls[i].name);
        buf_release(&r->calls[i].args);
    }
    r->n_calls = 0;
    if (!r->content.len)
        buf_adds(&r->content, "I may not use tools here.");
}

int scene_open(struct scene *s, const struct server *server, const struct ask *ask,
               struct span body, uint64_t ordinal, struct err *err)
{
    *s = (struct scene){.server = server, .ask = ask, .ordinal = ordinal, .round = 1, .rounds = 1};
    reply_init(&s->perfect);
    if (!ask->named) {
        generic_reply(body, ordinal, &s->perfect);
        return 0;
    }
    s->scenario = find_scenario(server, ask->scenario);
    if (!s->scenario)
        return err_set(err, STATUS_USAGE, "unknown scenario '%s'", ask->scenario);
    struct play_settings settings = {
        .seed = ask->seed, .rounds = ask->rounds, .n_sessions = ask->sessions};
    s->key = token_key(ask->seed);
    s->play = play_new(s->scenario, &settings, &s->key, ask->session);
    s->round = ask->round;
    s->rounds = ask->no_calls ? 1 : play_rounds(s->play);
    play_perfect(s->play, s->round, &s->perfect);
    if (ask->no_calls)
        say_without_calls(&s->perfect);
    return 0;
}

void scene_close(struct scene *s)
{
    play_free(s->play);
    reply_release(&s->perfect);
}

void scene_expect(const struct scene *s, int round, struct expect *e)
{
    if (s->play)
        play_expect(s->play, round, e);
    if (s->play && s->ask->no_calls) {
        e->call_due = e->calls_allowed = false;
        e->n_calls = 0;
        e->final_text = NULL;
    }
    if (!s->play)
        generic_expect(&s->perfect, e);
}

void scene_say(const struct scene *s, struct reply *to)
{
    buf_add(&to->content, s->perfect.content.data, s->perfect.content.len);
    for (size_t i = 0; i < s->perfect.n_calls; i++) {
        const struct tool_call *from = &s->perfect.calls[i];
        struct tool_call *call = reply_add_call(to);
        buf_add(&call->id, from->id.data, from->id.len);
        buf_add(&call->name, from->name.data, from->name.len);
        buf_add(&call->args, from->args.data, from->args.len);
        call->index = (long)i;
    }
}
