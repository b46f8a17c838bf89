// layers: wire chat base
/* Logged pairs of request and response, and saved bodies; tests/data/paircases.jsonl. */
#include "paircase.h"

#include <stdlib.h>

#include "caselines.h"
#include "expect.h"
#include "json.h"
#include "message.h"
#include "replydump.h"

static const char *text_of(const struct json *v)
{
    return json_text(v) ? json_text(v) : "(none)";
}

static void check_tools(const struct expect *e, const struct json *names,
                        const struct json *schemas)
{
    CHECK_INT(e->n_tools, json_count(names));
    for (size_t i = 0; i < e->n_tools && i < json_count(names); i++)
        CHECK_STR(e->tools[i].name, text_of(json_at(names, i)));
    for (size_t i = 0; i < e->n_tools && i < json_count(schemas); i++)
        CHECK_INT(e->tools[i].parameters != NULL, json_bool(json_at(schemas, i), false));
}

/* A member of `want` by its name, and what the case has there. */
static void check_member(const struct casefile *c, const char *key, const struct json *v,
                         const struct json *want)
{
    const struct expect *e = &c->expect;
    const struct reply *r = &c->reply;
    const struct {
        const char *key;
        long n;
    } numbers[] = {{"choice", (long)e->choice},
                   {"due", e->call_due},
                   {"allowed", e->calls_allowed},
                   {"demanded", (long)e->n_calls},
                   {"max_tokens", e->max_tokens},
                   {"status", r->status},
                   {"stream", r->stream},
                   {"calls", (long)r->n_calls},
                   {"done", r->done},
                   {"unreadable", r->body_unreadable}};
    const struct {
        const char *key, *text;
    } texts[] = {{"id", c->id ? c->id : "(none)"},
                 {"content", buf_str(&r->content)},
                 {"finish", r->finish},
                 {"prompt", buf_str(&c->prompt)},
                 {"error", buf_str(&r->error_text)}};
    int known = strcmp(key, "schemas") == 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(numbers[i].key, key) == 0 && ++known)
            CHECK_INT(numbers[i].n,
                      json_type(v) == JSON_BOOL ? json_bool(v, false) : json_long(v, -99));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].key, key) == 0 && ++known)
            CHECK_STR(texts[i].text, text_of(v));
    if (strcmp(key, "tools") == 0 && ++known)
        check_tools(e, v, json_get(want, "schemas"));
    CHECK_INT(known, 1);
}

static void check_row(struct span row)
{
    struct json *v = json_parse(row, NULL);
    const struct json *want = json_get(v, "want");
    struct span raw = json_raw_get(row, "line"), text = json_span(json_get(v, "text"));
    struct pair_options o = {.fields = {.request = json_text(json_get(v, "request")),
                                        .response = json_text(json_get(v, "response")),
                                        .status = json_text(json_get(v, "status")),
                                        .stream = json_text(json_get(v, "stream"))},
                             .asked = json_span(json_get(v, "asked")),
                             .status = 200};
    struct casefile c;
    struct err err = {0};
    int failures = check_failures;
    int rc = paircase_read(text.len ? text : raw, &o, &c, &err);
    if (rc < 0) {
        CHECK_INT(err.status, STATUS_USAGE);
        CHECK(json_count(want) == 1 && strstr(err.text, text_of(json_get(want, "error"))));
    } else {
        CHECK(json_count(want) > 0);
        for (const struct json *m = json_first(want); m; m = json_next(m))
            check_member(&c, json_key(m), m, want);
        casefile_release(&c);
    }
    if (check_failures > failures)
        fprintf(stderr, "... in \"%s\": %s\n", text_of(json_get(v, "shows")), err.text);
    json_free(v);
}

