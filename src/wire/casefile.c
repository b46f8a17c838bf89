/* casefile.c - a labelled case to the reply and the expectation that a run would have had. Raw
 * bodies go through the same decoder; nothing is judged here. */
#include "casefile.h"

#include <stdlib.h>
#include <string.h>

#include "case_asked.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "utf8.h"

void casefile_release(struct casefile *c)
{
    for (size_t i = 0; i < c->n_want_reasons; i++)
        free(c->want_reasons[i]);
    free(c->want_reasons);
    free(c->want_class);
    free(c->id);
    reply_release(&c->reply);
    buf_release(&c->prompt);
    json_free(c->source);
    case_asked_release(c);
    *c = (struct casefile){0};
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
    if (case_asked_get(transport, "transport", "end", JSON_STRING, &v, err) < 0)
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
    static const char *const known[] = {"status", "content_type", "end", "reused", "retry_after_s"};
    const struct json *transport, *v;
    if (case_asked_get(c->source, "", "transport", JSON_OBJECT, &transport, err) < 0)
        return -1;
    for (const struct json *m = json_first(transport); m; m = json_next(m)) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found = found || strcmp(known[i], json_key(m)) == 0;
        if (!found)
            return err_set(
                err, STATUS_USAGE,
                "'transport.%s' is unknown; known are status, content_type, end, reused, "
                "retry_after_s",
                json_key(m));
    }
    if (case_asked_get(transport, "transport", "status", JSON_NUMBER, &v, err) < 0)
        return -1;
    c->reply.status = v ? (int)json_long(v, 200) : 200;
    if (case_asked_get(transport, "transport", "retry_after_s", JSON_NUMBER, &v, err) < 0)
        return -1;
    c->reply.retry_after_s = json_long(v, -1);
    if (case_asked_get(transport, "transport", "reused", JSON_BOOL, &v, err) < 0)
        return -1;
    c->reply.reused = json_bool(v, false);
    if (case_asked_get(transport, "transport", "content_type", JSON_STRING, &v, err) < 0)
        return -1;
    *content_type = json_text(v);
    return read_end(c, transport, any_byte, err);
}

void casefile_decode(struct casefile *c, size_t chunk, int status, const char *content_type)
{
    struct reply *r = &c->reply;
    struct wire_caps caps = endpoint_default_caps();
    struct decoder *d = decoder_new(dialect_default(), &caps, r);
    decoder_start(d, status, content_type);
    for (size_t at = 0, n; at < r->raw.len; at += n) {
        n = chunk && chunk < r->raw.len - at ? chunk : r->raw.len - at;
        if (decoder_feed(d, r->raw.data + at, n, 0) < 0)
            break;
    }
    decoder_end(d);
    decoder_free(d);
}

static int read_response(struct casefile *c, const struct json *v, size_t chunk, struct err *err)
{
    struct reply *r = &c->reply;
    const char *content_type = NULL;
    utf8_add_loose(&r->raw, json_span(v));
    if (read_transport(c, r->raw.len > 0, &content_type, err) < 0)
        return -1;
    casefile_decode(c, chunk, r->status, content_type);
    return 0;
}

static int add_text(const struct json *object, const char *where, const char *key, struct buf *out,
                    struct err *err)
{
    const struct json *v;
    if (case_asked_get(object, where, key, JSON_STRING, &v, err) < 0)
        return -1;
    utf8_add_loose(out, json_span(v));
    return 0;
}

static int read_call(const struct json *v, size_t i, struct reply *r, struct err *err)
{
    struct tool_call *call = reply_add_call(r);
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
    if (case_asked_absent(json_get(v, "id")))
        r->quirks |= QUIRK_BIT(missing_id);
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
        case_asked_get(reply, "reply", "tool_calls", JSON_ARRAY, &calls, err) < 0 ||
        case_asked_get(reply, "reply", "finish_reason", JSON_STRING, &v, err) < 0)
        return -1;
    size_t i = 0;
    for (const struct json *call = json_first(calls); call; call = json_next(call), i++)
        if (read_call(call, i, r, err) < 0)
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
    if (case_asked_get(c->source, "", "expect", JSON_OBJECT, &expect, err) < 0)
        return -1;
    if (!expect)
        return 0;
    if (case_asked_get(expect, "expect", "class", JSON_STRING, &v, err) < 0)
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
    return case_asked_absent(reasons) ? 0 : read_reasons(c, reasons, err);
}

static int read_case(struct span line, size_t chunk, struct casefile *c, struct err *err)
{
    const struct json *id, *response, *reply, *stream;
    c->source = json_parse(line, err);
    if (!c->source)
        return -1;
    if (json_type(c->source) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "a case must be an object");
    if (case_asked_get(c->source, "", "id", JSON_STRING, &id, err) < 0 ||
        case_asked_get(c->source, "", "response", JSON_STRING, &response, err) < 0 ||
        case_asked_get(c->source, "", "reply", JSON_OBJECT, &reply, err) < 0 ||
        case_asked_get(c->source, "", "stream", JSON_BOOL, &stream, err) < 0)
        return -1;
    if (!id)
        return err_set(err, STATUS_USAGE, "'id' must be a string");
    c->id = mem_str(json_text(id));
    c->reply.stream = json_bool(stream, false);
    if (case_asked_read(c, line, err) < 0 || read_expectation(c, err) < 0)
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
