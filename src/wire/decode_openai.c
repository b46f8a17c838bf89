/* decode_openai.c - the JSON of chat completions: which key means what, in all the spellings that
 * servers have been seen to send. It knows nothing of framing, and what pieces add up to is
 * accum.c's. */
#include <string.h>

#include "accum.h"
#include "decode_ops.h"
#include "dialect.h"
#include "json.h"

static struct piece piece_of(const struct json *v)
{
    enum json_type type = json_type(v);
    return (struct piece){.kind = type == JSON_STRING ? PIECE_TEXT
                                  : type == JSON_NULL ? PIECE_NULL
                                                      : PIECE_ABSENT,
                          .text = json_span(v)};
}

static void add_to(struct accum *a, struct span text, bool reasoning)
{
    if (reasoning)
        accum_reasoning(a, text);
    else
        accum_content(a, text);
}

static void read_parts(struct accum *a, const struct json *v, bool reasoning);

/* A part is {"type":"text","text":"..."}; of type "thinking" it is reasoning, and its text may be a
 * list of parts again. */
static void read_part(struct accum *a, const struct json *part, bool reasoning)
{
    static const char *const keys[] = {"text",    "thinking", "reasoning",
                                       "content", "summary",  "refusal"};
    const char *type = json_text(json_get(part, "type"));
    if (type && (strstr(type, "thinking") || strstr(type, "reasoning")))
        reasoning = true;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct json *text = json_get(part, keys[i]);
        if (json_type(text) == JSON_ABSENT || json_type(text) == JSON_NULL)
            continue;
        read_parts(a, text, reasoning);
        return;
    }
}

static void read_parts(struct accum *a, const struct json *v, bool reasoning)
{
    switch (json_type(v)) {
    case JSON_STRING: add_to(a, json_span(v), reasoning); break;
    case JSON_OBJECT: read_part(a, v, reasoning); break;
    case JSON_ARRAY:
        for (const struct json *part = json_first(v); part; part = json_next(part))
            if (json_type(part) != JSON_ARRAY)
                read_parts(a, part, reasoning);
        break;
    case JSON_ABSENT:
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER: break;
    }
}

static void read_content(struct accum *a, const struct json *content)
{
    enum json_type type = json_type(content);
    if (type == JSON_ARRAY || type == JSON_OBJECT)
        a->r->quirks |= QUIRK_BIT(content_parts);
    read_parts(a, content, false);
}

/* Some servers send the same text under two names: the first that has any is taken. */
static void read_reasoning(struct accum *a, const struct json *delta)
{
    const char *const *fields = a->dialect->reasoning_fields;
    for (size_t i = 0; i < DIALECT_REASONING_FIELDS && fields[i]; i++) {
        const struct json *v = json_get(delta, fields[i]);
        size_t before = a->r->reasoning.len;
        read_parts(a, v, true);
        if (a->r->reasoning.len == before)
            continue;
        if (i > 0)
            a->r->quirks |= QUIRK_BIT(reasoning_field);
        return;
    }
}

static long read_index(const struct json *v)
{
    const char *text = json_text(v);
    if (text && text[0] >= '0' && text[0] <= '9' && !text[1])
        return text[0] - '0';
    long index = json_long(v, -1);
    return index < 0 ? -1 : index;
}

static void read_call(struct accum *a, const struct json *v)
{
    if (json_type(v) != JSON_OBJECT)
        return;
    const struct json *function = json_get(v, "function");
    if (json_type(function) != JSON_OBJECT) {
        bool flat = json_get(v, "name") || json_get(v, "arguments");
        a->r->quirks |= flat ? QUIRK_BIT(flat_call) : 0;
        function = v;
    }
    const struct json *args = json_get(function, "arguments");
    struct buf printed = BUF_INIT;
    struct call_piece p = {.index = read_index(json_get(v, "index")),
                           .id = piece_of(json_get(v, "id")),
                           .name = piece_of(json_get(function, "name")),
                           .args = piece_of(args)};
    if (json_type(args) == JSON_OBJECT || json_type(args) == JSON_ARRAY) {
        json_print(args, &printed);
        p.args = (struct piece){PIECE_TEXT, buf_span(&printed)};
        p.args_object = true;
    }
    accum_call(a, &p);
    buf_release(&printed);
}

static void read_calls(struct accum *a, const struct json *delta)
{
    const struct json *calls = json_get(delta, "tool_calls");
    if (json_type(calls) == JSON_OBJECT)
        read_call(a, calls);
    for (const struct json *c = json_first(calls); c && json_type(calls) == JSON_ARRAY;
         c = json_next(c))
        read_call(a, c);
    const struct json *legacy = json_get(delta, "function_call");
    if (json_type(legacy) != JSON_OBJECT)
        return;
    a->r->quirks |= QUIRK_BIT(legacy_function_call);
    quirk_set before = a->r->quirks;
    read_call(a, legacy);
    a->r->quirks &= before | ~(QUIRK_BIT(flat_call) | QUIRK_BIT(missing_index));
}

