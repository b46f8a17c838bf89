/* case_asked.c - a case's `asked` to a struct expect. One row per field; what the fields mean for a
 * verdict is the judge's. */
#include "case_asked.h"

#include <stdlib.h>
#include <string.h>

#include "casefile.h"
#include "mem.h"
#include "message.h"

/* Memory behind struct expect, freed as one list. */
struct owned {
    struct owned *next;
    void *memory;
};

static void *own(struct casefile *c, void *memory)
{
    struct owned *o = mem_zero(1, sizeof *o);
    o->memory = memory;
    o->next = c->owned;
    c->owned = o;
    return memory;
}

void case_asked_release(struct casefile *c)
{
    for (struct owned *o = c->owned, *next; o; o = next) {
        next = o->next;
        free(o->memory);
        free(o);
    }
    c->owned = NULL;
}

static const char *type_name(enum json_type type)
{
    static const char *const names[] = {"absent",   "null",     "a boolean", "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}

bool case_asked_absent(const struct json *v)
{
    return json_type(v) == JSON_ABSENT || json_type(v) == JSON_NULL;
}

static int wrong(struct err *err, const char *where, const char *key, enum json_type type)
{
    return err_set(err, STATUS_USAGE, "'%s%s%s' must be %s", where, where[0] && key[0] ? "." : "",
                   key, type_name(type));
}

int case_asked_get(const struct json *object, const char *where, const char *key,
                   enum json_type type, const struct json **out, struct err *err)
{
    *out = json_get(object, key);
    if (case_asked_absent(*out)) {
        *out = NULL;
        return 0;
    }
    return json_type(*out) == type ? 0 : wrong(err, where, key, type);
}

static char *owned_json(struct casefile *c, const struct json *v)
{
    struct buf text = BUF_INIT;
    json_print(v, &text);
    return own(c, buf_take(&text));
}

static int read_tool(struct casefile *c, struct span raw, size_t i, struct tool *t, struct err *err)
{
    const struct json *v = json_at(json_get(json_get(c->source, "asked"), "tools"), i);
    const struct json *function = json_get(v, "function");
    const struct json *name = json_get(function, "name");
    const struct json *parameters = json_get(function, "parameters");
    if (json_type(v) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "'asked.tools[%zu]' must be an object", i);
    if (json_type(name) != JSON_STRING)
        return err_set(err, STATUS_USAGE, "'asked.tools[%zu].function.name' must be a string", i);
    if (!case_asked_absent(parameters) && json_type(parameters) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE,
                       "'asked.tools[%zu].function.parameters' must be an object", i);
    struct span text = json_raw_at(raw, i);
    t->name = own(c, mem_str(json_text(name)));
    t->definition = text.len ? own(c, mem_copy(text.data, text.len)) : owned_json(c, v);
    t->parameters = case_asked_absent(parameters) ? NULL : owned_json(c, parameters);
    return 0;
}

static int ask_tools(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    size_t n = json_count(v);
    struct tool *tools = own(c, mem_zero(n, sizeof *tools));
    for (size_t i = 0; i < n; i++)
        if (read_tool(c, raw, i, &tools[i], err) < 0)
            return -1;
    c->expect.tools = tools;
    c->expect.n_tools = n;
    return 0;
}

static int ask_choice(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    (void)raw;
    const char *word = json_text(v);
    if (!word && !json_text(json_get(json_get(v, "function"), "name")))
        return err_set(err, STATUS_USAGE,
                       "'asked.tool_choice' must be a string, or an object with 'function.name'");
    c->expect.choice = !word                           ? CHOICE_NAMED
                       : strcmp(word, "auto") == 0     ? CHOICE_AUTO
                       : strcmp(word, "none") == 0     ? CHOICE_NONE
                       : strcmp(word, "required") == 0 ? CHOICE_REQUIRED
                                                       : CHOICE_NAMED;
    return 0;
}

static struct expect_literal *read_literals(struct casefile *c, const struct json *object)
{
    struct expect_literal *literals = own(c, mem_zero(json_count(object), sizeof *literals));
    size_t n = 0;
    for (const struct json *m = json_first(object); m; m = json_next(m), n++)
        literals[n] = (struct expect_literal){json_key(m), owned_json(c, m)};
    return literals;
}

/* One demanded call: a name; an object with `name` and the object `arguments`; or, if it has
 * neither, an object that is the arguments. */
static bool read_demand(struct casefile *c, const struct json *v, struct expect_call *call)
{
    const struct json *name = json_get(v, "name"), *args = json_get(v, "arguments");
    if (json_type(v) == JSON_STRING) {
        call->name = json_text(v);
        return true;
    }
    if (json_type(v) != JSON_OBJECT)
        return false;
    if (!name && !args)
        args = v;
    if ((!case_asked_absent(name) && json_type(name) != JSON_STRING) ||
        (!case_asked_absent(args) && json_type(args) != JSON_OBJECT))
        return false;
    call->name = json_text(name);
    call->literals = read_literals(c, args);
    call->n_literals = json_count(args);
    return true;
}

/* Calls demanded by name and arguments; `expect_args` are literals of the first one. */
static int ask_calls(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    (void)raw;
    enum json_type type = json_type(v);
    size_t n = type == JSON_NUMBER ? (size_t)json_long(v, 0) : json_count(v);
    if ((type != JSON_NUMBER && type != JSON_ARRAY) || json_long(v, 0) < 0 || n > 1000)
        return err_set(err, STATUS_USAGE,
                       "'asked.expect_calls' must be a number up to 1000 or an array");
    struct expect_call *calls = own(c, mem_zero(n + 1, sizeof *calls));
    for (size_t i = 0; type == JSON_ARRAY && i < n; i++)
        if (!read_demand(c, json_at(v, i), &calls[i]))
            return err_set(err, STATUS_USAGE,
                           "'asked.expect_calls[%zu]' must be a name, or an object with a string "
                           "'name' and an object 'arguments'",
                           i);
    c->expect.calls = calls;
    c->expect.n_calls = n;
    return 0;
}

static int ask_args(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    (void)raw;
    if (json_type(v) != JSON_OBJECT && json_type(v) != JSON_ARRAY)
        return err_set(err, STATUS_USAGE, "'asked.expect_args' must be an object or an array");
    size_t had = c->expect.n_calls, n = had ? had : 1;
    struct expect_call *calls = own(c, mem_zero(n, sizeof *calls));
    if (had)
        memcpy(calls, c->expect.calls, had * sizeof *calls);
    struct expect_literal *literals = read_literals(c, v);
    for (size_t i = 0; json_type(v) == JSON_ARRAY && i < json_count(v); i++)
        literals[i].key = NULL;
    calls[0].literals = literals;
    calls[0].n_literals = json_count(v);
    c->expect.calls = calls;
    c->expect.n_calls = n;
    return 0;
}

static int ask_foreign(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    (void)raw;
    size_t n = 0;
    const char **list = own(c, mem_zero(json_count(v), sizeof *list));
    for (const struct json *e = json_first(v); e; e = json_next(e), n++) {
        if (json_type(e) != JSON_STRING)
            return err_set(err, STATUS_USAGE, "'asked.foreign_canaries[%zu]' must be a string", n);
        list[n] = json_text(e);
    }
    c->expect.foreign_canaries = list;
    c->expect.n_foreign = n;
    return 0;
}

static int ask_previous(struct casefile *c, const struct json *v, struct span raw, struct err *err)
{
    (void)raw;
    size_t n = 0;
    struct expect_call *calls = own(c, mem_zero(json_count(v), sizeof *calls));
    const char **texts = own(c, mem_zero(json_count(v), sizeof *texts));
    for (const struct json *e = json_first(v); e; e = json_next(e), n++) {
        const struct json *args = json_get(e, "arguments");
        if (json_type(json_get(e, "name")) != JSON_STRING)
            return err_set(err, STATUS_USAGE, "'asked.previous_calls[%zu].name' must be a string",
                           n);
        calls[n].name = json_text(json_get(e, "name"));
        texts[n] = json_text(args)           ? json_text(args)
                   : case_asked_absent(args) ? "{}"
                                             : owned_json(c, args);
        if (json_type(args) == JSON_OBJECT) {
            calls[n].literals = read_literals(c, args);
            calls[n].n_literals = json_count(args);
        }
    }
    c->expect.previous = calls;
    c->expect.previous_args = texts;
    c->expect.n_previous = n;
    return 0;
}

/* One row per field under `asked`: plain ones are stored at `to`, others have a reader. Readers run
 * in the order of the rows, which ask_args relies on. */
struct asked_row {
    const char *key;
    enum json_type type; /* JSON_ABSENT: the reader checks it */
    size_t to;
    int (*read)(struct casefile *c, const struct json *v, struct span raw, struct err *err);
};
#define AT(member) offsetof(struct expect, member)
static const struct asked_row rows[] = {
    {"tools", JSON_ARRAY, 0, ask_tools},
    {"tool_choice", JSON_ABSENT, 0, ask_choice},
    {"tool_expected", JSON_BOOL, AT(call_due), NULL},
    {"calls_allowed", JSON_BOOL, AT(calls_allowed), NULL},
    {"expect_calls", JSON_ABSENT, 0, ask_calls},
    {"exact_calls", JSON_BOOL, AT(exact_calls), NULL},
    {"expect_args", JSON_ABSENT, 0, ask_args},
    {"expect_text", JSON_STRING, AT(final_text), NULL},
    {"own_canary", JSON_STRING, AT(own_canary), NULL},
    {"foreign_canaries", JSON_ARRAY, 0, ask_foreign},
    {"lang", JSON_STRING, AT(lang), NULL},
    {"lang_strict", JSON_BOOL, AT(lang_strict), NULL},
    {"prompt_mentions_markup", JSON_BOOL, AT(prompt_mentions_markup), NULL},
    {"args_may_contain_markup", JSON_BOOL, AT(args_may_contain_markup), NULL},
    {"repetitive_payload", JSON_BOOL, AT(repetitive_payload), NULL},
    {"previous_calls", JSON_ARRAY, 0, ask_previous},
    {"new_call_expected", JSON_BOOL, AT(new_call_expected), NULL},
    {"must_finish", JSON_BOOL, AT(must_finish), NULL},
    {"max_tokens", JSON_NUMBER, AT(max_tokens), NULL},
    {"prompt_tokens_estimate", JSON_NUMBER, AT(prompt_tokens_estimate), NULL},
    {"reasoning_parser", JSON_BOOL, AT(reasoning_parser), NULL},
};
#undef AT
#define N_ROWS (sizeof rows / sizeof rows[0])

static int check_keys(const struct json *asked, struct err *err)
{
    for (const struct json *m = json_first(asked); m; m = json_next(m)) {
        size_t i = 0;
        while (i < N_ROWS && strcmp(rows[i].key, json_key(m)) != 0)
            i++;
        if (i < N_ROWS)
            continue;
        struct buf known = BUF_INIT;
        for (i = 0; i < N_ROWS; i++)
            buf_addf(&known, "%s%s", i ? ", " : "", rows[i].key);
        err_set(err, STATUS_USAGE, "'asked.%s' is unknown; known are %s", json_key(m),
                buf_str(&known));
        buf_release(&known);
        return -1;
    }
    return 0;
}

static void store_plain(struct expect *e, const struct asked_row *row, const struct json *v)
{
    char *to = (char *)e + row->to;
    bool yes = json_bool(v, false);
    long number = json_long(v, 0);
    const char *text = json_text(v);
    if (row->type == JSON_BOOL)
        memcpy(to, &yes, sizeof yes);
    else if (row->type == JSON_NUMBER)
        memcpy(to, &number, sizeof number);
    else
        memcpy(to, &text, sizeof text);
}

int case_asked_read(struct casefile *c, struct span line, struct err *err)
{
    const struct json *asked;
    c->expect.reasoning_parser = c->expect.calls_allowed = true;
    if (case_asked_get(c->source, "", "asked", JSON_OBJECT, &asked, err) < 0 ||
        check_keys(asked, err) < 0)
        return -1;
    struct span raw = json_raw_get(line, "asked");
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct asked_row *row = &rows[i];
        const struct json *v = json_get(asked, row->key);
        if (case_asked_absent(v))
            continue;
        if (row->type != JSON_ABSENT && json_type(v) != row->type)
            return wrong(err, "asked", row->key, row->type);
        if (!row->read)
            store_plain(&c->expect, row, v);
        else if (row->read(c, v, json_raw_get(raw, row->key), err) < 0)
            return -1;
    }
    if (c->expect.choice == CHOICE_NONE)
        c->expect.calls_allowed = false;
    return 0;
}
