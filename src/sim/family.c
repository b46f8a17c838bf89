/* family.c - writes calls by the `render` form of a family's data file. It holds no marker. */
#include "family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "rng.h"

#define DIR "schemas/markup/"

struct family {
    struct json *tree;
    const char *name, *open, *call, *param, *param_between, *between, *close;
    const struct json *tokens;
};

struct families {
    struct family *list;
    size_t n, cap;
};

static const char *text_or(const struct json *object, const char *key, const char *absent)
{
    const char *text = json_text(json_get(object, key));
    return text ? text : absent;
}

/* False if the file says nothing about rendering. */
static bool read_family(const struct embedded *file, struct family *f)
{
    *f = (struct family){.tree = json_parse((struct span){file->data, file->len}, NULL)};
    const struct json *render = json_get(f->tree, "render");
    if (!render) {
        json_free(f->tree);
        return false;
    }
    f->name = text_or(f->tree, "name", "");
    f->open = text_or(render, "open", "");
    f->call = text_or(render, "call", "");
    f->param = text_or(render, "param", "");
    f->param_between = text_or(render, "param_between", "");
    f->tokens = json_get(f->tree, "tokens");
    /* Nothing would show where one call without markers ends. */
    f->between = text_or(render, "between", json_count(f->tokens) == 0 ? "\n" : "");
    f->close = text_or(render, "close", "");
    return true;
}

struct families *families_new(void)
{
    struct families *all = mem_zero(1, sizeof *all);
    const struct embedded *file = NULL;
    while ((file = embed_next(DIR, file))) {
        struct family f;
        if (!read_family(file, &f))
            continue;
        all->list = mem_grow(all->list, &all->cap, all->n, sizeof f);
        all->list[all->n++] = f;
    }
    return all;
}

void families_free(struct families *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++)
        json_free(f->list[i].tree);
    free(f->list);
    free(f);
}

static bool is_special(struct span token)
{
    static const char *const bars[] = {"|", "\uff5c"};
    bool barred = false;
    for (int i = 0; i < 2; i++)
        barred |= span_find(token, span_of(bars[i]), 0) >= 0;
    return barred && span_starts(token, "<") && token.data[token.len - 1] == '>';
}

static size_t n_special(const struct family *f)
{
    size_t n = 0;
    for (const struct json *t = json_first(f->tokens); t; t = json_next(t))
        n += is_special(json_span(t));
    return n;
}

/* The template behind the word that stands for arguments or for one value. */
static const char *behind(const char *template, const char *word)
{
    const char *at = strstr(template, word);
    return at ? at + strlen(word) : "";
}

static void add_tail(const struct family *f, struct buf *out)
{
    if (strstr(f->call, "{params}")) {
        buf_adds(out, behind(f->param, "{value}"));
        buf_adds(out, behind(f->call, "{params}"));
    } else {
        buf_adds(out, behind(f->call, "{args}"));
    }
    buf_adds(out, f->close);
}

static bool has_tail(const struct family *f)
{
    struct buf tail = BUF_INIT;
    bool has = false;
    add_tail(f, &tail);
    for (const struct json *t = json_first(f->tokens); t; t = json_next(t))
        has |= json_span(t).len > 5 && span_find(buf_span(&tail), json_span(t), 0) >= 0;
    buf_release(&tail);
    return has;
}

static bool has(const struct family *f, enum family_need need)
{
    switch (need) {
    case NEED_NOTHING: return true;
    case NEED_MARKERS: return json_count(f->tokens) > 0;
    case NEED_TOKEN: return n_special(f) > 0;
    case NEED_TAIL: return has_tail(f);
    default: return false;
    }
}

const struct family *family_pick(const struct families *f, const char *name, enum family_need need,
                                 struct rng *dice)
{
    const struct family *picked = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (name && strcmp(f->list[i].name, name) == 0)
            return &f->list[i];
        if (!name && has(&f->list[i], need) && rng_below(dice, ++n) == 0)
            picked = &f->list[i];
    }
    return picked;
}

const char *family_name(const struct family *f)
{
    return f->name;
}

bool family_is_bare(const struct family *f)
{
    return json_count(f->tokens) == 0;
}

