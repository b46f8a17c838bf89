/* selfcheck.c - known-bad and known-good replies through the live judge, before anything is
 * believed: one reply for each detector that is not about markup, and examples of rules files. With
 * rules of the user's own those of every file; without, the program's tests have tried all, and one
 * file stands for the rest. */
#include <stdio.h>
#include <string.h>

#include "embed.h"
#include "exam.h"
#include "expect.h"
#include "json.h"
#include "message.h"
#include "reply.h"

static char tool_name[] = "get_weather";
static char tool_parameters[] =
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":"
    "\"integer\"}},\"required\":[\"city\"],\"additionalProperties\":false}";
static const struct tool tool = {.name = tool_name, .parameters = tool_parameters};

/* One reply with at most one call. */
struct fixture {
    const char *what, *content, *name, *args;
    bool due;
    enum reason want;
};

static const struct fixture fixtures[] = {
    {"a right call", "", "get_weather", "{\"city\":\"Oslo\",\"days\":3}", true, REASON_done},
    {"a right text", "It rains in Oslo.", NULL, NULL, false, REASON_done},
    {"no call", "I shall look.", NULL, NULL, true, REASON_prose},
    {"nothing", "", NULL, NULL, true, REASON_empty},
    {"an unknown name", "", "get_wether", "{}", true, REASON_call_name},
    {"no name", "", "", "{}", true, REASON_call_name},
    {"cut arguments", "", "get_weather", "{\"city\":\"Os", true, REASON_call_json},
    {"two objects", "", "get_weather", "{\"city\":\"a\"}{\"city\":\"b\"}", true, REASON_call_json},
    {"a raw newline", "", "get_weather", "{\"city\":\"a\nb\"}", true, REASON_call_json},
    {"a missing parameter", "", "get_weather", "{}", true, REASON_call_schema},
    {"a wrong type", "", "get_weather", "{\"city\":7}", true, REASON_call_schema},
    {"an unknown key", "", "get_weather", "{\"city\":\"a\",\"x\":1}", true, REASON_call_schema},
    {"an altered literal", "", "get_weather", "{\"city\":\"Osol\"}", true, REASON_value},
    {"a foreign canary", "I think of GNU-4471.", NULL, NULL, false, REASON_foreign},
    {"a lost character", "It rains in O\xEF\xBF\xBDlo.", NULL, NULL, false, REASON_utf8},
    {"a foreign script", "It rains in \xD0\x9E\xD1\x81\xD0\xBB\xD0\xBE.", NULL, NULL, false,
     REASON_soup},
    {"a control byte", "It rains\x03.", NULL, NULL, false, REASON_soup},
};

static void fill(const struct fixture *f, struct reply *r)
{
    reply_init(r);
    r->status = 200;
    r->done = r->has_choice = true;
    buf_adds(&r->content, f->content);
    snprintf(r->finish, sizeof r->finish, "%s", f->name ? "tool_calls" : "stop");
    if (!f->name)
        return;
    struct tool_call *call = reply_add_call(r);
    buf_adds(&call->id, "call_1");
    buf_adds(&call->name, f->name);
    buf_adds(&call->args, f->args);
}

static int check(const struct judge *j, const struct toolset *t, const struct fixture *f,
                 const char *source, struct err *err)
{
    static const struct expect_literal oslo = {"city", "\"Oslo\""};
    static const struct expect_call demand = {"get_weather", &oslo, 1};
    static const char *const foreign[] = {"GNU-4471"};
    struct expect e = {.tools = &tool,
                       .n_tools = 1,
                       .call_due = f->due,
                       .calls_allowed = true,
                       .foreign_canaries = foreign,
                       .n_foreign = 1,
                       .lang = source ? NULL : "en",
                       .lang_strict = !source};
    if (f->want == REASON_value || f->want == REASON_done) {
        e.calls = &demand;
        e.n_calls = f->name ? 1 : 0;
    }
    struct reply r;
    struct verdict v = {0};
    fill(f, &r);
    judge_reply(j, t, &e, &r, &v);
    bool right = source ? (v.class == CLASS_LEAK) == (f->want != REASON_done) : v.reason == f->want;
    if (!right)
        err_set(err, STATUS_UNDECIDED, "detector self-check failed: %s%s'%.80s' is judged %s",
                source ? source : "", source ? ": " : "", source ? f->content : f->what,
                reason_name(v.reason));
    verdict_release(&v);
    reply_release(&r);
    return right ? 0 : -1;
}

static int check_texts(const struct judge *j, const struct toolset *t, const struct json *list,
                       enum reason want, const char *source, struct err *err)
{
    for (const struct json *text = json_first(list); text; text = json_next(text)) {
        struct fixture f = {.content = json_text(text), .want = want};
        if (check(j, t, &f, source, err) < 0)
            return -1;
    }
    return 0;
}

static int check_rules(const struct judge *j, const struct toolset *t, const struct json *v,
                       const char *source, struct err *err)
{
    if (json_type(v) == JSON_ARRAY) {
        for (const struct json *e = json_first(v); e; e = json_next(e))
            if (check_rules(j, t, e, source, err) < 0)
                return -1;
        return 0;
    }
    if (check_texts(j, t, json_get(v, "leaks"), REASON_markup, source, err) < 0)
        return -1;
    return check_texts(j, t, json_get(v, "clean"), REASON_done, source, err);
}

static int check_file(const struct judge *j, const struct toolset *t, struct span text,
                      const char *source, struct err *err)
{
    struct json *v = json_parse(text, err);
    int rc = v ? check_rules(j, t, v, source, err) : -1;
    json_free(v);
    return rc;
}

/* Its examples need few patterns, which are costly to compile, and all that finds and weighs. */
#define QUICK_FILE "schemas/markup/rules-special.json"

static int check_all(const struct judge *j, const struct toolset *t, bool every_file,
                     struct err *err)
{
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++)
        if (check(j, t, &fixtures[i], NULL, err) < 0)
            return -1;
    const struct embedded *e =
        every_file ? embed_next("schemas/markup/", NULL) : embed_find(QUICK_FILE);
    if (!e)
        return err_set(err, STATUS_TOOL, "the examples of markup rules are not in the program");
    for (; e; e = every_file ? embed_next("schemas/markup/", e) : NULL)
        if (check_file(j, t, (struct span){e->data, e->len}, e->path, err) < 0)
            return -1;
    return j->more ? check_file(j, t, span_of(j->more), "further rules", err) : 0;
}

static int self_check(const struct judge *j, bool every_file, struct err *err)
{
    struct judge plain = *j; /* at the default level, whatever the run's */
    plain.strict = false;
    struct toolset *t = toolset_new(&plain, &tool, 1, err);
    if (!t)
        return -1;
    int rc = check_all(&plain, t, every_file, err);
    toolset_free(t);
    return rc;
}

int judge_self_check(const struct judge *j, struct err *err)
{
    return self_check(j, j->more != NULL, err);
}

int judge_full_check(const struct judge *j, struct err *err)
{
    return self_check(j, true, err);
}
