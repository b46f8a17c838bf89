/* damage_call.c - damages of tool calls: their arguments, names, ids, number. Arguments are changed
 * as text, so that what is not meant to be wrong stays byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "damage_row.h"
#include "family.h"
#include "generic.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "rng.h"
#include "scene.h"

#define MIN_LITERAL 4 /* bytes of a text whose alteration nobody takes for a habit */

static struct tool_call *any_call(struct damage_job *j)
{
    return &j->said->calls[rng_below(j->dice, j->said->n_calls)];
}

static void replace(struct buf *text, size_t at, size_t len, struct span by)
{
    struct buf out = BUF_INIT;
    buf_add(&out, text->data, at);
    buf_add(&out, by.data, by.len);
    buf_add(&out, text->data + at + len, text->len - at - len);
    buf_release(text);
    *text = out;
}

static void set_text(struct buf *text, const char *to)
{
    buf_clear(text);
    buf_adds(text, to);
}

static void set_id(struct damage_job *j, struct tool_call *call)
{
    buf_clear(&call->id);
    buf_addf(&call->id, "call_%024llx", (unsigned long long)rng_u64(j->dice));
}

/* A second call like the first one, under an id of its own. */
static struct tool_call *add_twin(struct damage_job *j)
{
    struct tool_call *twin = reply_add_call(j->said);
    const struct tool_call *first = &j->said->calls[0];
    buf_add(&twin->name, first->name.data, first->name.len);
    buf_add(&twin->args, first->args.data, first->args.len);
    twin->index = (long)j->said->n_calls - 1;
    set_id(j, twin);
    return twin;
}

static const struct tool *tool_named(const struct expect *e, const char *name)
{
    for (size_t i = 0; i < e->n_tools; i++)
        if (name && strcmp(e->tools[i].name, name) == 0)
            return &e->tools[i];
    return NULL;
}

static bool is_demanded(const struct expect *e, const char *tool, const char *key)
{
    for (size_t i = 0; i < e->n_calls; i++) {
        const struct expect_call *c = &e->calls[i];
        for (size_t k = 0; k < c->n_literals && c->name && strcmp(c->name, tool) == 0; k++)
            if (!c->literals[k].key || strcmp(c->literals[k].key, key) == 0)
                return true;
    }
    return false;
}

/* What the parser should have taken away: inside the last text, or glued behind the object. */
void damage_markup_args(struct damage_job *j)
{
    struct buf *args = &any_call(j)->args, tail = BUF_INIT, quoted = BUF_INIT;
    family_tail(j->family, j->dice, &tail);
    json_quote(&quoted, buf_span(&tail));
    struct span bare = {quoted.data + 1, quoted.len - 2};
    size_t end = args->len;
    while (end > 0 && args->data[end - 1] != '"')
        end--;
    bool inside = end > 1 && args->data[end - 2] != ':' && rng_below(j->dice, 2);
    if (inside)
        replace(args, end - 1, 0, bare);
    else
        buf_add(args, tail.data, tail.len);
    buf_release(&quoted);
    buf_release(&tail);
}

