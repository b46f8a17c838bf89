/* accum.c - which call a piece belongs to, what is appended and what replaced, and which habits of
 * servers show in that. It knows nothing of SSE or HTTP, nor of which JSON key means what. */
#include "accum.h"

#include <stdlib.h>
#include <string.h>

#include "dialect.h"
#include "json.h"
#include "mem.h"
#include "utf8.h"

#define ERROR_DEPTH 4 /* levels of an error object that are searched for texts */

void accum_init(struct accum *a, const struct dialect *d, struct reply *r)
{
    *a = (struct accum){.dialect = d, .r = r};
    r->error_text.cap = ACCUM_MAX_ERRORS;
}

void accum_release(struct accum *a)
{
    free(a->calls);
    buf_release(&a->scratch);
    buf_release(&a->prefix);
    buf_release(&a->mould);
    buf_release(&a->around);
}

static bool is_half(const char *p, unsigned char low, unsigned char high)
{
    const unsigned char *u = (const unsigned char *)p;
    return u[0] == 0xED && u[1] >= low && u[1] <= high;
}

static void add_text(struct accum *a, struct buf *b, struct span text)
{
    if (!text.len)
        return;
    a->token = true;
    if (!memchr(text.data, 0xED, text.len) && !memchr(text.data, 0xC0, text.len)) {
        buf_add(b, text.data, text.len);
        return;
    }
    if (text.len >= 3 && is_half(text.data, 0xB0, 0xBF) && b->len >= 3 &&
        is_half(b->data + b->len - 3, 0xA0, 0xAF))
        a->r->quirks |= QUIRK_BIT(split_surrogate);
    a->surrogates = true;
    utf8_add_loose(b, text);
}

void accum_content(struct accum *a, struct span text)
{
    add_text(a, &a->r->content, text);
}

void accum_reasoning(struct accum *a, struct span text)
{
    add_text(a, &a->r->reasoning, text);
}

void accum_delta(struct accum *a, struct piece role, struct piece content)
{
    struct reply *r = a->r;
    if (role.kind != PIECE_ABSENT) {
        if (a->role_seen || !span_is(role.text, "assistant"))
            r->quirks |= QUIRK_BIT(odd_role);
        a->role_seen = a->role_seen || role.text.len;
    }
    if (!a->delta_seen && !a->whole && content.kind == PIECE_NULL)
        r->quirks |= QUIRK_BIT(null_content_first);
    a->delta_seen = true;
    r->has_choice = true;
}

void accum_finish(struct accum *a, struct span reason)
{
    static const char *const known[] = {"stop", "length", "tool_calls", "content_filter",
                                        "function_call"};
    if (!reason.len)
        return;
    struct reply *r = a->r;
    r->has_choice = true;
    bool vendor = true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        vendor = vendor && !span_is(reason, known[i]);
    if (vendor)
        r->quirks |= QUIRK_BIT(vendor_finish);
    if (r->finish[0]) {
        r->quirks |= QUIRK_BIT(two_finishes);
        return;
    }
    size_t n = reason.len < sizeof r->finish - 1 ? reason.len : sizeof r->finish - 1;
    memcpy(r->finish, reason.data, n);
    r->finish[n] = '\0';
}

void accum_choices(struct accum *a, size_t n_choices, bool has_usage)
{
    if (n_choices) {
        a->choices_seen = true;
        if (n_choices > 1)
            a->r->quirks |= QUIRK_BIT(extra_choice);
    } else if (a->whole) {
        return;
    } else if (!a->choices_seen) {
        a->r->quirks |= QUIRK_BIT(empty_choices_first);
    } else if (has_usage) {
        a->r->quirks |= QUIRK_BIT(usage_only_chunk);
    }
}

void accum_usage(struct accum *a, const struct usage *u)
{
    struct usage *to = &a->r->usage;
    a->usage_seen = true;
    to->prompt_tokens = u->prompt_tokens >= 0 ? u->prompt_tokens : to->prompt_tokens;
    to->completion_tokens =
        u->completion_tokens >= 0 ? u->completion_tokens : to->completion_tokens;
    to->cached_tokens = u->cached_tokens >= 0 ? u->cached_tokens : to->cached_tokens;
    to->reasoning_tokens = u->reasoning_tokens >= 0 ? u->reasoning_tokens : to->reasoning_tokens;
}

