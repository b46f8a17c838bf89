/* play_turn.c - one round of a play: what it must bring, what the right reply is, what is said to
 * the reply that came. Reads plays and never changes them. */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "reply.h"
#include "rng.h"
#include "scenario.h"
#include "script.h"

static const struct play_round *round_of(const struct play *p, int round)
{
    return round >= 1 && round <= p->n_rounds ? &p->plan[round - 1] : NULL;
}

void play_expect(const struct play *p, int round, struct expect *e)
{
    const struct script *s = &p->sc->script;
    const struct play_round *r = round_of(p, round);
    *e = (struct expect){.tools = s->tools,
                         .n_tools = s->n_tools,
                         .own_canary = p->canary,
                         .key = p->key,
                         .session = p->session,
                         .n_sessions = p->n_sessions,
                         .lang = s->language,
                         .lang_strict = s->language_strict,
                         .prompt_mentions_markup = s->mentions_markup,
                         .args_may_contain_markup = s->args_markup,
                         .repetitive_payload = s->repetitive};
    if (!r)
        return;
    e->must_finish = true;
    e->call_due = e->calls_allowed = r->n_calls > 0;
    e->calls = p->calls + r->first;
    e->n_calls = r->n_calls;
    e->exact_calls = r->step->exact;
    e->final_text = r->final_text;
    e->previous = p->calls;
    e->previous_args = p->args;
    e->n_previous = r->first;
    e->new_call_expected = r->n_calls > 0 && !r->repeats_call;
    e->prompt_tokens_estimate = r->tokens_before;
}

/* Long enough that no two calls of a run share one. */
static void add_id(const struct play *p, size_t call, struct buf *id)
{
    struct rng r = rng_stream(p->seed ^ rng_mix((uint64_t)p->session), call, "call id");
    buf_adds(id, "call_");
    for (int i = 0; i < 24; i++)
        buf_addc(id, "0123456789abcdef"[rng_u64(&r) >> 60]);
}

void play_perfect(const struct play *p, int round, struct reply *reply)
{
    const struct play_round *r = round_of(p, round);
    if (!r)
        return;
    if (r->say)
        buf_adds(&reply->content, r->say);
    for (size_t i = 0; i < r->n_calls; i++) {
        struct tool_call *call = reply_add_call(reply);
        add_id(p, r->first + i, &call->id);
        buf_adds(&call->name, p->calls[r->first + i].name);
        buf_adds(&call->args, p->args[r->first + i]);
        call->index = (long)i;
    }
    snprintf(reply->finish, sizeof reply->finish, "%s", r->n_calls ? "tool_calls" : "stop");
}

static bool has_literals(const struct expect_call *call, const struct json *args)
{
    for (size_t i = 0; i < call->n_literals; i++) {
        struct json *want = json_parse(span_of(call->literals[i].json), NULL);
        const struct json *got = json_get(args, call->literals[i].key);
        bool same = got && json_equal(got, want);
        json_free(want);
        if (!same)
            return false;
    }
    return true;
}

/* The tool's words to one call: the result of the demanded call that it is, each given once. */
static const char *result_of(const struct play *p, const struct play_round *r,
                             const struct tool_call *call, bool *given)
{
    const char *result = p->wrong_call;
    struct json *args = json_parse(buf_span(&call->args), NULL);
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct expect_call *want = &p->calls[r->first + i];
        if (given[i] || strcmp(buf_str(&call->name), want->name) != 0 || !has_literals(want, args))
            continue;
        given[i] = true;
        result = p->results[r->first + i];
        break;
    }
    json_free(args);
    return result;
}

static void say(struct message *m, enum role role, const char *text)
{
    m->role = role;
    buf_adds(&m->content, text);
}

struct message *play_answers(const struct play *p, int round, const struct reply *reply, size_t *n)
{
    const struct play_round *r = round_of(p, round);
    *n = 0;
    if (!r || round == p->n_rounds)
        return NULL;
    struct message *list = mem_zero(reply->n_calls + 1, sizeof *list);
    bool *given = mem_zero(r->n_calls + 1, sizeof *given);
    for (size_t i = 0; i < reply->n_calls; i++) {
        const struct tool_call *call = &reply->calls[i];
        struct message *m = &list[(*n)++];
        say(m, ROLE_TOOL, result_of(p, r, call, given));
        /* The same stand-in for a missing id as in the history (message_from_reply). */
        m->tool_call_id = call->id.len ? mem_str(buf_str(&call->id)) : mem_printf("call_%zu", i);
        m->tool_name = mem_str(buf_str(&call->name));
    }
    if (r->user_after)
        say(&list[(*n)++], ROLE_USER, r->user_after);
    else if (!*n)
        say(&list[(*n)++], ROLE_USER, p->missing_call);
    free(given);
    return list;
}
