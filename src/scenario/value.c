/* value.c - declared values, read and looked up. What they are in a session is fill.c's. */
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"

#define VALUES_MAX 256 /* declared in one file */

static const char *const kinds[] = {"token", "number", "word", "code", "text"};

static bool name_is_free(const struct values *vs, const char *name)
{
    static const char *const taken[] = {"canary", "context", "round", "rounds", "i", "last"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return values_find(vs, span_of(name)) < 0;
}

static void read_words(struct value *value, const struct json *list)
{
    value->words = mem_zero(json_count(list) + 1, sizeof *value->words);
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (json_text(e))
            value->words[value->n_words++] = mem_str(json_text(e));
}

static int read_value(struct values *vs, struct value *value, const struct json *v, struct err *err)
{
    char path[200];
    const char *kind = json_text(json_get(v, "kind"));
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && (!kind || strcmp(kind, kinds[k]) != 0))
        k++;
    if (k == sizeof kinds / sizeof *kinds)
        return err_set(err, STATUS_USAGE,
                       "'values.%.80s.kind' must be token, number, word, code or "
                       "text",
                       value->name);
    value->kind = (enum value_kind)k;
    value->from = json_long(json_get(v, "from"), 0);
    value->to = json_long(json_get(v, "to"), 0);
    if (value->to < value->from)
        return err_set(err, STATUS_USAGE, "'values.%.80s.to' is below 'from'", value->name);
    read_words(value, json_get(v, "of"));
    if (value->kind == VALUE_WORD && !value->n_words)
        return err_set(err, STATUS_USAGE, "'values.%.80s.of' must be a list of words", value->name);
    value->form = mem_str(json_text(json_get(v, "form")));
    if (value->kind == VALUE_CODE && !value->form)
        return err_set(err, STATUS_USAGE, "'values.%.80s.form' is missing", value->name);
    struct template_scope scope = {.values = vs};
    snprintf(path, sizeof path, "values.%.80s.lines", value->name);
    return template_read(&value->text, json_get(v, "lines"), &scope, path, err);
}

int values_read(struct values *vs, const struct json *v, struct err *err)
{
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        if (!name_is_free(vs, json_key(m)))
            return err_set(err, STATUS_USAGE, "'values.%.80s' uses a name that is taken",
                           json_key(m));
        if (vs->n == VALUES_MAX)
            return err_set(err, STATUS_USAGE, "'values' holds more than %d", VALUES_MAX);
        struct value value = {.name = mem_str(json_key(m))};
        int status = read_value(vs, &value, m, err);
        /* Listed only now, so that a text can refer to earlier values alone: no circles. */
        vs->list = mem_grow(vs->list, &vs->cap, vs->n, sizeof *vs->list);
        vs->list[vs->n++] = value;
        if (status)
            return -1;
    }
    return 0;
}

void values_release(struct values *vs)
{
    for (size_t i = 0; i < vs->n; i++) {
        struct value *v = &vs->list[i];
        for (size_t w = 0; w < v->n_words; w++)
            free(v->words[w]);
        free(v->words);
        free(v->name);
        free(v->form);
        template_release(&v->text);
    }
    free(vs->list);
    *vs = (struct values){0};
}

long values_find(const struct values *vs, struct span name)
{
    for (size_t i = 0; vs && i < vs->n; i++)
        if (span_is(name, vs->list[i].name))
            return (long)i;
    return -1;
}

enum value_kind values_kind(const struct values *vs, size_t number)
{
    return vs->list[number].kind;
}

void values_names(const struct values *vs, struct buf *out)
{
    for (size_t i = 0; vs && i < vs->n; i++)
        buf_addf(out, ", %s", vs->list[i].name);
}
