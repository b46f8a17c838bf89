/* casewrite.c - the other half of case_asked.c: demands to JSON. */
#include "casewrite.h"

#include <string.h>

#include "expect.h"
#include "json.h"
#include "message.h"

static void add_text(struct jsonw *w, const char *key, const char *text)
{
    if (!text)
        return;
    jsonw_key(w, key);
    jsonw_text(w, text);
}

static void add_bool(struct jsonw *w, const char *key, bool value, bool absent)
{
    if (value == absent)
        return;
    jsonw_key(w, key);
    jsonw_bool(w, value);
}

static void add_count(struct jsonw *w, const char *key, long n)
{
    if (n == 0)
        return;
    jsonw_key(w, key);
    jsonw_long(w, n);
}

/* JSON text on one line: in JSON, a line feed is a blank between two tokens. */
static void add_one_line(struct jsonw *w, struct span json)
{
    struct buf line = BUF_INIT;
    buf_add(&line, json.data, json.len);
    for (size_t i = 0; i < line.len; i++)
        if (line.data[i] == '\n' || line.data[i] == '\r')
            line.data[i] = ' ';
    jsonw_raw(w, buf_span(&line));
    buf_release(&line);
}

void casewrite_request(struct span body, struct jsonw *w)
{
    if (!body.len || json_check(body) >= 0)
        return;
    jsonw_key(w, "request");
    add_one_line(w, body);
}

static void add_tools(const struct expect *e, struct jsonw *w)
{
    if (!e->n_tools)
        return;
    jsonw_key(w, "tools");
    jsonw_array(w);
    for (size_t i = 0; i < e->n_tools; i++)
        add_one_line(w, span_of(e->tools[i].definition));
    jsonw_end_array(w);
}

static void add_choice(const struct expect *e, struct jsonw *w)
{
    if (e->choice == CHOICE_AUTO)
        return;
    jsonw_key(w, "tool_choice");
    jsonw_text(w, e->choice == CHOICE_NONE ? "none" : "required");
}

static void add_calls(const struct expect *e, struct jsonw *w)
{
    if (!e->n_calls)
        return;
    jsonw_key(w, "expect_calls");
    jsonw_array(w);
    for (size_t i = 0; i < e->n_calls; i++) {
        const struct expect_call *call = &e->calls[i];
        jsonw_object(w);
        add_text(w, "name", call->name);
        jsonw_key(w, "arguments");
        jsonw_object(w);
        for (size_t k = 0; k < call->n_literals; k++) {
            if (!call->literals[k].key)
                continue;
            jsonw_key(w, call->literals[k].key);
            jsonw_raw(w, span_of(call->literals[k].json));
        }
        jsonw_end_object(w);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

/* Literals that may come as any value; the form has a place for those of the first call. */
static void add_loose_literals(const struct expect *e, struct jsonw *w)
{
    const struct expect_call *call = e->n_calls ? &e->calls[0] : NULL;
    if (!call || !call->n_literals || call->literals[0].key)
        return;
    jsonw_key(w, "expect_args");
    jsonw_array(w);
    for (size_t k = 0; k < call->n_literals; k++)
        jsonw_raw(w, span_of(call->literals[k].json));
    jsonw_end_array(w);
}

static void add_foreign(const struct expect *e, struct jsonw *w)
{
    if (!e->n_foreign)
        return;
    jsonw_key(w, "foreign_canaries");
    jsonw_array(w);
    for (size_t i = 0; i < e->n_foreign; i++)
        jsonw_text(w, e->foreign_canaries[i]);
    jsonw_end_array(w);
}

static void add_previous(const struct expect *e, struct jsonw *w)
{
    if (!e->n_previous)
        return;
    jsonw_key(w, "previous_calls");
    jsonw_array(w);
    for (size_t i = 0; i < e->n_previous; i++) {
        jsonw_object(w);
        jsonw_key(w, "name");
        jsonw_text(w, e->previous[i].name ? e->previous[i].name : "");
        add_text(w, "arguments", e->previous_args[i]);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

void casewrite_asked(const struct expect *e, struct jsonw *w)
{
    jsonw_object(w);
    add_tools(e, w);
    add_choice(e, w);
    add_bool(w, "tool_expected", e->call_due, false);
    add_bool(w, "calls_allowed", e->calls_allowed, true);
    add_calls(e, w);
    add_bool(w, "exact_calls", e->exact_calls, false);
    add_loose_literals(e, w);
    add_text(w, "expect_text", e->final_text);
    add_text(w, "own_canary", e->own_canary);
    add_foreign(e, w);
    add_text(w, "lang", e->lang);
    add_bool(w, "lang_strict", e->lang_strict, false);
    add_bool(w, "prompt_mentions_markup", e->prompt_mentions_markup, false);
    add_bool(w, "args_may_contain_markup", e->args_may_contain_markup, false);
    add_bool(w, "repetitive_payload", e->repetitive_payload, false);
    add_previous(e, w);
    add_bool(w, "new_call_expected", e->new_call_expected, false);
    add_bool(w, "must_finish", e->must_finish, false);
    add_count(w, "max_tokens", e->max_tokens);
    add_count(w, "prompt_tokens_estimate", e->prompt_tokens_estimate);
    add_bool(w, "reasoning_parser", e->reasoning_parser, true);
    jsonw_end_object(w);
}
