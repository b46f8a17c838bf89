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
    size_t n, cap, n_marked;
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
    f->between = text_or(render, "between", "");
    f->close = text_or(render, "close", "");
    f->tokens = json_get(f->tree, "tokens");
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
        all->n_marked += json_count(f.tokens) > 0;
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

const struct family *family_pick(const struct families *f, const char *name, struct rng *dice)
{
    size_t skip = name ? 0 : (size_t)rng_below(dice, f->n_marked);
    for (size_t i = 0; i < f->n; i++) {
        if (name ? strcmp(f->list[i].name, name) != 0 : json_count(f->list[i].tokens) == 0)
            continue;
        if (skip-- == 0)
            return &f->list[i];
    }
    return NULL;
}

const char *family_name(const struct family *f)
{
    return f->name;
}

struct span family_token(const struct family *f, struct rng *dice)
{
    size_t n = json_count(f->tokens);
    return n ? json_span(json_at(f->tokens, (size_t)rng_below(dice, n))) : (struct span){"", 0};
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

bool family_known(const char *name)
{
    struct families *all = families_new();
    bool known = family_pick(all, name, NULL) != NULL;
    families_free(all);
    return known;
}

void family_list(struct buf *out)
{
    struct families *all = families_new();
    for (size_t i = 0; i < all->n; i++)
        buf_addf(out, "%s%s", i ? ", " : "", all->list[i].name);
    families_free(all);
}
