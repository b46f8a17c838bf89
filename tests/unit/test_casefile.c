// layers: wire chat base
/* Cases in all their forms, and what is said of wrong ones. */
#include "casefile.h"

#include "check.h"
#include "expect.h"
#include "json.h"
#include "message.h"

static int read_text(const char *text, struct casefile *c, struct err *err)
{
    *err = (struct err){0};
    return casefile_read(span_of(text), 0, c, err);
}

#define CASE(rest) "{\"id\":\"a\",\"response\":\"\"," rest "}"

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "not JSON"},
    {"[]", "a case must be an object"},
    {"{\"response\":\"\"}", "'id' must be a string"},
    {"{\"id\":5,\"response\":\"\"}", "'id' must be a string"},
    {"{\"id\":\"a\"}", "case 'a' must have either 'response' or 'reply'"},
    {"{\"id\":\"a\",\"response\":\"\",\"reply\":{}}", "either 'response' or 'reply'"},
    {"{\"id\":\"a\",\"response\":[]}", "'response' must be a string"},
    {CASE("\"stream\":1"), "'stream' must be a boolean"},
    {CASE("\"asked\":[]"), "'asked' must be an object"},
    {CASE("\"asked\":{\"tool\":[]}"), "'asked.tool' is unknown; known are tools, tool_choice"},
    {CASE("\"asked\":{\"tools\":{}}"), "'asked.tools' must be an array"},
    {CASE("\"asked\":{\"tools\":[1]}"), "'asked.tools[0]' must be an object"},
    {CASE("\"asked\":{\"tools\":[{}]}"), "'asked.tools[0].function.name' must be a string"},
    {CASE("\"asked\":{\"tools\":[{\"function\":{\"name\":\"f\",\"parameters\":1}}]}"),
     "'asked.tools[0].function.parameters' must be an object"},
    {CASE("\"asked\":{\"tool_choice\":1}"), "'asked.tool_choice' must be a string"},
    {CASE("\"asked\":{\"tool_expected\":\"yes\"}"), "'asked.tool_expected' must be a boolean"},
    {CASE("\"asked\":{\"expect_text\":1}"), "'asked.expect_text' must be a string"},
    {CASE("\"asked\":{\"expect_args\":\"x\"}"), "'asked.expect_args' must be an object"},
    {CASE("\"asked\":{\"expect_calls\":\"x\"}"), "'asked.expect_calls' must be a number"},
    {CASE("\"asked\":{\"expect_calls\":-1}"), "'asked.expect_calls' must be a number"},
    {CASE("\"asked\":{\"expect_calls\":[\"f\",2]}"), "'asked.expect_calls[1]' must be a name"},
    {CASE("\"asked\":{\"foreign_canaries\":[\"x\",1]}"),
     "'asked.foreign_canaries[1]' must be a string"},
    {CASE("\"asked\":{\"previous_calls\":[{}]}"), "'asked.previous_calls[0].name' must be"},
    {CASE("\"asked\":{\"max_tokens\":\"9\"}"), "'asked.max_tokens' must be a number"},
    {CASE("\"transport\":{\"ended\":\"x\"}"), "'transport.ended' is unknown; known are status"},
    {CASE("\"transport\":{\"end\":\"x\"}"), "'transport.end' is 'x'; known are clean, reset"},
    {CASE("\"transport\":{\"status\":\"200\"}"), "'transport.status' must be a number"},
    {CASE("\"expect\":{}"), "'expect.class' must be one of leak, error, no_tool, ok"},
    {CASE("\"expect\":{\"class\":\"bad\"}"), "'expect.class' must be one of"},
    {CASE("\"expect\":{\"class\":\"ok\",\"reason\":[\"ok.done\",\"ok.x\"]}"),
     "'expect.reason[1]' is no known reason"},
    {"{\"id\":\"a\",\"reply\":{\"content\":1}}", "'reply.content' must be a string"},
    {"{\"id\":\"a\",\"reply\":{\"tool_calls\":[1]}}", "'reply.tool_calls[0]' must be an object"},
    {"{\"id\":\"a\",\"reply\":{\"tool_calls\":[{\"name\":1}]}}",
     "'reply.tool_calls[0].name' must be a string"},
};

static void test_wrong(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct casefile c;
        struct err err;
        CHECK_INT(read_text(wrong[i].text, &c, &err), -1);
        CHECK_INT(err.status, STATUS_USAGE);
        CHECK(strstr(err.text, wrong[i].says));
        if (!strstr(err.text, wrong[i].says))
            fprintf(stderr, "... said \"%s\", not \"%s\"\n", err.text, wrong[i].says);
    }
}