void damage_markup_name(struct damage_job *j)
{
    struct span token = family_token(j->family, j->dice);
    buf_add(&any_call(j)->name, token.data, token.len);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Another one of its kind, so that patterns still match. */
static char other_char(char c, struct rng *dice)
{
    static const char upper[] = "ABCDEFGHJKMNPQRSTVWXYZ";
    static const char lower[] = "abcdefghijkmnopqrstuvwxyz";
    char other = c;
    while (other == c) {
        if (is_digit(c))
            other = (char)('1' + rng_below(dice, 9));
        else if (c < 'a')
            other = upper[rng_below(dice, sizeof upper - 1)];
        else
            other = lower[rng_below(dice, sizeof lower - 1)];
    }
    return other;
}

/* Can one character of this JSON text be altered so that a value of its kind remains? */
static bool is_alterable(const char *json)
{
    size_t len = strlen(json), plain = 0;
    if (is_digit(json[0]))
        return len > 1;
    if (json[0] != '"' || len < MIN_LITERAL + 2 || strchr(json, '\\'))
        return false;
    for (size_t i = 1; i < len - 1; i++)
        plain += is_digit(json[i]) || is_letter(json[i]);
    return plain >= MIN_LITERAL;
}

/* Alters one letter or digit of text[at, at + len). */
static void alter(struct damage_job *j, struct buf *text, size_t at, size_t len)
{
    for (;;) {
        char *c = &text->data[at + rng_below(j->dice, len)];
        if (!is_digit(*c) && !is_letter(*c))
            continue;
        *c = other_char(*c, j->dice);
        return;
    }
}

/* A text whose values are listed in an enum would break the schema first. */
static bool is_free(const struct expect *e, const char *tool, const char *key)
{
    const struct tool *t = tool_named(e, tool);
    if (!t || !t->parameters || !key)
        return true;
    struct json *schema = json_parse(span_of(t->parameters), NULL);
    const struct json *p = json_get(json_get(schema, "properties"), key);
    bool is = !json_get(p, "enum") && !json_get(p, "const") && !json_get(p, "pattern");
    json_free(schema);
    return is;
}

static bool can_alter(const struct expect *e, const struct expect_call *c,
                      const struct expect_literal *l)
{
    return is_alterable(l->json) && is_free(e, c->name, l->key);
}

static bool has_plain(const char *text)
{
    size_t plain = 0;
    for (; *text; text++)
        plain += is_digit(*text) || is_letter(*text);
    return plain >= MIN_LITERAL;
}

bool damage_has_value(const struct expect *e)
{
    if (e->final_text && has_plain(e->final_text))
        return true;
    for (size_t i = 0; i < e->n_calls; i++)
        for (size_t k = 0; k < e->calls[i].n_literals; k++)
            if (can_alter(e, &e->calls[i], &e->calls[i].literals[k]))
                return true;
    return false;
}

static bool alter_literal(struct damage_job *j, const struct expect_literal *l)
{
    for (size_t i = 0; i < j->said->n_calls; i++) {
        struct buf *args = &j->said->calls[i].args;
        struct span value = l->key ? json_raw_get(buf_span(args), l->key) : (struct span){0};
        if (value.len == 0 || !span_is(value, l->json))
            continue;
        alter(j, args, (size_t)(value.data - args->data), value.len);
        return true;
    }
    return false;
}

static void alter_final(struct damage_job *j)
{
    struct buf *text = &j->said->content;
    long at = span_find(buf_span(text), span_of(j->e->final_text), 0);
    if (at >= 0)
        alter(j, text, (size_t)at, strlen(j->e->final_text));
}

void damage_value(struct damage_job *j)
{
    const struct expect *e = j->e;
    if (e->n_calls == 0) {
        alter_final(j);
        return;
    }
    size_t first = (size_t)rng_below(j->dice, e->n_calls);
    for (size_t i = 0; i < e->n_calls; i++) {
        const struct expect_call *c = &e->calls[(first + i) % e->n_calls];
        size_t start = c->n_literals ? (size_t)rng_below(j->dice, c->n_literals) : 0;
        for (size_t k = 0; k < c->n_literals; k++) {
            const struct expect_literal *l = &c->literals[(start + k) % c->n_literals];
            if (can_alter(e, c, l) && alter_literal(j, l))
                return;
        }
    }
}

static void cut_args(struct damage_job *j, struct buf *args)
{
    size_t keep = 1 + (size_t)rng_below(j->dice, args->len > 1 ? args->len - 1 : 1);
    while (keep > 1 && ((unsigned char)args->data[keep] & 0xC0) == 0x80)
        keep--;
    args->len = keep;
    args->data[keep] = '\0';
}

static void quote_args(struct buf *args)
{
    struct buf quoted = BUF_INIT;
    json_quote(&quoted, buf_span(args));
    buf_release(args);
    *args = quoted;
}

/* Cut; twice; encoded twice; a raw line end inside a text. */
void damage_call_json(struct damage_job *j)
{
    struct buf *args = &any_call(j)->args;
    const char *text = buf_str(args);
    const char *in_text = args->len ? strstr(text, "\": \"") : NULL;
    switch (rng_below(j->dice, in_text ? 4 : 3)) {
    case 1: {
        char *copy = mem_copy(text, args->len);
        buf_adds(args, copy);
        free(copy);
        break;
    }
    case 2: quote_args(args); break;
    case 3: replace(args, (size_t)(in_text - text) + 4, 0, span_of("\n")); break;
    default: cut_args(j, args); break;
    }
}

/* The key that the schema of `tool` would miss or refuse; the caller's, or NULL. *extra: it is to
 * be added, not to be taken out. */
static char *weak_key(const struct expect *e, const char *tool, bool *extra)
{
    const struct tool *t = tool_named(e, tool);
    struct json *schema = t && t->parameters ? json_parse(span_of(t->parameters), NULL) : NULL;
    char *key = NULL;
    *extra = json_get(schema, "additionalProperties") &&
             !json_bool(json_get(schema, "additionalProperties"), true);
    if (*extra)
        key = mem_str("note_to_self");
    for (const struct json *r = json_first(json_get(schema, "required")); r && !key;
         r = json_next(r))
        if (json_text(r) && !is_demanded(e, tool, json_text(r)))
            key = mem_str(json_text(r));
    json_free(schema);
    return key;
}

bool damage_has_schema(const struct expect *e)
{
    bool extra;
    char *key = e->n_calls ? weak_key(e, e->calls[0].name, &extra) : NULL;
    free(key);
    return key != NULL;
}

static void drop_member(struct buf *args, const char *key)
{
    struct json *tree = json_parse(buf_span(args), NULL);
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    jsonw_object(&w);
    for (const struct json *m = json_first(tree); m; m = json_next(m))
        if (strcmp(json_key(m), key) != 0) {
            jsonw_key(&w, json_key(m));
            jsonw_raw(&w, json_raw_get(buf_span(args), json_key(m)));
        }
    jsonw_end_object(&w);
    json_free(tree);
    buf_release(args);
    *args = out;
}

void damage_call_schema(struct damage_job *j)
{
    struct tool_call *call = &j->said->calls[0];
    bool extra;
    char *key = weak_key(j->e, buf_str(&call->name), &extra);
    if (key && extra) {
        bool is_empty = json_raw_get(buf_span(&call->args), key).len == 0 &&
                        span_is(buf_span(&call->args), "{}");
        replace(&call->args, 1, 0,
                span_of(is_empty ? "\"note_to_self\": 1" : "\"note_to_self\": 1, "));
    } else if (key) {
        drop_member(&call->args, key);
    }
    free(key);
}

/* None, another, or twice. */
void damage_call_name(struct damage_job *j)
{
    struct buf *name = &any_call(j)->name;
    char *old = mem_str(buf_str(name));
    switch (rng_below(j->dice, 3)) {
    case 0: set_text(name, ""); break;
    case 1: buf_adds(name, "_ex"); break;
    default: buf_adds(name, old); break;
    }
    free(old);
}

void damage_call_id(struct damage_job *j)
{
    struct tool_call *second = j->said->n_calls > 1 ? &j->said->calls[1] : add_twin(j);
    set_text(&second->id, buf_str(&j->said->calls[0].id));
}

void damage_call_index(struct damage_job *j)
{
    struct tool_call *second = j->said->n_calls > 1 ? &j->said->calls[1] : add_twin(j);
    second->index = j->said->calls[0].index = 0;
}

void damage_call_extra(struct damage_job *j)
{
    const struct tool *t = &j->e->tools[rng_below(j->dice, j->e->n_tools)];
    struct json *schema = t->parameters ? json_parse(span_of(t->parameters), NULL) : NULL;
    struct tool_call *call = reply_add_call(j->said);
    call->index = (long)j->said->n_calls - 1;
    set_id(j, call);
    buf_adds(&call->name, t->name);
    generic_value(schema, &call->args);
    json_free(schema);
    buf_clear(&j->said->content);
    answer_finish(j->said, "tool_calls");
    j->said->usage.completion_tokens = answer_tokens(j->said);
}

void damage_missing_calls(struct damage_job *j)
{
    size_t gone = (size_t)rng_below(j->dice, j->said->n_calls);
    struct tool_call victim = j->said->calls[gone];
    size_t after = j->said->n_calls - gone - 1;
    memmove(&j->said->calls[gone], &j->said->calls[gone + 1], after * sizeof victim);
    j->said->n_calls--;
    for (size_t i = 0; i < j->said->n_calls; i++)
        j->said->calls[i].index = (long)i;
    buf_release(&victim.id);
    buf_release(&victim.name);
    buf_release(&victim.args);
    j->said->usage.completion_tokens = answer_tokens(j->said);
}

/* The latest call to the tool that is due; -1 if there is none. */
static long latest_previous(const struct expect *e)
{
    for (size_t i = e->n_previous; i > 0; i--)
        if (e->n_calls == 1 && e->calls[0].name && e->previous[i - 1].name &&
            strcmp(e->previous[i - 1].name, e->calls[0].name) == 0)
            return (long)i - 1;
    return -1;
}

bool damage_has_previous(const struct expect *e)
{
    return e->new_call_expected && latest_previous(e) >= 0;
}

void damage_repeat_call(struct damage_job *j)
{
    const struct expect *e = j->e;
    long which = latest_previous(e);
    damage_drop_calls(j->said);
    struct tool_call *call = reply_add_call(j->said);
    call->index = 0;
    set_id(j, call);
    buf_adds(&call->name, e->previous[which].name);
    buf_adds(&call->args, e->previous_args[which]);
    answer_finish(j->said, "tool_calls");
    j->said->usage.completion_tokens = answer_tokens(j->said);
}
