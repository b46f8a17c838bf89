/* calls.c - each call on its own: JSON to the last byte, a name on offer, an id and an index of its
 * own, arguments that obey the schema. What the scenario wanted of them is demand.c's. */
#include "calls.h"

#include <stdio.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "json.h"
#include "message.h"
#include "reply.h"
#include "schema.h"

static const struct view *args_view(const struct exam *x, size_t i)
{
    return &x->views[3 + 2 * i + 1];
}

static const struct view *name_view(const struct exam *x, size_t i)
{
    return &x->views[3 + 2 * i];
}

/* The last call of a reply that broke off may lack its end, and nobody is to blame. */
static bool may_lack_end(const struct exam *x, size_t i)
{
    return exam_unfinished(x) && i + 1 == x->n_calls;
}

static long tool_index(const struct exam *x, struct span name)
{
    for (size_t i = 0; x->tools && i < x->tools->n; i++)
        if (span_is(name, x->tools->names[i]))
            return (long)i;
    return -1;
}

static bool is_blank(struct span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr(" \t\r\n", s.data[i]) || !s.data[i])
            return false;
    return true;
}

static const char *json_kind(struct span s)
{
    while (s.len && strchr(" \t\r\n", s.data[0])) {
        s.data++;
        s.len--;
    }
    switch (s.len ? s.data[0] : 0) {
    case '"': return "a text: encoded twice";
    case '[': return "an array";
    default: return "no object";
    }
}

static bool is_broken_end(struct span args, long at)
{
    while (at < (long)args.len && strchr(" \t\r\n", args.data[at]))
        at++;
    return at >= (long)args.len;
}

/* What is wrong at the first byte that breaks the rules. */
static const char *fault_at(struct span args, long at)
{
    if (is_broken_end(args, at))
        return "cut: the object never ends";
    unsigned char c = (unsigned char)args.data[at];
    if (c < 0x20)
        return "a raw control byte";
    struct span head = {args.data, (size_t)at};
    if (json_check(head) == -1)
        return c == '{' ? "a second object glued to the first" : "more bytes behind the object";
    return c >= 0x80 ? "a byte that is not JSON" : "not JSON";
}

void call_json_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_calls; i++) {
        const struct view *w = args_view(x, i);
        struct span args = w->raw;
        if (is_blank(args)) {
            /* Nothing at all stands for {}; whether that will do is the schema's business. */
            x->v->quirks |= QUIRK_BIT(args_empty);
            continue;
        }
        long at = x->args_fault[i];
        if (at == -1) {
            if (!x->args[i])
                exam_sign(x, (struct charge){REASON_call_json, LEVEL_DAMAGE, "args-object"}, w,
                          args, "the arguments are %s", json_kind(args));
            continue;
        }
        if (may_lack_end(x, i) && is_broken_end(args, at)) {
            x->open_call = true;
            continue;
        }
        size_t from = (size_t)at < args.len ? (size_t)at : args.len;
        exam_sign(x, (struct charge){REASON_call_json, LEVEL_DAMAGE, "args-json"}, w,
                  (struct span){args.data + from, args.len - from}, "%s at byte %ld",
                  fault_at(args, at), at);
    }
}

static bool is_doubled(const struct exam *x, struct span name)
{
    struct span half = {name.data, name.len / 2};
    return name.len % 2 == 0 && half.len &&
           memcmp(name.data, name.data + half.len, half.len) == 0 && tool_index(x, half) >= 0;
}

void call_name_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_calls; i++) {
        const struct view *w = name_view(x, i);
        if (may_lack_end(x, i) && (!w->raw.len || tool_index(x, w->raw) < 0)) {
            x->open_call = true;
            continue;
        }
        if (!w->raw.len)
            exam_note(x, REASON_call_name, CHANNEL_name, (int)i, "name-empty",
                      "the call has no name");
        else if (x->tools && x->tools->n && tool_index(x, w->raw) < 0)
            exam_sign(x, (struct charge){REASON_call_name, LEVEL_DAMAGE, "name-unknown"}, w, w->raw,
                      "%s", is_doubled(x, w->raw) ? "an offered name twice over" : "never offered");
    }
}

void call_id_detect(struct exam *x)
{
    const struct reply *r = x->r;
    for (size_t i = 0; i < x->n_calls; i++) {
        const struct buf *id = &r->calls[i].id;
        /* None is a habit of servers that clients survive; a whole body that hands out an empty one
         * is sent back with it. */
        if (!id->len && r->quirks & QUIRK_BIT(empty_id))
            exam_note(x, REASON_call_id, CHANNEL_id, (int)i, "id-empty", "the id is empty");
        for (size_t k = 0; k < i && id->len; k++) {
            const struct buf *other = &r->calls[k].id;
            if (other->len != id->len || memcmp(other->data, id->data, id->len) != 0)
                continue;
            exam_note(x, REASON_call_id, CHANNEL_id, (int)i, "id-twice",
                      "calls %zu and %zu share the id '%.80s'", k, i, buf_str(id));
            break;
        }
    }
}

void call_index_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_calls; i++)
        if (x->r->calls[i].index_conflict)
            exam_note(x, REASON_call_index, CHANNEL_calls, (int)i, "index-in-use",
                      "a new call came on index %ld, which was in use", x->r->calls[i].index);
}

void call_schema_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_calls; i++) {
        const struct view *w = args_view(x, i);
        long tool = tool_index(x, name_view(x, i)->raw);
        bool blank = is_blank(w->raw);
        if (tool < 0 || (!x->args[i] && !blank) || (blank && may_lack_end(x, i)))
            continue;
        if (blank) {
            if (x->tools->needs_args[tool])
                exam_note(x, REASON_call_schema, CHANNEL_args, (int)i, "args-blank",
                          "no arguments, but the tool requires some");
            continue;
        }
        struct err err = {0};
        if (x->tools->schemas[tool] && schema_check(x->tools->schemas[tool], x->args[i], &err) < 0)
            exam_sign(x, (struct charge){REASON_call_schema, LEVEL_DAMAGE, "args-schema"}, w,
                      w->raw, "%s", err.text);
    }
}

void call_extra_detect(struct exam *x)
{
    const struct expect *e = x->e;
    if (!x->n_calls || (e->calls_allowed && e->choice != CHOICE_NONE))
        return;
    exam_note(x, REASON_call_extra, CHANNEL_calls, 0, "call-not-allowed",
              "%zu calls where none is allowed", x->n_calls);
}
