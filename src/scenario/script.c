/* script.c - reads a scenario file's tree and checks its sense: names that exist, texts that can be
 * filled in. That the tree has the right shape is the schema's business (scenario.c). */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "estimate.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "step.h"
#include "value.h"
#include "vocab.h"

#define TOOLS_MAX  1000
#define PLANTS_MAX 1000

static int read_tool(struct tool *tool, struct span raw, const struct json *v, size_t i,
                     struct err *err)
{
    struct span function = json_raw_get(raw, "function");
    struct span parameters = json_raw_get(function, "parameters");
    const char *name = json_text(json_get(json_get(v, "function"), "name"));
    if (!name || !*name)
        return err_set(err, STATUS_USAGE, "'tools[%zu].function.name' is missing", i);
    tool->name = mem_str(name);
    tool->definition = mem_copy(raw.data, raw.len);
    tool->parameters = parameters.len ? mem_copy(parameters.data, parameters.len) : NULL;
    return 0;
}

static int read_tools(struct script *s, struct span raw, const struct json *list, struct err *err)
{
    size_t n = json_count(list);
    if (n > TOOLS_MAX)
        return err_set(err, STATUS_USAGE, "'tools' holds more than %d", TOOLS_MAX);
    s->tools_json = raw.len ? mem_copy(raw.data, raw.len) : mem_str("[]");
    s->tools = mem_zero(n + 1, sizeof *s->tools);
    for (size_t i = 0; i < n; i++) {
        s->n_tools++;
        if (read_tool(&s->tools[i], json_raw_at(raw, i), json_at(list, i), i, err))
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->tools[k].name, s->tools[i].name) == 0)
                return err_set(err, STATUS_USAGE, "'tools[%zu].function.name' is '%.80s' once more",
                               i, s->tools[i].name);
    }
    return 0;
}

static int read_shipped_vocab(struct script *s, const char *name, struct err *err)
{
    char path[200];
    snprintf(path, sizeof path, "scenarios/context/%.100s.json", name);
    const struct embedded *file = embed_find(path);
    if (!file) {
        struct buf known = BUF_INIT;
        for (const struct embedded *f = NULL; (f = embed_next("scenarios/context/", f));)
            buf_addf(&known, "%s%s", known.len ? ", " : "", f->name);
        err_set(err, STATUS_USAGE, "'context.vocabulary' names no vocabulary '%.80s' (known: %s)",
                name, buf_str(&known));
        buf_release(&known);
        return -1;
    }
    struct json *tree = json_parse((struct span){file->data, file->len}, err);
    int status = tree ? vocab_read(s->vocab, tree, path, err) : -1;
    json_free(tree);
    return status;
}

static int read_plant(struct script *s, const struct json *v, const struct template_scope *scope,
                      struct err *err)
{
    char path[80];
    struct script_plant *plant = &s->plants[s->n_plants++];
    const struct json *line = json_type(v) == JSON_OBJECT ? json_get(v, "line") : v;
    snprintf(path, sizeof path, "context.plant[%zu]%s", s->n_plants - 1, line == v ? "" : ".line");
    plant->at = json_double(json_get(v, "at"), -1);
    if (json_text(line) && strchr(json_text(line), '\n'))
        return err_set(err, STATUS_USAGE, "'%s' must be one line", path);
    return template_read(&plant->line, line, scope, path, err);
}

static int read_context(struct script *s, const struct json *v, struct err *err)
{
    struct template_scope scope = {.values = s->values};
    const struct json *vocab = json_get(v, "vocabulary"), *plants = json_get(v, "plant");
    int status = 0;
    if (json_text(vocab))
        status = read_shipped_vocab(s, json_text(vocab), err);
    else if (vocab)
        status = vocab_read(s->vocab, vocab, "context.vocabulary", err);
    if (status)
        return status;
    s->has_vocab = vocab != NULL;
    s->shared_context = json_bool(json_get(v, "shared"), false);
    if (json_count(plants) > PLANTS_MAX)
        return err_set(err, STATUS_USAGE, "'context.plant' holds more than %d", PLANTS_MAX);
    s->plants = mem_zero(json_count(plants) + 1, sizeof *s->plants);
    for (const struct json *e = json_first(plants); e; e = json_next(e))
        if (read_plant(s, e, &scope, err))
            return -1;
    return 0;
}