static void read_delta(struct accum *a, const struct json *delta)
{
    const struct json *content = json_get(delta, "content");
    accum_delta(a, piece_of(json_get(delta, "role")), piece_of(content));
    read_content(a, content);
    struct span refusal = json_span(json_get(delta, "refusal"));
    if (refusal.len) {
        a->r->quirks |= QUIRK_BIT(refusal_field);
        accum_content(a, refusal);
    }
    read_reasoning(a, delta);
    read_calls(a, delta);
}

static void read_choice(struct accum *a, const struct json *choice)
{
    const struct json *delta = json_get(choice, "delta"), *message = json_get(choice, "message");
    bool has_delta = json_type(delta) == JSON_OBJECT;
    bool has_message = json_type(message) == JSON_OBJECT;
    if (a->whole) {
        if (has_message || has_delta)
            read_delta(a, has_message ? message : delta);
    } else if (has_delta) {
        read_delta(a, delta);
    } else if (has_message) {
        /* the whole answer once more, behind its pieces; or instead of them */
        a->r->quirks |= QUIRK_BIT(message_in_stream);
        if (!a->r->content.len && !a->r->reasoning.len && !a->r->n_calls)
            read_delta(a, message);
    }
    accum_finish(a, json_span(json_get(choice, "finish_reason")));
}

static long first_of(const struct json *a, const char *a_key, const struct json *b,
                     const char *b_key)
{
    long n = json_long(json_get(a, a_key), -1);
    return n >= 0 ? n : json_long(json_get(b, b_key), -1);
}

static void read_usage(struct accum *a, const struct json *usage)
{
    if (json_type(usage) != JSON_OBJECT)
        return;
    const struct json *prompt = json_get(usage, "prompt_tokens_details");
    const struct json *completion = json_get(usage, "completion_tokens_details");
    struct usage u = {
        .prompt_tokens = first_of(usage, "prompt_tokens", usage, "input_tokens"),
        .completion_tokens = first_of(usage, "completion_tokens", usage, "output_tokens"),
        .cached_tokens = first_of(prompt, "cached_tokens", usage, "prompt_cache_hit_tokens"),
        .reasoning_tokens = first_of(completion, "reasoning_tokens", usage, "reasoning_tokens")};
    accum_usage(a, &u);
}

/* An error of any type under `error`; or the object itself, marked as one. */
static const struct json *find_error(const struct json *v)
{
    const struct json *error = json_get(v, "error");
    switch (json_type(error)) {
    case JSON_OBJECT:
        if (json_first(error) || !json_get(v, "choices"))
            return error;
        break;
    case JSON_STRING:
        if (json_span(error).len)
            return error;
        break;
    case JSON_BOOL:
        if (json_bool(error, false))
            return v;
        break;
    case JSON_NUMBER:
    case JSON_ARRAY: return error;
    case JSON_ABSENT:
    case JSON_NULL: break;
    }
    const char *object = json_text(json_get(v, "object")), *type = json_text(json_get(v, "type"));
    bool marked = (object && strcmp(object, "error") == 0) || (type && strcmp(type, "error") == 0);
    return marked ? v : NULL;
}

/* The object with the choices or the error: `v`, or the one member of it that has them. */
static const struct json *unwrap(struct accum *a, const struct json *v)
{
    if (json_get(v, "choices") || find_error(v) || json_type(v) != JSON_OBJECT)
        return v;
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        if (!json_get(m, "choices") && !find_error(m))
            continue;
        a->r->quirks |= QUIRK_BIT(wrapped_body);
        return m;
    }
    return v;
}

static bool read_openai(struct accum *a, const struct json *outer)
{
    const struct json *v = unwrap(a, outer);
    const struct json *choices = json_get(v, "choices"), *usage = json_get(v, "usage");
    const struct json *error = find_error(v);
    if (error)
        accum_error(a, error);
    if (json_type(choices) == JSON_ARRAY) {
        accum_choices(a, json_count(choices), json_type(usage) == JSON_OBJECT);
        for (const struct json *c = json_first(choices); c; c = json_next(c)) {
            read_choice(a, c);
            read_usage(a, json_get(c, "usage"));
        }
    }
    read_usage(a, usage);
    return error || json_type(choices) == JSON_ARRAY || json_type(usage) == JSON_OBJECT;
}

const struct decode_ops decode_openai = {.read = read_openai, .read_fast = decode_fast_event};