static void scan_args(struct args_scan *s, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (s->in_string) {
            s->in_string = s->escaped || c != '"';
            s->escaped = !s->escaped && c == '\\';
            continue;
        }
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        s->restarted = s->restarted || (s->closed && !blank);
        if (c == '"') {
            s->in_string = true;
        } else if (c == '{' || c == '[') {
            s->depth++;
        } else if (c == '}' || c == ']') {
            s->depth -= s->depth > 0;
            s->closed = s->closed || s->depth == 0;
        }
    }
}

static struct tool_call *new_call(struct accum *a, const struct call_piece *p, bool conflict)
{
    struct reply *r = a->r;
    if (r->n_calls == ACCUM_MAX_CALLS) {
        a->too_many = true;
        return NULL;
    }
    a->calls = mem_grow(a->calls, &a->calls_cap, r->n_calls, sizeof *a->calls);
    a->calls[r->n_calls] = (struct call_state){0};
    struct tool_call *call = reply_add_call(r);
    call->index = p->index;
    call->index_conflict = conflict;
    /* Chunks with an empty id are a habit; a whole body with one hands out an id that is none. */
    if (p->id.text.len)
        r->quirks |= span_starts(p->id.text, "call_") ? 0 : QUIRK_BIT(vendor_id);
    else
        r->quirks |=
            a->whole && p->id.kind == PIECE_TEXT ? QUIRK_BIT(empty_id) : QUIRK_BIT(missing_id);
    return call;
}

static bool same(const struct buf *b, struct span s)
{
    return b->len == s.len && memcmp(buf_str(b), s.data, s.len) == 0;
}

/* The piece comes on the index of `call`: is it that call's, or another that took its place? */
static bool takes_place(const struct accum *a, const struct tool_call *call,
                        const struct call_piece *p)
{
    const struct call_state *state = &a->calls[call - a->r->calls];
    struct span id = p->id.text, name = p->name.text;
    bool other_id = id.len && call->id.len && !same(&call->id, id);
    bool restarts = state->scan.closed && p->args.text.len && p->args.text.data[0] == '{';
    if (other_id && (restarts || !call->args.len))
        return name.len || restarts;
    bool other_name = name.len && call->name.len && !same(&call->name, name);
    if (other_id && name.len)
        return other_name || state->scan.closed;
    return other_name && state->scan.closed;
}

/* Without an index: the call with the piece's id, else the last one that is still open. */
static struct tool_call *find_open(const struct accum *a, const struct call_piece *p)
{
    struct reply *r = a->r;
    struct span id = p->id.text, name = p->name.text;
    for (size_t i = r->n_calls; id.len && i-- > 0;)
        if (same(&r->calls[i].id, id))
            return &r->calls[i];
    if (!r->n_calls)
        return NULL;
    struct tool_call *last = &r->calls[r->n_calls - 1];
    const struct call_state *state = &a->calls[r->n_calls - 1];
    if (state->last_event == a->event) /* two pieces of one event are two calls */
        return NULL;
    if (id.len)
        return last->id.len || name.len ? NULL : last;
    if (name.len && (state->scan.closed || (last->args.len && !same(&last->name, name))))
        return NULL;
    return last;
}

static struct tool_call *find_call(struct accum *a, const struct call_piece *p)
{
    struct reply *r = a->r;
    if (a->whole || p->index >= 0) {
        for (size_t i = r->n_calls; p->index >= 0 && i-- > 0;) {
            struct tool_call *call = &r->calls[i];
            if (call->index != p->index)
                continue;
            bool conflict = a->whole || takes_place(a, call, p);
            return conflict ? new_call(a, p, true) : call;
        }
        return new_call(a, p, false);
    }
    r->quirks |= QUIRK_BIT(missing_index);
    struct tool_call *call = find_open(a, p);
    return call ? call : new_call(a, p, false);
}

static void add_name(struct accum *a, struct tool_call *call, struct span name)
{
    if (!name.len)
        return;
    a->token = true;
    if (!call->name.len) {
        utf8_add_loose(&call->name, name);
    } else if (same(&call->name, name)) {
        a->r->quirks |= QUIRK_BIT(name_resent);
    } else if (name.len > call->name.len &&
               memcmp(name.data, call->name.data, call->name.len) == 0) {
        a->r->quirks |= QUIRK_BIT(name_grows);
        buf_clear(&call->name);
        utf8_add_loose(&call->name, name);
    } else {
        a->r->quirks |= QUIRK_BIT(name_in_pieces);
        utf8_add_loose(&call->name, name);
    }
}

