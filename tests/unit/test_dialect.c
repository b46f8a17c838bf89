// layers: wire chat base
/* Requests byte by byte. */
#include "dialect.h"

#include <stdlib.h>

#include "check.h"
#include "json.h"
#include "mem.h"

static void test_table(void)
{
    const struct dialect *d = dialect_default();
    CHECK(dialect_find(d->name) == d);
    CHECK(!dialect_find("no such"));
    CHECK(d->route[0] == '/' && d->reasoning_fields[0]);
}

static void test_messages(void)
{
    const struct dialect *d = dialect_default();
    struct buf history = BUF_INIT;
    struct message m = {.role = ROLE_SYSTEM};
    buf_adds(&m.content, "be \"brief\"\n\xE6\xB0\xB4");
    d->message(&m, &history);
    CHECK_STR(buf_str(&history),
              "{\"role\":\"system\",\"content\":\"be \\\"brief\\\"\\n\xE6\xB0\xB4\"}");
    message_release(&m);

    buf_clear(&history);
    m = (struct message){.role = ROLE_ASSISTANT, .n_calls = 2};
    m.calls = mem_zero(2, sizeof *m.calls);
    m.calls[0] = (struct said_call){mem_str("c1"), mem_str("f"), mem_str("{\"a\": 1}")};
    m.calls[1] = (struct said_call){mem_str("c2"), mem_str("g"), mem_str("{}")};
    d->message(&m, &history);
    CHECK_STR(buf_str(&history),
              "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
              "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
              "\"arguments\":\"{\\\"a\\\": 1}\"}},"
              "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\","
              "\"arguments\":\"{}\"}}]}");
    message_release(&m);

    m = (struct message){.role = ROLE_TOOL, .tool_call_id = mem_str("c1")};
    buf_adds(&m.content, "{ \"b\" : 2 }");
    size_t before = history.len;
    d->message(&m, &history);
    CHECK_STR(history.data + before, ",{\"role\":\"tool\",\"tool_call_id\":\"c1\","
                                     "\"content\":\"{ \\\"b\\\" : 2 }\"}");
    message_release(&m);

    buf_clear(&history);
    m = (struct message){.role = ROLE_USER};
    d->message(&m, &history);
    CHECK_STR(buf_str(&history), "{\"role\":\"user\",\"content\":\"\"}");
    message_release(&m);
    buf_release(&history);
}

static void writes(const struct chat_request *q, const char *want)
{
    struct buf out = BUF_INIT;
    dialect_default()->request(q, &out);
    CHECK_STR(buf_str(&out), want);
    CHECK_INT(json_check(buf_span(&out)), -1);
    buf_release(&out);
}

static void test_requests(void)
{
    struct chat_request q = {.model = "m",
                             .messages = span_of("{\"role\":\"user\",\"content\":\"x\"}"),
                             .temperature = -1,
                             .seed = -1};
    writes(&q, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
               "\"stream\":false}");
    q.messages = span_of("");
    q.tools = span_of("[ {\"k\" : 1.0} ]"); /* byte for byte */
    q.tool_choice = "auto";
    q.stream = true;
    q.temperature = 0;
    q.max_tokens = 50;
    q.seed = 0;
    writes(&q, "{\"model\":\"m\",\"messages\":[],\"tools\":[ {\"k\" : 1.0} ],"
               "\"tool_choice\":\"auto\",\"stream\":true,"
               "\"stream_options\":{\"include_usage\":true},\"temperature\":0,"
               "\"max_tokens\":50,\"seed\":0}");

    /* the user's members replace ours, or join them */
    struct json *extra = json_parse(
        span_of("{\"model\":\"n\",\"stream_options\":null,\"top_k\":5,\"seed\":{\"a\":[1]}}"),
        NULL);
    q.extra_body = extra;
    q.tool_choice = "f";
    writes(&q, "{\"messages\":[],\"tools\":[ {\"k\" : 1.0} ],"
               "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}},"
               "\"stream\":true,\"temperature\":0,\"max_tokens\":50,"
               "\"model\":\"n\",\"stream_options\":null,\"top_k\":5,\"seed\":{\"a\":[1]}}");
    json_free(extra);

    /* a choice among no tools is what servers refuse */
    q = (struct chat_request){
        .model = "m", .tool_choice = "none", .temperature = 0.7, .seed = 9007199254740993};
    writes(&q, "{\"model\":\"m\",\"messages\":[],\"stream\":false,\"temperature\":0.7,"
               "\"seed\":9007199254740993}");
}

/* A body that grows where its messages end is the body that is written whole. */
static void test_growing(void)
{
    const struct dialect *d = dialect_default();
    struct buf history = BUF_INIT, frame = BUF_INIT, grown = BUF_INIT, whole = BUF_INIT;
    size_t end = 0;
    struct chat_request q = {.model = "m",
                             .messages_end = &end,
                             .tools = span_of("[{\"k\":1}]"),
                             .temperature = 0.5,
                             .seed = 3};
    d->request(&q, &frame);
    CHECK(end > 0 && frame.data[end - 1] == '[' && frame.data[end] == ']');
    buf_add(&grown, frame.data, end);
    for (int i = 0; i < 3; i++) {
        struct message m = {.role = i % 2 ? ROLE_ASSISTANT : ROLE_USER};
        buf_addf(&m.content, "text %d [", i);
        d->message(&m, &history);
        d->message(&m, &grown);
        message_release(&m);
    }
    q.messages = buf_span(&history);
    d->request(&q, &whole);
    CHECK_INT(end, grown.len);
    buf_add(&grown, frame.data + (frame.len - (whole.len - end)), whole.len - end);
    CHECK_STR(buf_str(&grown), buf_str(&whole));

    buf_release(&history);
    buf_release(&frame);
    buf_release(&grown);
    buf_release(&whole);
}

int main(void)
{
    test_growing();
    test_table();
    test_messages();
    test_requests();
    return check_end();
}
