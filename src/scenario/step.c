/* step.c - reads what each round must bring. Arguments and JSON results are taken from the file's
 * text, not from its tree, so that every byte of them stays as the user wrote it. */
#include "step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "message.h"
#include "script.h"

#define STEPS_MAX     1000
#define CALLS_MAX     128
#define ARGUMENTS_MAX 256

static int unknown_tool(const struct script *s, const char *path, const char *name, struct err *err)
{
    struct buf known = BUF_INIT;
    for (size_t i = 0; i < s->n_tools; i++)
        buf_addf(&known, "%s%s", i ? ", " : "", s->tools[i].name);
    err_set(err, STATUS_USAGE, "'%s.tool' names no offered tool '%.80s' (known: %.400s)", path,
            name ? name : "", buf_str(&known));
    buf_release(&known);
    return -1;
}

static int read_arguments(struct script *s, struct script_call *call, struct span raw,
                          const struct json *tree, const char *path, struct err *err)
{
    struct template_scope scope = {.values = s->values};
    bool demanded = strstr(path, ".also") == NULL;
    for (const struct json *m = json_first(tree); m; m = json_next(m)) {
        char place[300];
        snprintf(place, sizeof place, "%.200s.%.80s", path, json_key(m));
        for (size_t i = 0; i < call->n_arguments; i++)
            if (strcmp(call->arguments[i].name, json_key(m)) == 0)
                return err_set(err, STATUS_USAGE, "'%s' is given twice", place);
        struct script_argument *a = &call->arguments[call->n_arguments++];
        *a = (struct script_argument){.name = mem_str(json_key(m)), .demanded = demanded};
        struct span value = json_raw_get(raw, json_key(m));
        if (!value.len)
            return err_set(err, STATUS_USAGE, "'%s' has escapes in its name", place);
        if (template_read_json(&a->json, value, &scope, place, err))
            return -1;
    }
    return 0;
}

/* "NAME" as text or "NAME_json" as bytes of the file. 1 if one was there. */
static int read_result(struct script *s, struct template *t, struct span raw,
                       const struct json *tree, const char *place, struct err *err)
{
    struct template_scope scope = {.values = s->values};
    char json_name[80];
    const char *name = strrchr(place, '.') + 1;
    snprintf(json_name, sizeof json_name, "%.60s_json", name);
    struct span bytes = json_raw_get(raw, json_name);
    const struct json *plain = json_get(tree, name);
    if (bytes.len && plain)
        return err_set(err, STATUS_USAGE, "'%s' and '%s_json' exclude each other", place, place);
    if (bytes.len)
        return template_read_json(t, bytes, &scope, place, err) ? -1 : 1;
    if (template_read(t, plain, &scope, place, err))
        return -1;
    return plain != NULL;
}

static int read_call(struct script *s, struct script_call *call, struct span raw,
                     const struct json *tree, const char *path, struct err *err)
{
    char place[200];
    const char *name = json_text(json_get(tree, "tool"));
    while (call->tool < s->n_tools && (!name || strcmp(s->tools[call->tool].name, name) != 0))
        call->tool++;
    if (call->tool == s->n_tools)
        return unknown_tool(s, path, name, err);
    const struct json *arguments = json_get(tree, "arguments"), *also = json_get(tree, "also");
    if (json_count(arguments) > ARGUMENTS_MAX || json_count(also) > ARGUMENTS_MAX)
        return err_set(err, STATUS_USAGE, "'%s' has more than %d arguments", path, ARGUMENTS_MAX);
    call->arguments =
        mem_zero(json_count(arguments) + json_count(also) + 1, sizeof *call->arguments);
    snprintf(place, sizeof place, "%.150s.arguments", path);
    if (read_arguments(s, call, json_raw_get(raw, "arguments"), arguments, place, err))
        return -1;
    snprintf(place, sizeof place, "%.150s.also", path);
    if (read_arguments(s, call, json_raw_get(raw, "also"), also, place, err))
        return -1;
    snprintf(place, sizeof place, "%.150s.result", path);
    int status = read_result(s, &call->result, raw, tree, place, err);
    if (status < 0)
        return -1;
    call->has_result = status > 0;
    snprintf(place, sizeof place, "%.150s.last_result", path);
    status = read_result(s, &call->last_result, raw, tree, place, err);
    call->has_last_result = status > 0;
    return status < 0 ? -1 : 0;
}

static int read_calls(struct script *s, struct script_step *step, struct span raw,
                      const struct json *list, const char *path, struct err *err)
{
    size_t n = json_count(list);
    if (n < 1 || n > CALLS_MAX)
        return err_set(err, STATUS_USAGE, "'%s.calls' must hold 1 to %d calls", path, CALLS_MAX);
    step->calls = mem_zero(n + 1, sizeof *step->calls);
    for (size_t i = 0; i < n; i++) {
        char place[160];
        snprintf(place, sizeof place, "%.100s.calls[%zu]", path, i);
        step->n_calls++;
        if (read_call(s, &step->calls[i], json_raw_at(raw, i), json_at(list, i), place, err))
            return -1;
    }
    return 0;
}

