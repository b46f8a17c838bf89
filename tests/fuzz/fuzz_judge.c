// layers: judge chat base
/* Any bytes as content, reasoning, name and arguments: judged, every sign inside its text, the same
 * verdict twice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "fuzz.h"
#include "judge.h"
#include "message.h"
#include "reply.h"

static char name[] = "quay_status";
static char parameters[] = "{\"type\":\"object\",\"properties\":{\"berth\":{\"type\":\"string\"}},"
                           "\"required\":[\"berth\"]}";
static const struct tool tool = {.name = name, .parameters = parameters};

static struct toolset *tools(const struct judge **judge)
{
    static struct judge *j; /* made once: libFuzzer has no place for set-up */
    static struct toolset *t;
    struct judge_options o = {.strict = false};
    if (!j)
        j = judge_new(&o, NULL);
    if (j && !t)
        t = toolset_new(j, &tool, 1, NULL);
    if (!t)
        abort();
    *judge = j;
    return t;
}

static void check_inside(const struct reply *r, const struct verdict *v)
{
    for (size_t i = 0; i < v->n_signs; i++) {
        const struct sign *s = &v->signs[i];
        size_t room = s->channel == CHANNEL_content     ? r->content.len
                      : s->channel == CHANNEL_reasoning ? r->reasoning.len
                      : s->channel == CHANNEL_args      ? r->calls[0].args.len
                                                        : SIZE_MAX;
        if (s->offset > room || s->len > room - s->offset)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct judge *j;
    const struct toolset *t = tools(&j);
    struct expect e = {.tools = &tool,
                       .n_tools = 1,
                       .calls_allowed = true,
                       .call_due = true,
                       .lang = "en",
                       .lang_strict = true};
    struct reply r;
    struct verdict v = {0}, again = {0};
    size_t half = len / 2, third = len / 3;
    reply_init(&r);
    r.status = 200;
    r.done = r.has_choice = true;
    strcpy(r.finish, len % 2 ? "stop" : "length");
    buf_add(&r.content, data, len);
    buf_add(&r.reasoning, data + half, len - half);
    struct tool_call *call = reply_add_call(&r);
    buf_add(&call->name, data, third);
    buf_add(&call->args, data + third, len - third);
    judge_reply(j, t, &e, &r, &v);
    judge_reply(j, t, &e, &r, &again);
    check_inside(&r, &v);
    if (v.reason != again.reason || v.n_signs != again.n_signs)
        abort();
    verdict_release(&v);
    verdict_release(&again);
    reply_release(&r);
    return 0;
}
