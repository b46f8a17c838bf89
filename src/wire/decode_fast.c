/* decode_fast.c - the plainest events of chat completions without a tree: one choice with a delta
 * of strings and nulls, or none, and a usage of whole numbers. It is a short cut and nothing else:
 * whatever it does not know for certain (another key with an object in it, a key twice, an error,
 * odd escapes, bytes that are no strict JSON) it leaves to decode_openai.c before anything was
 * touched, and what it takes must come to the same.
 *
 * First everything is looked at and remembered as it stands; then it is put together. Where an
 * event is the last one with another text in its place, looking at that text is enough. */
#include <stdint.h>
#include <string.h>

#include "accum.h"
#include "decode_ops.h"
#include "dialect.h"
#include "event_scan.h"
#include "raw_string.h"

#define MAX_CALLS  8 /* in one event; with more it is not plain */
#define MAX_PREFIX 1024

struct raw_call {
    long index;
    struct raw id, name, args;
};

/* Numbers of a usage under all their names; -1: not there, or null. */
struct raw_usage {
    bool has_prompt, has_completion; /* their details */
    long prompt, input, completion, output, cached, cache_hit, reasoning, own_reasoning;
};

struct raw_event {
    bool has_choices, has_choice, has_delta, has_calls, has_usage;
    struct raw_usage usage;
    size_t moving; /* in a mould: where the one text that changes is in this struct */
    struct raw role, content, finish, reasoning[DIALECT_REASONING_FIELDS];
    size_t n_calls;
    struct raw_call calls[MAX_CALLS];
};

/* A whole number of a few digits that comes once. */
static bool take_index(struct scan *s, long *index)
{
    skip_space(s);
    const char *from = s->at;
    if (*index >= 0 || !take_digits(s) || s->at - from > 9 || (*from == '0' && s->at - from > 1))
        return false;
    *index = 0;
    for (const char *p = from; p < s->at; p++)
        *index = *index * 10 + (*p - '0');
    return s->at < s->end && (*s->at == ',' || *s->at == '}' || *s->at == ' ');
}

static bool function_member(struct scan *s, struct span key, void *into)
{
    struct raw_call *call = into;
    if (IS(key, "arguments"))
        return take_once(s, &call->args);
    if (IS(key, "name"))
        return take_once(s, &call->name);
    return take_other(s);
}

struct call_scan {
    struct raw_call *call;
    bool has_function;
};

static bool call_member(struct scan *s, struct span key, void *into)
{
    struct call_scan *c = into;
    if (IS(key, "function")) {
        if (c->has_function)
            return false;
        c->has_function = true;
        return take_object(s, function_member, c->call);
    }
    if (IS(key, "index"))
        return take_index(s, &c->call->index);
    if (IS(key, "id"))
        return take_once(s, &c->call->id);
    return take_other(s);
}

static bool take_calls(struct scan *s)
{
    struct raw_event *e = s->event;
    if (e->has_calls)
        return false;
    e->has_calls = true;
    skip_space(s);
    if (s->at < s->end && *s->at == 'n')
        return take_null(s);
    if (!take(s, '['))
        return false;
    if (take(s, ']'))
        return true;
    do {
        if (e->n_calls == MAX_CALLS)
            return false;
        struct call_scan c = {.call = &e->calls[e->n_calls++]};
        *c.call = (struct raw_call){.index = -1};
        if (!take_object(s, call_member, &c) || !c.has_function)
            return false;
    } while (take(s, ','));
    return take(s, ']');
}

static bool delta_member(struct scan *s, struct span key, void *into)
{
    struct raw_event *e = into;
    if (IS(key, "content"))
        return take_once(s, &e->content);
    if (IS(key, "tool_calls"))
        return take_calls(s);
    if (IS(key, "role"))
        return take_once(s, &e->role);
    if (IS(key, "refusal") || IS(key, "function_call"))
        return take_null(s);
    for (size_t i = 0; i < DIALECT_REASONING_FIELDS && s->dialect->reasoning_fields[i]; i++)
        if (span_is(key, s->dialect->reasoning_fields[i]))
            return take_once(s, &e->reasoning[i]);
    return take_other(s);
}

static bool choice_member(struct scan *s, struct span key, void *into)
{
    struct raw_event *e = into;
    if (IS(key, "delta")) {
        if (e->has_delta)
            return false;
        e->has_delta = true;
        return take_object(s, delta_member, e);
    }
    if (IS(key, "finish_reason"))
        return take_once(s, &e->finish);
    if (IS(key, "message") || IS(key, "usage"))
        return take_null(s);
    return take_other(s);
}

