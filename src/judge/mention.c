/* mention.c - whether a text that was put to the model speaks of markup itself. A reply that then
 * does so too may be honest. */
#include <stdio.h>

#include "expect.h"
#include "judge.h"
#include "reply.h"

static bool is_of_markup(enum reason reason)
{
    return reason == REASON_markup || reason == REASON_reasoning_text ||
           reason == REASON_special_token;
}

bool judge_mentions_markup(const struct judge *j, const struct toolset *t, struct span prompt)
{
    const struct expect nothing = {.calls_allowed = true, .reasoning_parser = true};
    struct reply said;
    struct verdict v = {0};
    bool any = false;
    reply_init(&said);
    buf_add(&said.content, prompt.data, prompt.len);
    said.status = 200;
    said.done = said.has_choice = true;
    snprintf(said.finish, sizeof said.finish, "stop");
    judge_reply(j, t, &nothing, &said, &v);
    for (size_t i = 0; i < v.n_signs && !any; i++)
        any = is_of_markup(v.signs[i].reason);
    verdict_release(&v);
    reply_release(&said);
    return any;
}