/* However the decoder is fed, the same reply. */
static void check_chunks(struct span row)
{
    struct json *v = json_parse(row, NULL);
    struct span raw = json_raw_get(row, "line");
    struct casefile whole, pieces;
    struct pair_options o = {.status = 200}, in_pieces = {.status = 200, .chunk = 1};
    if (paircase_read(raw, &o, &whole, NULL) == 0) {
        CHECK_INT(paircase_read(raw, &in_pieces, &pieces, NULL), 0);
        char *want = dump_reply(&whole.reply), *got = dump_reply(&pieces.reply);
        CHECK_STR(got, want);
        free(want);
        free(got);
        casefile_release(&whole);
        casefile_release(&pieces);
    }
    json_free(v);
}

/* What is a case, what a pair. */
static void test_kinds(void)
{
    static const struct {
        const char *line, *response;
        bool pair;
    } rows[] = {
        {"{\"id\":\"a\",\"response\":\"data: x\"}", NULL, false},
        {"{\"id\":\"a\",\"response\":\"data: x\"}", "response", true},
        {"{\"response\":\"data: x\"}", NULL, true},
        {"{\"id\":\"a\",\"response\":{\"choices\":[]}}", NULL, true},
        {"{\"id\":\"a\",\"response\":\"\",\"asked\":{}}", NULL, false},
        {"{\"id\":\"a\",\"response\":[],\"expect\":{\"class\":\"ok\"}}", NULL, false},
        {"{\"id\":\"a\",\"reply\":{}}", NULL, false},
        {"{\"id\":\"a\",\"request\":{},\"response\":\"\"}", NULL, true},
        {"{\"id\":\"a\",\"request\":{},\"response\":\"\",\"asked\":{}}", NULL, false},
        {"{\"request\":null,\"response\":null}", NULL, false},
        {"{\"out\":{\"r\":\"\"}}", "out.r", true},
        {"{\"msg\":\"hello\"}", NULL, false},
        {"[{\"request\":{}}]", NULL, false},
        {"7", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json *v = json_parse(span_of(rows[i].line), NULL);
        const struct pair_fields f = {.response = rows[i].response};
        CHECK_INT(paircase_is(v, &f), rows[i].pair);
        json_free(v);
    }
}

static void test_bodies(void)
{
    static const char stream[] = "\xEF\xBB\xBF\n: hello\n\ndata: {\"choices\":[{\"delta\":{"
                                 "\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    static const char whole[] = " {\"choices\":[{\"message\":{\"content\":\"hi\"},"
                                "\"finish_reason\":\"stop\"}]}";
    static const struct {
        const char *body;
        enum body_form form;
        bool stream, unreadable;
        const char *content;
    } rows[] = {
        {stream, BODY_AS_SEEN, true, false, "hi"},   {stream, BODY_WHOLE, false, false, "hi"},
        {whole, BODY_AS_SEEN, false, false, "hi"},   {whole, BODY_STREAMED, true, false, "hi"},
        {"<html>", BODY_AS_SEEN, false, true, ""},   {"", BODY_AS_SEEN, false, true, ""},
        {"daten: x", BODY_AS_SEEN, false, true, ""},
    };
    struct pair_options o = {.status = 200, .asked = span_of("\"tool_expected\":true")};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct casefile c;
        struct err err = {0};
        CHECK_INT(paircase_body(span_of(rows[i].body), rows[i].form, &o, &c, &err), 0);
        CHECK_INT(c.reply.stream, rows[i].stream);
        CHECK_INT(c.reply.body_unreadable, rows[i].unreadable);
        CHECK_STR(buf_str(&c.reply.content), rows[i].content);
        CHECK(c.expect.call_due && c.expect.calls_allowed && !c.id);
        casefile_release(&c);
    }
    struct casefile c;
    struct err err = {0};
    o.asked = span_of("\"tools\":{}");
    CHECK_INT(paircase_body(span_of(""), BODY_AS_SEEN, &o, &c, &err), -1);
    CHECK_STR(err.text, "'asked.tools' must be an array");
}

int main(void)
{
    CHECK(each_line_of(SOURCE_DIR "/tests/data/paircases.jsonl", check_row) >= 35);
    CHECK(each_line_of(SOURCE_DIR "/tests/data/paircases.jsonl", check_chunks) >= 35);
    test_kinds();
    test_bodies();
    return check_end();
}