static int read_texts(struct script *s, const struct json *tree, struct err *err)
{
    struct template_scope scope = {.values = s->values, .context = true};
    const struct json *wrong = json_get(tree, "wrong_call");
    const struct json *missing = json_get(tree, "missing_call");
    s->has_system = json_get(tree, "system") != NULL;
    if (template_read(&s->system, json_get(tree, "system"), &scope, "system", err) ||
        template_read(&s->user, json_get(tree, "user"), &scope, "user", err))
        return -1;
    scope.context = false;
    if (template_read(&s->wrong_call, wrong, &scope, "wrong_call", err) ||
        template_read(&s->missing_call, missing, &scope, "missing_call", err))
        return -1;
    if (!wrong &&
        template_add(&s->wrong_call, span_of("{\"error\": \"nothing is known about this\"}"),
                     &scope, "wrong_call", err))
        return -1;
    if (!missing && template_add(&s->missing_call, span_of("Please go on with the task."), &scope,
                                 "missing_call", err))
        return -1;
    return 0;
}

static void read_head(struct script *s, const struct json *tree)
{
    s->name = mem_str(json_text(json_get(tree, "name")));
    s->about = mem_str(json_text(json_get(tree, "about")));
    s->language = mem_str(json_text(json_get(tree, "language")));
    s->language_strict = json_bool(json_get(tree, "language_strict"), false);
    s->mentions_markup = json_bool(json_get(tree, "prompt_mentions_markup"), false);
    s->args_markup = json_bool(json_get(tree, "args_may_contain_markup"), false);
    s->repetitive = json_bool(json_get(tree, "repetitive_payload"), false);
    s->rounds = (int)json_long(json_get(tree, "rounds"), 0);
}

static size_t context_uses(const struct template *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->pieces[i].kind == PIECE_CONTEXT;
    return n;
}

static int check_context_use(const struct script *s, bool given, struct err *err)
{
    size_t uses = context_uses(&s->system) + context_uses(&s->user);
    if (uses > 1)
        return err_set(err, STATUS_USAGE, "'user' uses {{context}} a second time");
    if (uses && !given)
        return err_set(err, STATUS_USAGE, "'context' is missing although {{context}} is used");
    if (!uses && given)
        return err_set(err, STATUS_USAGE, "'context' is given, but {{context}} is used nowhere");
    return 0;
}

int script_read(struct script *s, struct span text, const struct json *tree, struct err *err)
{
    s->values = mem_zero(1, sizeof *s->values);
    s->vocab = mem_zero(1, sizeof *s->vocab);
    read_head(s, tree);
    if (!s->name || !*s->name)
        return err_set(err, STATUS_USAGE, "'name' is missing");
    if (values_read(s->values, json_get(tree, "values"), err) || read_texts(s, tree, err) ||
        read_context(s, json_get(tree, "context"), err) ||
        check_context_use(s, json_get(tree, "context") != NULL, err) ||
        read_tools(s, json_raw_get(text, "tools"), json_get(tree, "tools"), err))
        return -1;
    struct span history = json_raw_get(text, "history");
    bool has = json_count(json_get(tree, "history")) > 0;
    s->history = has ? mem_copy(history.data + 1, history.len - 2) : mem_str("");
    s->fixed_tokens =
        estimate_tokens(span_of(s->tools_json)) + estimate_tokens(span_of(s->history));
    return step_read_all(s, json_raw_get(text, "steps"), json_get(tree, "steps"), err);
}

void script_release(struct script *s)
{
    free(s->name);
    free(s->about);
    free(s->language);
    if (s->values)
        values_release(s->values);
    free(s->values);
    template_release(&s->system);
    template_release(&s->user);
    template_release(&s->wrong_call);
    template_release(&s->missing_call);
    if (s->vocab)
        vocab_release(s->vocab);
    free(s->vocab);
    for (size_t i = 0; i < s->n_plants; i++)
        template_release(&s->plants[i].line);
    free(s->plants);
    for (size_t i = 0; i < s->n_tools; i++)
        tool_release(&s->tools[i]);
    free(s->tools);
    free(s->tools_json);
    free(s->history);
    step_release_all(s);
    *s = (struct script){0};
}

int script_length(const struct script *s, int rounds, int *repeats)
{
    int n = (int)s->n_steps;
    *repeats = s->repeat < s->n_steps && rounds > n ? rounds - n + 1 : 1;
    return n + *repeats - 1;
}
