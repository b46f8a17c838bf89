// layers: base
/* JSON: trees, the strict check, slices, writing. */
#include <limits.h>
#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "json.h"
#include "utf8.h"

static void test_strict(void)
{
    static const char *const good[] = {"{}",
                                       "[]",
                                       " 1 ",
                                       "-0.5e+3",
                                       "\"\\u00e9\\n\"",
                                       "null",
                                       "[1,[2,{\"a\":[]}]]",
                                       "\"\\ud83d\"",
                                       "true\n",
                                       "{\"a\":1,\"a\":2}"};
    static const struct {
        const char *text;
        long at;
    } bad[] = {{"", 0},           {"{}}", 2},       {"{\"a\":1}{\"b\":2}", 7},
               {"007", 1},        {"1.", 2},        {"[1,]", 3},
               {"{\"a\":1,}", 7}, {"'x'", 0},       {"NaN", 0},
               {"+1", 0},         {"\"a\nb\"", 2},  {"\"\xff\"", 1},
               {"{\"a\":", 5},    {"\"abc", 4},     {"[1 2]", 3},
               {"\"\\x\"", 2},    {"\"\\u12\"", 5}, {"\xEF\xBB\xBF{}", 0},
               {"nul", 3}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_INT(json_check(span_of(good[i])), -1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(json_check(span_of(bad[i].text)), bad[i].at);
        if (json_check(span_of(bad[i].text)) != bad[i].at)
            fprintf(stderr, "  in %s\n", bad[i].text);
    }
    struct buf deep = BUF_INIT;
    for (int i = 0; i < 100000; i++)
        buf_addc(&deep, '[');
    CHECK(json_check(buf_span(&deep)) > 0);
    buf_release(&deep);
}

static void test_parse(void)
{
    struct err e = {0};
    CHECK(json_parse(span_of("{\"a\":1}x"), &e) == NULL);
    CHECK_STR(e.text, "not JSON: line 1, column 8");
    e = (struct err){0};
    CHECK(json_parse(span_of("{\n\"a\": ?}"), &e) == NULL);
    CHECK_STR(e.text, "not JSON: line 2, column 6");
    struct json *v =
        json_parse(span_of("{\"Name\":1,\"name\":\"x\\ud83dy\",\"z\":\"a\\u0000b\",\"big\":1e300,"
                           "\"list\":[true,null,-3]}"),
                   NULL);
    CHECK_INT(json_count(v), 5);
    CHECK_STR(json_text(json_get(v, "name")), "x\xED\xA0\xBDy");
    CHECK_STR(json_text(json_get(v, "z")), "a\xC0\x80"
                                           "b");
    CHECK(json_get(v, "NAME") == NULL);
    CHECK(json_long(json_get(v, "big"), 0) == LONG_MAX);
    CHECK_INT(json_long(json_at(json_get(v, "list"), 2), 0), -3);
    CHECK(json_bool(json_at(json_get(v, "list"), 0), false));
    CHECK_INT(json_type(json_at(json_get(v, "list"), 3)), JSON_ABSENT);
    CHECK_INT(json_long(json_get(v, "name"), 42), 42);
    CHECK(json_text(NULL) == NULL && json_first(NULL) == NULL && json_next(NULL) == NULL);
    struct buf b = BUF_INIT;
    json_print(v, &b);
    CHECK(strstr(buf_str(&b), "\"z\":\"a\\u0000b\"") != NULL);
    CHECK_INT(json_check(buf_span(&b)), -1);
    buf_release(&b);
    json_free(v);
}

static void test_equal(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {{"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
                {"[1,2]", "[2,1]", false},
                {"{\"a\":null}", "{}", false},
                {"\"x\"", "\"X\"", false},
                {"0", "false", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json *a = json_parse(span_of(rows[i].a), NULL);
        struct json *b = json_parse(span_of(rows[i].b), NULL);
        CHECK_INT(json_equal(a, b), rows[i].equal);
        json_free(a);
        json_free(b);
    }
}

static void test_slices(void)
{
    struct span o = span_of(" { \"a\" : [ 1 , {\"x\": 2} ], \"b\":\"}\" , \"c\": {\"d\" :1} } ");
    CHECK(span_is(json_raw_get(o, "a"), "[ 1 , {\"x\": 2} ]"));
    CHECK(span_is(json_raw_get(o, "b"), "\"}\""));
    CHECK(span_is(json_raw_get(json_raw_get(o, "c"), "d"), "1"));
    CHECK_INT(json_raw_get(o, "e").len, 0);
    CHECK(span_is(json_raw_at(json_raw_get(o, "a"), 1), "{\"x\": 2}"));
    CHECK_INT(json_raw_at(json_raw_get(o, "a"), 2).len, 0);
    CHECK_INT(json_raw_get(span_of("[1]"), "a").len, 0);
}

static void test_write(void)
{
    struct buf b = BUF_INIT;
    struct jsonw w = {.out = &b};
    jsonw_object(&w);
    jsonw_key(&w, "a");
    jsonw_array(&w);
    jsonw_long(&w, -1);
    jsonw_double(&w, 0.1);
    jsonw_null(&w);
    jsonw_end_array(&w);
    jsonw_key(&w, "b");
    jsonw_span(&w, (struct span){"q\"\\\n\x01\xff\xC3\xA9\0z", 10});
    jsonw_key(&w, "c");
    jsonw_object(&w);
    jsonw_end_object(&w);
    jsonw_key(&w, "d");
    jsonw_raw(&w, span_of("[ 1 ]"));
    jsonw_end_object(&w);
    CHECK_STR(buf_str(&b), "{\"a\":[-1,0.1,null],\"b\":\"q\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xC3\xA9"
                           "\\u0000z\",\"c\":{},\"d\":[ 1 ]}");
    CHECK_INT(json_check(buf_span(&b)), -1);
    buf_release(&b);
}

int main(void)
{
    test_strict();
    test_parse();
    test_equal();
    test_slices();
    test_write();
    return check_end();
}