static bool take_choices(struct scan *s)
{
    if (s->event->has_choices)
        return false;
    s->event->has_choices = true;
    s->choices = s->event->has_usage ? NULL : s->at;
    if (!take(s, '['))
        return false;
    if (take(s, ']'))
        return true;
    s->event->has_choice = true;
    return take_object(s, choice_member, s->event) && take(s, ']');
}

static bool prompt_member(struct scan *s, struct span key, void *into)
{
    struct raw_usage *u = into;
    return IS(key, "cached_tokens") ? take_index(s, &u->cached) : take_other(s);
}

static bool completion_member(struct scan *s, struct span key, void *into)
{
    struct raw_usage *u = into;
    return IS(key, "reasoning_tokens") ? take_index(s, &u->reasoning) : take_other(s);
}

/* Details that come once, or null. */
static bool take_details(struct scan *s, bool *seen, take_member *member, struct raw_usage *u)
{
    bool before = *seen;
    *seen = true;
    skip_space(s);
    if (s->at < s->end && *s->at == 'n')
        return !before && take_null(s);
    return !before && take_object(s, member, u);
}

static bool usage_member(struct scan *s, struct span key, void *into)
{
    struct raw_usage *u = into;
    if (IS(key, "prompt_tokens"))
        return take_index(s, &u->prompt);
    if (IS(key, "completion_tokens"))
        return take_index(s, &u->completion);
    if (IS(key, "input_tokens"))
        return take_index(s, &u->input);
    if (IS(key, "output_tokens"))
        return take_index(s, &u->output);
    if (IS(key, "prompt_cache_hit_tokens"))
        return take_index(s, &u->cache_hit);
    if (IS(key, "reasoning_tokens"))
        return take_index(s, &u->own_reasoning);
    if (IS(key, "prompt_tokens_details"))
        return take_details(s, &u->has_prompt, prompt_member, u);
    if (IS(key, "completion_tokens_details"))
        return take_details(s, &u->has_completion, completion_member, u);
    return take_other(s);
}

static bool take_usage(struct scan *s)
{
    struct raw_event *e = s->event;
    skip_space(s);
    if (s->at < s->end && *s->at == 'n')
        return take_null(s);
    if (e->has_usage)
        return false;
    e->has_usage = true;
    e->usage = (struct raw_usage){false, false, -1, -1, -1, -1, -1, -1, -1, -1};
    return take_object(s, usage_member, &e->usage);
}

static bool event_member(struct scan *s, struct span key, void *into)
{
    (void)into;
    if (IS(key, "choices"))
        return take_choices(s);
    if (IS(key, "usage"))
        return take_usage(s);
    if (IS(key, "error"))
        return take_null(s);
    if (IS(key, "object")) {
        struct raw object = {0};
        return take_once(s, &object) && IS(object.text, "chat.completion.chunk");
    }
    return !IS(key, "type") && take_other(s);
}

/* The events of one answer begin alike (id, time, model): what the last one had before its choices
 * was looked at then. A usage there would have to be looked at again. */
static bool take_event(struct scan *s, struct buf *prefix)
{
    const char *start = s->at;
    size_t len = (size_t)(s->end - start);
    if (prefix->len && len > prefix->len && memcmp(start, prefix->data, prefix->len) == 0) {
        s->at += prefix->len;
        return take_choices(s) && take_rest(s, event_member, s->event);
    }
    if (!take_object(s, event_member, s->event) || !s->event->has_choices)
        return false;
    buf_clear(prefix);
    if (s->choices && s->choices - start <= MAX_PREFIX)
        buf_add(prefix, start, (size_t)(s->choices - start));
    return true;
}

static struct piece piece_of(const struct raw *raw, struct buf *scratch)
{
    return (struct piece){raw->kind, raw_string_text(raw, scratch)};
}

static void put_reasoning(struct accum *a, const struct raw_event *e, struct buf *scratch)
{
    for (size_t i = 0; i < DIALECT_REASONING_FIELDS; i++) {
        if (!e->reasoning[i].text.len)
            continue;
        accum_reasoning(a, raw_string_text(&e->reasoning[i], scratch));
        if (i > 0)
            a->r->quirks |= QUIRK_BIT(reasoning_field);
        return;
    }
}

static void put_usage(struct accum *a, const struct raw_usage *u)
{
    struct usage usage = {.prompt_tokens = u->prompt >= 0 ? u->prompt : u->input,
                          .completion_tokens = u->completion >= 0 ? u->completion : u->output,
                          .cached_tokens = u->cached >= 0 ? u->cached : u->cache_hit,
                          .reasoning_tokens = u->reasoning >= 0 ? u->reasoning : u->own_reasoning};
    accum_usage(a, &usage);
}

