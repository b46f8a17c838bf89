/* mention.c - whether a text that was put to the model speaks of markup itself. A reply that then
 * does so too may be honest. */
#include <stdio.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "fold.h"
#include "needle.h"
#include "reply.h"

/* Shorter markers also stand for other things. */
#define TELLING_BYTES 4

struct looking {
    const struct rules *rules;
    bool found;
};

static void found_token(void *arg, int tag, size_t start, size_t end)
{
    struct looking *l = arg;
    (void)start;
    (void)end;
    l->found = l->found || strlen(l->rules->tokens[tag]) >= TELLING_BYTES;
}

/* A marker by itself, which in a reply would need company to count. */
static bool names_marker(const struct judge *j, struct span prompt)
{
    struct looking l = {.rules = &j->rules};
    struct fold f;
    fold_init(&f, prompt, 0, false);
    needles_scan(j->rules.token_needles, f.text, found_token, &l);
    fold_release(&f);
    return l.found;
}

static bool is_of_markup(enum reason reason)
{
    return reason == REASON_markup || reason == REASON_reasoning_text ||
           reason == REASON_special_token;
}

/* Markup as a reply would be found to have it. */
static bool holds_markup(const struct judge *j, const struct toolset *t, struct span prompt)
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

bool judge_mentions_markup(const struct judge *j, const struct toolset *t, struct span prompt)
{
    return prompt.len > 0 && (names_marker(j, prompt) || holds_markup(j, t, prompt));
}