static void note_habits(struct accum *a, const struct call_piece *p, const struct tool_call *call)
{
    bool empty_id = p->id.kind == PIECE_TEXT && !p->id.text.len;
    bool empty_name = p->name.kind == PIECE_TEXT && !p->name.text.len;
    if (empty_id || empty_name)
        a->r->quirks |= QUIRK_BIT(empty_id_chunks);
    if (p->id.kind == PIECE_NULL || p->name.kind == PIECE_NULL)
        a->r->quirks |= QUIRK_BIT(null_id_chunks);
    if (p->id.text.len && call->id.len && !same(&call->id, p->id.text))
        a->r->quirks |= QUIRK_BIT(id_changes);
}

void accum_call(struct accum *a, const struct call_piece *p)
{
    struct tool_call *call = find_call(a, p);
    if (!call)
        return;
    struct call_state *state = &a->calls[call - a->r->calls];
    if (state->n_pieces++)
        note_habits(a, p, call);
    state->last_event = a->event;
    a->token = true;
    if (!call->id.len)
        add_text(a, &call->id, p->id.text);
    add_name(a, call, p->name.text);
    if (p->args_object)
        a->r->quirks |= QUIRK_BIT(args_object);
    add_text(a, &call->args, p->args.text);
    scan_args(&state->scan, p->args.text);
    if (state->scan.restarted)
        a->r->quirks |= QUIRK_BIT(args_restart);
}

void accum_error_text(struct accum *a, struct span text)
{
    struct buf *out = &a->r->error_text;
    if (!text.len)
        return;
    if (out->len)
        buf_addc(out, '\n');
    utf8_add_loose(out, text);
}

static void add_error(struct buf *out, const struct json *v, const char *key, int depth)
{
    enum json_type type = json_type(v);
    if (depth < ERROR_DEPTH && (type == JSON_OBJECT || type == JSON_ARRAY)) {
        const struct json *message = json_get(v, "message");
        if (message)
            add_error(out, message, "", depth + 1);
        for (const struct json *m = json_first(v); m; m = json_next(m))
            if (m != message)
                add_error(out, m, json_key(m), depth + 1);
        return;
    }
    if (type == JSON_NULL || type == JSON_ABSENT)
        return;
    if (out->len)
        buf_addc(out, ' ');
    if (key[0])
        buf_addf(out, "%s=", key);
    if (type == JSON_STRING)
        utf8_add_loose(out, json_span(v));
    else
        json_print(v, out);
}

void accum_error(struct accum *a, const struct json *error)
{
    struct buf one = {.cap = ACCUM_MAX_ERRORS};
    add_error(&one, error, "", 0);
    accum_error_text(a, one.len ? buf_span(&one) : span_of("(an empty error)"));
    buf_release(&one);
}

static bool blank(const struct buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (!strchr(" \t\r\n", b->data[i]) || !b->data[i])
            return false;
    return true;
}

static bool has_half(const struct buf *b)
{
    for (size_t i = 0; i + 3 <= b->len; i++)
        if (is_half(b->data + i, 0xA0, 0xBF))
            return true;
    return false;
}

static void end_calls(struct accum *a)
{
    struct reply *r = a->r;
    long lowest = -1;
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tool_call *call = &r->calls[i];
        if (call->index >= 0 && (lowest < 0 || call->index < lowest))
            lowest = call->index;
        if (!call->args.len)
            r->quirks |= QUIRK_BIT(args_empty);
        else if (!a->whole && a->calls[i].n_pieces == 1)
            r->quirks |= QUIRK_BIT(whole_call_chunk);
        if (a->surrogates && has_half(&call->args))
            r->quirks |= QUIRK_BIT(lone_surrogate);
    }
    if (lowest > 0)
        r->quirks |= QUIRK_BIT(index_from_one);
    if (r->content.len && blank(&r->content))
        r->quirks |= QUIRK_BIT(blank_content_with_calls);
    if (strcmp(r->finish, "stop") == 0)
        r->quirks |= QUIRK_BIT(finish_stop_with_calls);
}

void accum_end(struct accum *a)
{
    struct reply *r = a->r;
    if (r->n_calls)
        end_calls(a);
    if (a->surrogates && (has_half(&r->content) || has_half(&r->reasoning)))
        r->quirks |= QUIRK_BIT(lone_surrogate);
    if (!r->has_choice)
        return;
    if (!a->role_seen)
        r->quirks |= QUIRK_BIT(no_role);
    if (!a->usage_seen)
        r->quirks |= QUIRK_BIT(no_usage);
    if (!r->finish[0] && r->done && !r->error_text.len)
        r->quirks |= QUIRK_BIT(no_finish);
}
