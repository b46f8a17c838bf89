// layers: judge scenario chat base
/* What scenarios demand, seen by the judge: every right reply passes without a sign, and one
 * character of a demanded value is enough to be caught. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "expect.h"
#include "judge.h"
#include "message.h"
#include "reply.h"
#include "scenario.h"
#include "token.h"

#define SEED     5u
#define SESSIONS 25

struct bench {
    const struct judge *judge;
    const struct toolset *tools;
    const struct play *play;
    const char *name;
};

static void right_reply(const struct play *p, int round, struct reply *r)
{
    reply_init(r);
    play_perfect(p, round, r);
    r->status = 200;
    r->done = true;
    r->has_choice = true;
    strcpy(r->content_type, "application/json");
}

static void judged(const struct bench *b, int round, const struct reply *r, enum reason want,
                   size_t most_signs)
{
    struct expect e;
    struct verdict v = {.signs = NULL};
    play_expect(b->play, round, &e);
    judge_reply(b->judge, b->tools, &e, r, &v);
    CHECK_STR(reason_name(v.reason), reason_name(want));
    CHECK(v.n_signs <= most_signs);
    if (v.reason != want || v.n_signs > most_signs)
        fprintf(stderr, "  %s, round %d: %s: %s\n", b->name, round,
                v.n_signs ? v.signs[0].rule : "-", v.n_signs ? v.signs[0].note : "-");
    verdict_release(&v);
}

/* Another letter in the middle of the first token, or of the first long value. */
static bool alter(struct buf *text, const struct token_key *key)
{
    struct token_owner owner;
    long at = token_find(key, buf_span(text), 0, &owner);
    if (at < 0)
        return false;
    char *c = &text->data[at + 3];
    *c = *c == 'Q' ? 'R' : 'Q';
    return true;
}

static void put_foreign(struct buf *text, const struct token_key *key)
{
    struct token_owner owner;
    long at = token_find(key, buf_span(text), 0, &owner);
    char token[TOKEN_LEN + 1];
    token_make(key, owner.session + 1, owner.slot, token);
    memcpy(text->data + at, token, TOKEN_LEN);
}

static void check_round(const struct bench *b, const struct token_key *key, int round)
{
    struct reply r;
    right_reply(b->play, round, &r);
    judged(b, round, &r, REASON_done, 0);
    struct buf *text = r.n_calls ? &r.calls[r.n_calls - 1].args : &r.content;
    if (alter(text, key)) {
        judged(b, round, &r, REASON_value, 9);
        reply_release(&r);
        right_reply(b->play, round, &r);
        put_foreign(r.n_calls ? &r.calls[r.n_calls - 1].args : &r.content, key);
        judged(b, round, &r, REASON_foreign, 9);
    }
    reply_release(&r);
}

/* Long values byte for byte: other letters, blanks and signs at places all over them. */
static void check_long_values(const struct bench *b, int round)
{
    struct expect e;
    play_expect(b->play, round, &e);
    for (size_t k = 0; e.n_calls && k < e.calls[0].n_literals; k++) {
        struct span json = span_of(e.calls[0].literals[k].json);
        for (size_t i = 1; json.len > 40 && i + 1 < json.len; i += 11) {
            char c = json.data[i];
            if (c < ' ' || c > '~' || c == '"' || c == '\\' || json.data[i - 1] == '\\')
                continue;
            struct reply r;
            right_reply(b->play, round, &r);
            long at = span_find(buf_span(&r.calls[0].args), json, 0);
            CHECK(at > 0);
            r.calls[0].args.data[(size_t)at + i] = c == 'e' ? 'a' : 'e';
            judged(b, round, &r, REASON_value, 9);
            reply_release(&r);
        }
    }
}

/* Several calls in one turn: one of them is not enough, and one more is too many. */
static void check_number_of_calls(const struct bench *b, int round)
{
    struct expect e;
    struct reply r;
    play_expect(b->play, round, &e);
    if (e.n_calls < 2)
        return;
    right_reply(b->play, round, &r);
    r.n_calls--;
    judged(b, round, &r, REASON_missing_calls, 9);
    r.n_calls++;
    if (e.exact_calls) {
        struct tool_call *more = reply_add_call(&r);
        buf_adds(&more->id, "call_more");
        buf_adds(&more->name, buf_str(&r.calls[0].name));
        buf_adds(&more->args, buf_str(&r.calls[0].args));
        more->index = (long)r.n_calls - 1;
        judged(b, round, &r, REASON_call_extra, 9);
    }
    reply_release(&r);
}

static void check_scenario(const struct judge *j, const char *name)
{
    struct err err = {0};
    struct scenario *sc = scenario_load(name, &err);
    size_t n;
    const struct tool *tools = scenario_tools(sc, &n);
    struct toolset *set = toolset_new(j, tools, n, &err);
    struct token_key key = token_key(SEED);
    CHECK_STR(err.text, "");
    for (long session = 1; session <= SESSIONS; session++) {
        struct play_settings settings = {.seed = SEED,
                                         .rounds = scenario_default_rounds(sc) + (int)session % 4,
                                         .n_sessions = SESSIONS + 1};
        struct play *p = play_new(sc, &settings, &key, session);
        struct bench b = {.judge = j, .tools = set, .play = p, .name = name};
        for (int round = 1; round <= play_rounds(p); round++) {
            check_round(&b, &key, round);
            check_number_of_calls(&b, round);
            check_long_values(&b, round);
        }
        play_free(p);
    }
    toolset_free(set);
    scenario_free(sc);
}

int main(void)
{
    struct err err = {0};
    struct judge_options options = {.strict = false};
    struct judge *j = judge_new(&options, &err);
    const char *name;
    CHECK_STR(err.text, "");
    for (size_t i = 0; (name = scenario_shipped(i)); i++)
        check_scenario(j, name);
    judge_free(j);
    return check_end();
}