static int read_answer(struct script *s, struct script_step *step, const struct json *answer,
                       const char *path, struct err *err)
{
    char place[100];
    struct template_scope scope = {.values = s->values};
    const struct json *text = json_get(answer, "text");
    snprintf(place, sizeof place, "%.60s.answer.holds", path);
    if (template_read(&step->holds, json_get(answer, "holds"), &scope, place, err))
        return -1;
    snprintf(place, sizeof place, "%.60s.answer.text", path);
    return template_read(&step->say, text ? text : json_get(answer, "holds"), &scope, place, err);
}

static int read_step(struct script *s, struct span raw, const struct json *tree, struct err *err)
{
    char path[60], place[100];
    struct template_scope scope = {.values = s->values};
    size_t number = s->n_steps++;
    struct script_step *step = &s->steps[number];
    const struct json *calls = json_get(tree, "calls"), *answer = json_get(tree, "answer");
    snprintf(path, sizeof path, "steps[%zu]", number);
    if (!calls == !answer)
        return err_set(err, STATUS_USAGE, "'%s' must have either 'calls' or 'answer'", path);
    step->exact = json_bool(json_get(tree, "exact"), false);
    step->repeat = json_bool(json_get(tree, "repeat"), false);
    step->has_user = json_get(tree, "user") != NULL;
    if (answer && (json_get(tree, "say") || json_get(tree, "exact")))
        return err_set(err, STATUS_USAGE,
                       "'%s' has 'say' or 'exact', which belong to calls, beside "
                       "'answer'",
                       path);
    snprintf(place, sizeof place, "%s.user", path);
    if (step->has_user && number == 0)
        return err_set(err, STATUS_USAGE,
                       "'%s' must not be there: the first round's text is "
                       "the file's 'user'",
                       place);
    if (template_read(&step->user, json_get(tree, "user"), &scope, place, err))
        return -1;
    if (answer)
        return read_answer(s, step, answer, path, err);
    snprintf(place, sizeof place, "%s.say", path);
    if (template_read(&step->say, json_get(tree, "say"), &scope, place, err))
        return -1;
    return read_calls(s, step, json_raw_get(raw, "calls"), calls, path, err);
}

/* Nobody hears what a tool says to the last call. */
static int check_results(const struct script *s, size_t i, struct err *err)
{
    const struct script_step *step = &s->steps[i];
    for (size_t c = 0; c < step->n_calls && (i + 1 < s->n_steps || step->repeat); c++)
        if (!step->calls[c].has_result)
            return err_set(err, STATUS_USAGE, "'steps[%zu].calls[%zu].result' is missing", i, c);
    return 0;
}

/* After an answer somebody must speak, or the next request would end with the assistant's words. */
static int check_order(struct script *s, struct err *err)
{
    s->repeat = s->n_steps;
    for (size_t i = 0; i < s->n_steps; i++) {
        const struct script_step *step = &s->steps[i];
        if (step->repeat && s->repeat < i)
            return err_set(err, STATUS_USAGE,
                           "'steps[%zu].repeat' is the second one: only one step "
                           "can fill up the rounds",
                           i);
        if (step->repeat)
            s->repeat = i;
        if (!step->n_calls && step->repeat && !step->has_user)
            return err_set(err, STATUS_USAGE,
                           "'steps[%zu].user' is missing: a repeated answer needs "
                           "a message before it",
                           i);
        if (i && !s->steps[i - 1].n_calls && !step->has_user)
            return err_set(err, STATUS_USAGE,
                           "'steps[%zu].user' is missing: after an answer the "
                           "user must speak",
                           i);
        if (check_results(s, i, err))
            return -1;
    }
    return 0;
}

int step_read_all(struct script *s, struct span raw, const struct json *list, struct err *err)
{
    size_t n = json_count(list);
    if (n < 1 || n > STEPS_MAX)
        return err_set(err, STATUS_USAGE, "'steps' must hold 1 to %d steps", STEPS_MAX);
    s->steps = mem_zero(n, sizeof *s->steps);
    for (size_t i = 0; i < n; i++)
        if (read_step(s, json_raw_at(raw, i), json_at(list, i), err))
            return -1;
    return check_order(s, err);
}

static void release_call(struct script_call *call)
{
    for (size_t i = 0; i < call->n_arguments; i++) {
        free(call->arguments[i].name);
        template_release(&call->arguments[i].json);
    }
    free(call->arguments);
    template_release(&call->result);
    template_release(&call->last_result);
}

void step_release_all(struct script *s)
{
    for (size_t i = 0; i < s->n_steps; i++) {
        struct script_step *step = &s->steps[i];
        for (size_t c = 0; c < step->n_calls; c++)
            release_call(&step->calls[c]);
        free(step->calls);
        template_release(&step->user);
        template_release(&step->say);
        template_release(&step->holds);
    }
    free(s->steps);
    s->steps = NULL;
    s->n_steps = 0;
}