struct span family_token(const struct family *f, struct rng *dice)
{
    bool special = n_special(f) > 0;
    struct span picked = {"", 0};
    uint64_t n = 0;
    for (const struct json *t = json_first(f->tokens); t; t = json_next(t))
        if ((!special || is_special(json_span(t))) && rng_below(dice, ++n) == 0)
            picked = json_span(t);
    return picked;
}

void family_tail(const struct family *f, struct rng *dice, struct buf *out)
{
    if (has_tail(f)) {
        add_tail(f, out);
        return;
    }
    struct span token = family_token(f, dice);
    buf_add(out, token.data, token.len);
}

/* What the words of a template stand for; a NULL text is not known there. */
struct filling {
    struct {
        const char *word;
        struct span text;
    } slots[8];
    size_t n;
};

static void fill(struct filling *f, const char *word, struct span text)
{
    f->slots[f->n].word = word;
    f->slots[f->n++].text = text;
}

/* Length of the word at `at` ("{name}") and its text, or 0: the brace is itself. */
static size_t match_word(const struct filling *f, const char *at, struct span *text)
{
    for (size_t i = 0; i < f->n; i++) {
        size_t len = strlen(f->slots[i].word);
        if (strncmp(at + 1, f->slots[i].word, len) == 0 && at[len + 1] == '}') {
            *text = f->slots[i].text;
            return len + 2;
        }
    }
    return 0;
}

static void expand(const char *template, const struct filling *f, struct buf *out)
{
    for (const char *p = template; *p;) {
        struct span text;
        size_t len = *p == '{' ? match_word(f, p, &text) : 0;
        if (len)
            buf_add(out, text.data, text.len);
        else
            buf_addc(out, *p);
        p += len ? len : 1;
    }
}

static const char *type_word(const struct json *v)
{
    switch (json_type(v)) {
    case JSON_BOOL: return "boolean";
    case JSON_NUMBER: return "number";
    case JSON_STRING: return "string";
    case JSON_ARRAY: return "array";
    case JSON_OBJECT: return "object";
    case JSON_NULL:
    case JSON_ABSENT:
    default: return "null";
    }
}

static void add_param(const struct family *f, const struct json *value, struct buf *out)
{
    struct buf json = BUF_INIT;
    json_print(value, &json);
    bool is_text = json_type(value) == JSON_STRING;
    struct filling words = {.n = 0};
    fill(&words, "key", span_of(json_key(value)));
    fill(&words, "value", is_text ? json_span(value) : buf_span(&json));
    fill(&words, "json", buf_span(&json));
    fill(&words, "type", span_of(type_word(value)));
    fill(&words, "is_string", span_of(is_text ? "true" : "false"));
    expand(f->param, &words, out);
    buf_release(&json);
}

static void add_call(const struct family *f, const struct tool_call *call, size_t index,
                     struct buf *out)
{
    struct buf params = BUF_INIT;
    struct json *args = json_parse(buf_span(&call->args), NULL);
    for (const struct json *a = json_first(args); a; a = json_next(a)) {
        if (a != json_first(args))
            buf_adds(&params, f->param_between);
        add_param(f, a, &params);
    }
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    struct filling words = {.n = 0};
    fill(&words, "name", buf_span(&call->name));
    fill(&words, "args", buf_span(&call->args));
    fill(&words, "index", span_of(number));
    fill(&words, "params", buf_span(&params));
    expand(f->call, &words, out);
    json_free(args);
    buf_release(&params);
}

void family_render(const struct family *f, const struct reply *r, struct buf *out)
{
    buf_adds(out, f->open);
    for (size_t i = 0; i < r->n_calls; i++) {
        if (i > 0)
            buf_adds(out, f->between);
        add_call(f, &r->calls[i], i, out);
    }
    buf_adds(out, f->close);
}

bool family_known(const char *name, enum family_need need)
{
    struct families *all = families_new();
    const struct family *f = family_pick(all, name, NEED_NOTHING, NULL);
    bool known = f && has(f, need);
    families_free(all);
    return known;
}

void family_list(enum family_need need, struct buf *out)
{
    struct families *all = families_new();
    const char *between = "";
    for (size_t i = 0; i < all->n; i++) {
        if (!has(&all->list[i], need))
            continue;
        buf_addf(out, "%s%s", between, all->list[i].name);
        between = ", ";
    }
    families_free(all);
}