static void put_choice(struct accum *a, const struct raw_event *e, struct buf *scratch)
{
    struct piece content = piece_of(&e->content, scratch);
    accum_delta(a, piece_of(&e->role, scratch), content);
    accum_content(a, content.text);
    put_reasoning(a, e, scratch);
    for (size_t i = 0; i < e->n_calls; i++) {
        const struct raw_call *c = &e->calls[i];
        struct call_piece p = {.index = c->index,
                               .id = piece_of(&c->id, scratch),
                               .name = piece_of(&c->name, scratch),
                               .args = piece_of(&c->args, scratch)};
        accum_call(a, &p);
    }
    accum_finish(a, raw_string_text(&e->finish, scratch));
}

static void put_event(struct accum *a, const struct raw_event *e, struct buf *scratch)
{
    accum_choices(a, e->has_choice, e->has_usage);
    if (e->has_choice)
        put_choice(a, e, scratch);
    if (e->has_usage)
        put_usage(a, &e->usage);
}

/* --- moulds: most events differ from the one before in one text --- */

static bool note_text(struct raw_event *e, struct raw *raw)
{
    if (raw->kind != PIECE_TEXT)
        return true;
    if (!raw->text.len) {
        raw->text.data = "";
        return true;
    }
    if (e->moving)
        return false;
    e->moving = (size_t)((char *)raw - (char *)e);
    return true;
}

/* Finds the one text that is not empty, in content, reasoning or arguments. */
static bool find_moving(struct raw_event *e)
{
    bool one = !e->role.text.len && !e->finish.text.len && e->n_calls <= 1;
    e->moving = 0;
    one = one && note_text(e, &e->role) && note_text(e, &e->finish) && note_text(e, &e->content);
    for (size_t i = 0; one && i < DIALECT_REASONING_FIELDS; i++)
        one = note_text(e, &e->reasoning[i]);
    if (one && e->n_calls)
        one = !e->calls[0].id.text.len && !e->calls[0].name.text.len &&
              note_text(e, &e->calls[0].id) && note_text(e, &e->calls[0].name) &&
              note_text(e, &e->calls[0].args);
    return one && e->moving;
}

/* Keeps what stands around the moving text of `event`, and what it means. */
static void make_mould(struct accum *a, struct raw_event *event, struct span text)
{
    buf_clear(&a->mould);
    if (text.len > MAX_PREFIX || !find_moving(event))
        return;
    struct raw *moving = (struct raw *)(void *)((char *)event + event->moving);
    size_t before = (size_t)(moving->text.data - text.data);
    size_t behind = before + moving->text.len;
    buf_clear(&a->around);
    buf_add(&a->around, text.data, before);
    buf_add(&a->around, text.data + behind, text.len - behind);
    a->around_split = before;
    buf_add(&a->mould, event,
            offsetof(struct raw_event, calls) + event->n_calls * sizeof event->calls[0]);
}

/* True if `text` is the last event with another text in its place: then it means the same. */
static bool fits_mould(const struct accum *a, struct span text, struct raw_event *event)
{
    size_t before = a->around_split, behind = a->around.len - before;
    if (!a->mould.len || text.len < a->around.len ||
        memcmp(text.data, a->around.data, before) != 0 ||
        memcmp(text.data + text.len - behind, a->around.data + before, behind) != 0)
        return false;
    struct scan s = {.at = text.data + before - 1, .end = text.data + text.len};
    struct raw string;
    if (!take_string(&s, &string) ||
        string.text.data + string.text.len != text.data + text.len - behind)
        return false;
    memcpy(event, a->mould.data, a->mould.len);
    memcpy((char *)event + event->moving, &string, sizeof string);
    return true;
}

static bool read_whole(struct accum *a, struct span text, struct raw_event *event)
{
    memset(event, 0, offsetof(struct raw_event, calls));
    struct scan s = {text.data, text.data + text.len, a->dialect, event, NULL};
    if (!take_event(&s, &a->prefix) || !(event->has_choice ? event->has_delta : event->has_usage))
        return false;
    skip_space(&s);
    return s.at == s.end;
}

bool decode_fast_event(struct accum *a, struct span text)
{
    struct raw_event event;
    bool moulded = fits_mould(a, text, &event);
    if (!moulded && !read_whole(a, text, &event))
        return false;
    buf_clear(&a->scratch);
    buf_reserve(&a->scratch, text.len); /* no text is longer than its escaped form: nothing moves */
    put_event(a, &event, &a->scratch);
    if (!moulded)
        make_mould(a, &event, text);
    return true;
}
