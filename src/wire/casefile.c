/* casefile.c - a labelled case to the reply and the expectation that a run would have had. Raw
 * bodies go through the same decoder; nothing is judged here. */
#include "casefile.h"

#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "utf8.h"

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

void casefile_release(struct casefile *c)
{
    for (size_t i = 0; i < c->n_want_reasons; i++)
        free(c->want_reasons[i]);
    free(c->want_reasons);
    free(c->want_class);
    free(c->id);
    reply_release(&c->reply);
    json_free(c->source);
    for (struct owned *o = c->owned, *next; o; o = next) {
        next = o->next;
        free(o->memory);
        free(o);
    }
    *c = (struct casefile){0};
}

static const char *type_name(enum json_type type)
{
    static const char *const names[] = {"absent",   "null",     "a boolean", "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}

static bool absent(const struct json *v)
{
    return json_type(v) == JSON_ABSENT || json_type(v) == JSON_NULL;
}

static int wrong(struct err *err, const char *where, const char *key, enum json_type type)
{
    return err_set(err, STATUS_USAGE, "'%s%s%s' must be %s", where, where[0] && key[0] ? "." : "",
                   key, type_name(type));
}

/* The member `key` of `object` if it has the right type; NULL if absent or null; else an error. */
static int get(const struct json *object, const char *where, const char *key, enum json_type type,
               const struct json **out, struct err *err)
{
    *out = json_get(object, key);
    if (absent(*out)) {
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

/* --- asked --- */

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
    if (!absent(parameters) && json_type(parameters) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE,
                       "'asked.tools[%zu].function.parameters' must be an object", i);
    struct span text = json_raw_at(raw, i);
    t->name = own(c, mem_str(json_text(name)));
    t->definition = text.len ? own(c, mem_copy(text.data, text.len)) : owned_json(c, v);
    t->parameters = absent(parameters) ? NULL : owned_json(c, parameters);
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
    for (size_t i = 0; type == JSON_ARRAY && i < n; i++) {
        const struct json *call = json_at(v, i), *args = json_get(call, "arguments");
        bool right = json_type(call) == JSON_STRING || json_type(call) == JSON_OBJECT;
        if (!right || (!absent(args) && json_type(args) != JSON_OBJECT))
            return err_set(err, STATUS_USAGE,
                           "'asked.expect_calls[%zu]' must be a name, or an object with 'name' "
                           "and an object 'arguments'",
                           i);
        const char *name = json_text(call);
        calls[i].name = name ? name : json_text(json_get(call, "name"));
        calls[i].literals = read_literals(c, args);
        calls[i].n_literals = json_count(args);
    }
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
        texts[n] = json_text(args) ? json_text(args) : absent(args) ? "{}" : owned_json(c, args);
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

static int read_asked(struct casefile *c, struct span line, struct err *err)
{
    const struct json *asked;
    c->expect.reasoning_parser = true;
    if (get(c->source, "", "asked", JSON_OBJECT, &asked, err) < 0 || check_keys(asked, err) < 0)
        return -1;
    struct span raw = json_raw_get(line, "asked");
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct asked_row *row = &rows[i];
        const struct json *v = json_get(asked, row->key);
        if (absent(v))
            continue;
        if (row->type != JSON_ABSENT && json_type(v) != row->type)
            return wrong(err, "asked", row->key, row->type);
        if (!row->read)
            store_plain(&c->expect, row, v);
        else if (row->read(c, v, json_raw_get(raw, row->key), err) < 0)
            return -1;
    }
    c->expect.calls_allowed = c->expect.choice != CHOICE_NONE;
    return 0;
}

/* --- the reply --- */

static const struct end_word {
    const char *word;
    enum exchange_end end;
} end_words[] = {
    {"clean", END_CLEAN},       {"reset", END_CUT},       {"idle_timeout", END_STALL_IDLE},
    {"timeout", END_TIMEOUT},   {"connect", END_CONNECT}, {"tls", END_TLS},
    {"protocol", END_PROTOCOL},
};

static int read_end(struct casefile *c, const struct json *transport, bool any_byte,
                    struct err *err)
{
    struct reply *r = &c->reply;
    const struct json *v;
    if (get(transport, "transport", "end", JSON_STRING, &v, err) < 0)
        return -1;
    const char *word = v ? json_text(v) : "clean";
    size_t i = 0, n = sizeof end_words / sizeof end_words[0];
    while (i < n && strcmp(end_words[i].word, word) != 0)
        i++;
    if (i == n)
        return err_set(err, STATUS_USAGE,
                       "'transport.end' is '%s'; known are clean, reset, idle_timeout, timeout, "
                       "connect, tls, protocol",
                       word);
    r->end = end_words[i].end;
    if (r->end == END_STALL_IDLE && !any_byte)
        r->end = END_STALL_FIRST;
    /* what http.c makes of it when the repeat on a fresh connection meets the same */
    if (r->end == END_CUT && !any_byte && !r->status)
        r->end = END_CONNECT;
    return 0;
}

static int read_transport(struct casefile *c, bool any_byte, const char **content_type,
                          struct err *err)
{
    static const char *const known[] = {"status", "content_type", "end", "reused"};
    const struct json *transport, *v;
    if (get(c->source, "", "transport", JSON_OBJECT, &transport, err) < 0)
        return -1;
    for (const struct json *m = json_first(transport); m; m = json_next(m)) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found = found || strcmp(known[i], json_key(m)) == 0;
        if (!found)
            return err_set(err, STATUS_USAGE,
                           "'transport.%s' is unknown; known are status, content_type, end, reused",
                           json_key(m));
    }
    if (get(transport, "transport", "status", JSON_NUMBER, &v, err) < 0)
        return -1;
    c->reply.status = v ? (int)json_long(v, 200) : 200;
    if (get(transport, "transport", "reused", JSON_BOOL, &v, err) < 0)
        return -1;
    c->reply.reused = json_bool(v, false);
    if (get(transport, "transport", "content_type", JSON_STRING, &v, err) < 0)
        return -1;
    *content_type = json_text(v);
    return read_end(c, transport, any_byte, err);
}

static int read_response(struct casefile *c, const struct json *v, size_t chunk, struct err *err)
{
    struct reply *r = &c->reply;
    const char *content_type = NULL;
    utf8_add_loose(&r->raw, json_span(v));
    if (read_transport(c, r->raw.len > 0, &content_type, err) < 0)
        return -1;
    struct wire_caps caps = endpoint_default_caps();
    struct decoder *d = decoder_new(dialect_default(), &caps, r);
    decoder_start(d, r->status, content_type);
    for (size_t at = 0, n; at < r->raw.len; at += n) {
        n = chunk && chunk < r->raw.len - at ? chunk : r->raw.len - at;
        if (decoder_feed(d, r->raw.data + at, n, 0) < 0)
            break;
    }
    decoder_end(d);
    decoder_free(d);
    return 0;
}

static int add_text(const struct json *object, const char *where, const char *key, struct buf *out,
                    struct err *err)
{
    const struct json *v;
    if (get(object, where, key, JSON_STRING, &v, err) < 0)
        return -1;
    utf8_add_loose(out, json_span(v));
    return 0;
}

static int read_call(const struct json *v, size_t i, struct tool_call *call, struct err *err)
{
    char *where = mem_printf("reply.tool_calls[%zu]", i);
    const struct json *function = json_get(v, "function"), *args;
    function = function ? function : v;
    args = json_get(function, "arguments");
    int rc = -1;
    if (json_type(v) != JSON_OBJECT)
        err_set(err, STATUS_USAGE, "'%s' must be an object", where);
    else if (add_text(v, where, "id", &call->id, err) == 0 &&
             add_text(function, where, "name", &call->name, err) == 0)
        rc = 0;
    if (json_type(args) == JSON_OBJECT)
        json_print(args, &call->args);
    else if (rc == 0)
        rc = add_text(function, where, "arguments", &call->args, err);
    call->index = json_long(json_get(v, "index"), -1);
    free(where);
    return rc;
}

static int read_reply(struct casefile *c, const struct json *reply, struct err *err)
{
    struct reply *r = &c->reply;
    const struct json *calls, *v;
    const char *content_type = NULL;
    if (read_transport(c, true, &content_type, err) < 0 ||
        add_text(reply, "reply", "content", &r->content, err) < 0 ||
        add_text(reply, "reply", "reasoning", &r->reasoning, err) < 0 ||
        get(reply, "reply", "tool_calls", JSON_ARRAY, &calls, err) < 0 ||
        get(reply, "reply", "finish_reason", JSON_STRING, &v, err) < 0)
        return -1;
    size_t i = 0;
    for (const struct json *call = json_first(calls); call; call = json_next(call), i++)
        if (read_call(call, i, reply_add_call(r), err) < 0)
            return -1;
    bool said = json_get(reply, "finish_reason");
    struct span finish = said ? json_span(v) : span_of(r->n_calls ? "tool_calls" : "stop");
    size_t n = finish.len < sizeof r->finish - 1 ? finish.len : sizeof r->finish - 1;
    memcpy(r->finish, finish.data, n);
    r->usage.completion_tokens =
        json_long(json_get(json_get(reply, "usage"), "completion_tokens"), -1);
    r->usage.prompt_tokens = json_long(json_get(json_get(reply, "usage"), "prompt_tokens"), -1);
    r->has_choice = r->done = true;
    return 0;
}

/* --- what the verdict should be --- */

static int read_reasons(struct casefile *c, const struct json *v, struct err *err)
{
    size_t n = json_type(v) == JSON_ARRAY ? json_count(v) : 1;
    c->want_reasons = mem_zero(n, sizeof *c->want_reasons);
    for (size_t i = 0; i < n; i++) {
        const char *word = json_text(json_type(v) == JSON_ARRAY ? json_at(v, i) : v);
        if (!word || reason_find(word) < 0)
            return err_set(err, STATUS_USAGE, "'expect.reason[%zu]' is no known reason", i);
        c->want_reasons[c->n_want_reasons++] = mem_str(word);
    }
    return 0;
}

static int read_expectation(struct casefile *c, struct err *err)
{
    const struct json *expect, *v;
    if (get(c->source, "", "expect", JSON_OBJECT, &expect, err) < 0)
        return -1;
    if (!expect)
        return 0;
    if (get(expect, "expect", "class", JSON_STRING, &v, err) < 0)
        return -1;
    const char *word = json_text(v);
    bool known = false;
    for (int i = 0; word && i < N_CLASSES; i++)
        known = known || strcmp(class_name((enum verdict_class)i), word) == 0;
    if (!known)
        return err_set(err, STATUS_USAGE, "'expect.class' must be one of leak, error, no_tool, ok");
    c->has_expectation = true;
    c->want_class = mem_str(word);
    const struct json *reasons = json_get(expect, "reason");
    return absent(reasons) ? 0 : read_reasons(c, reasons, err);
}

static int read_case(struct span line, size_t chunk, struct casefile *c, struct err *err)
{
    const struct json *id, *response, *reply, *stream;
    c->source = json_parse(line, err);
    if (!c->source)
        return -1;
    if (json_type(c->source) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "a case must be an object");
    if (get(c->source, "", "id", JSON_STRING, &id, err) < 0 ||
        get(c->source, "", "response", JSON_STRING, &response, err) < 0 ||
        get(c->source, "", "reply", JSON_OBJECT, &reply, err) < 0 ||
        get(c->source, "", "stream", JSON_BOOL, &stream, err) < 0)
        return -1;
    if (!id)
        return err_set(err, STATUS_USAGE, "'id' must be a string");
    c->id = mem_str(json_text(id));
    c->reply.stream = json_bool(stream, false);
    if (read_asked(c, line, err) < 0 || read_expectation(c, err) < 0)
        return -1;
    bool has_response = json_get(c->source, "response");
    if (has_response == (reply != NULL))
        return err_set(err, STATUS_USAGE, "case '%s' must have either 'response' or 'reply'",
                       c->id);
    return reply ? read_reply(c, reply, err) : read_response(c, response, chunk, err);
}

int casefile_read(struct span json, size_t chunk, struct casefile *c, struct err *err)
{
    *c = (struct casefile){0};
    reply_init(&c->reply);
    int rc = read_case(json, chunk, c, err);
    if (rc < 0)
        casefile_release(c);
    return rc;
}