static void test_asked(void)
{
    struct casefile c;
    struct err err;
    CHECK_INT(read_text(CASE("\"asked\":{\"tools\":[ {\"type\":\"function\", \"function\": "
                             "{\"name\":\"f\",\"parameters\":{\"type\" : \"object\"}}} ],"
                             "\"tool_choice\":{\"function\":{\"name\":\"f\"}},"
                             "\"tool_expected\":true,\"expect_args\":{\"a\":\"x\",\"n\":1},"
                             "\"expect_calls\":2,\"own_canary\":\"me\",\"foreign_canaries\":"
                             "[\"you\",\"they\"],\"lang\":\"en\",\"lang_strict\":true,"
                             "\"max_tokens\":7,\"must_finish\":true,\"repetitive_payload\":null,"
                             "\"previous_calls\":[{\"name\":\"f\",\"arguments\":{\"k\": [1]},"
                             "\"times\":3}],\"new_call_expected\":true}"),
                        &c, &err),
              0);
    CHECK_STR(err.text, "");
    const struct expect *e = &c.expect;
    CHECK_INT(e->n_tools, 1);
    CHECK_STR(e->tools[0].name, "f");
    CHECK_STR(e->tools[0].definition, "{\"type\":\"function\", \"function\": "
                                      "{\"name\":\"f\",\"parameters\":{\"type\" : \"object\"}}}");
    CHECK_STR(e->tools[0].parameters, "{\"type\":\"object\"}");
    CHECK_INT(e->choice, CHOICE_NAMED);
    CHECK(e->call_due && e->calls_allowed && e->lang_strict && e->must_finish);
    CHECK(e->new_call_expected && !e->repetitive_payload && e->reasoning_parser);
    CHECK_INT(e->n_calls, 2);
    CHECK_INT(e->calls[0].n_literals, 2);
    CHECK_STR(e->calls[0].literals[0].key, "a");
    CHECK_STR(e->calls[0].literals[0].json, "\"x\"");
    CHECK_STR(e->calls[0].literals[1].json, "1");
    CHECK_INT(e->calls[1].n_literals, 0);
    CHECK_STR(e->own_canary, "me");
    CHECK_INT(e->n_foreign, 2);
    CHECK_STR(e->foreign_canaries[1], "they");
    CHECK_STR(e->lang, "en");
    CHECK_INT(e->max_tokens, 7);
    CHECK_INT(e->n_previous, 1);
    CHECK_STR(e->previous[0].name, "f");
    CHECK_STR(e->previous_args[0], "{\"k\":[1]}");
    casefile_release(&c);

    CHECK_INT(read_text(CASE("\"asked\":{\"tool_choice\":\"none\",\"expect_calls\":[\"f\","
                             "{\"name\":\"g\",\"arguments\":{\"a\":true}},{\"b\":null}]}"),
                        &c, &err),
              0);
    CHECK(!c.expect.calls_allowed);
    CHECK_INT(c.expect.n_calls, 3);
    CHECK_STR(c.expect.calls[0].name, "f");
    CHECK_STR(c.expect.calls[1].name, "g");
    CHECK_STR(c.expect.calls[1].literals[0].json, "true");
    CHECK(!c.expect.calls[2].name);
    CHECK_STR(c.expect.calls[2].literals[0].key, "b");
    casefile_release(&c);
}

static void test_ends(void)
{
    static const struct {
        const char *text;
        enum exchange_end end;
    } rows[] = {
        {"{\"id\":\"a\",\"response\":null}", END_CLEAN},
        {CASE("\"transport\":null"), END_CLEAN},
        {CASE("\"transport\":{\"end\":\"idle_timeout\"}"), END_STALL_FIRST},
        {CASE("\"transport\":{\"end\":\"reset\"}"), END_CUT},
        {CASE("\"transport\":{\"end\":\"reset\",\"status\":0}"), END_CONNECT},
        {"{\"id\":\"a\",\"response\":\"x\",\"transport\":{\"end\":\"idle_timeout\"}}",
         END_STALL_IDLE},
        {"{\"id\":\"a\",\"reply\":{},\"transport\":{\"end\":\"reset\"}}", END_CUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct casefile c;
        struct err err;
        CHECK_INT(read_text(rows[i].text, &c, &err), 0);
        CHECK_INT(c.reply.end, rows[i].end);
        CHECK(!c.has_expectation);
        casefile_release(&c);
    }
}

static void test_reply(void)
{
    struct casefile c;
    struct err err;
    CHECK_INT(read_text("{\"id\":\"a\",\"reply\":{\"content\":\"b\\u0000c\",\"reasoning\":\"r\","
                        "\"tool_calls\":[{\"id\":\"call_1\",\"name\":\"f\",\"arguments\":\"{}\"},"
                        "{\"function\":{\"name\":\"g\",\"arguments\":{\"a\":1}}}]},"
                        "\"expect\":{\"class\":\"ok\",\"reason\":\"ok.done\"}}",
                        &c, &err),
              0);
    const struct reply *r = &c.reply;
    CHECK_INT(r->content.len, 3);
    CHECK_STR(buf_str(&r->reasoning), "r");
    CHECK_INT(r->n_calls, 2);
    CHECK_STR(buf_str(&r->calls[1].name), "g");
    CHECK_STR(buf_str(&r->calls[1].args), "{\"a\":1}");
    CHECK_STR(r->finish, "tool_calls");
    CHECK(r->done && r->has_choice && r->status == 200);
    CHECK(r->quirks & QUIRK_BIT(missing_id));
    CHECK(c.has_expectation);
    CHECK_STR(c.want_class, "ok");
    CHECK_INT(c.n_want_reasons, 1);
    casefile_release(&c);

    CHECK_INT(read_text("{\"id\":\"a\",\"reply\":{\"finish_reason\":null}}", &c, &err), 0);
    CHECK_STR(c.reply.finish, "");
    casefile_release(&c);
}

int main(void)
{
    test_wrong();
    test_asked();
    test_ends();
    test_reply();
    return check_end();
}
