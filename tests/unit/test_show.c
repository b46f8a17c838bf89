// layers: report store wire chat stats base
/* test_show.c - one session with hostile bytes in it, shown as text, bytes, command and JSON:
 * marked where the damage is, and harmless to a terminal. */
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "reply.h"
#include "report_fixture.h"

static void decode(const char *dialect, struct span headers, struct span body, struct reply *r)
{
    (void)headers;
    const struct wire_caps caps = endpoint_default_caps();
    struct decoder *d = decoder_new(dialect_find(dialect), &caps, r);
    decoder_start(d, r->status, "text/event-stream");
    decoder_feed(d, body.data, body.len, 0);
    decoder_end(d);
    decoder_free(d);
}

static const char *route(const char *dialect)
{
    return dialect_find(dialect)->route;
}

static void add_event(struct buf *out, const char *delta)
{
    buf_addf(out, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta);
}

/* A session whose second reply leaks a call into its text, beside hidden and hostile characters. */
static long add_leak(struct store *s)
{
    static const char lead[] = "Let me look that up.\n";
    static const char leak[] = "<tool_call>{\"name\":";
    struct err err = {0};
    const struct pair settings[] = {{"api-key-env", "MY_KEY"}};
    const struct run_row row = {.started_us = 1796032800000000,
                                .label = "la\x1b[2Jbel",
                                .scenario = "chain",
                                .model = "tiny-8b",
                                .base_url = "http://127.0.0.1:8000/v1",
                                .dialect = "openai-chat",
                                .seed = 1,
                                .sessions = 1,
                                .concurrency = 1,
                                .stream = true,
                                .temperature = NAN,
                                .settings = settings,
                                .n_settings = 1};
    long run = store_run_begin(s, &row, &err);
    struct plan p = {"leak", "leak.markup", 2, 2};
    struct round_row rounds[2] = {round_row(3, 1, &p), round_row(3, 2, &p)};
    struct buf request = BUF_INIT, response = BUF_INIT;
    buf_adds(&request, "{\"model\":\"tiny-8b\",\"messages\":[{\"role\":\"system\",\"content\":"
                       "\"You look things up.\"},{\"role\":\"user\",\"content\":\"");
    for (int i = 0; i < 60; i++)
        buf_addf(&request, "record %d: the quiet harbour keeps its light\\n", i);
    buf_adds(&request,
             "it's K7QPM\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
             "\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"look_up\",\"arguments\":"
             "\"{\\\"id\\\":\\\"K7QPM-2XD9R\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":"
             "\"call_1\",\"content\":\"{\\\"next\\\": \\\"9WNDC-K57W9\\\"}\"}]}");
    add_event(&response, "{\"role\":\"assistant\",\"content\":\"Let me look that up.\\n\"}");
    add_event(&response, "{\"content\":\"<tool_call>{\\\"name\\\":\"}");
    add_event(&response, "{\"content\":\" \\u202eevil \\u200b\\u001b[31m\"}");
    buf_adds(&response, "data: [DONE]\n\n");
    rounds[1].request = buf_span(&request);
    rounds[1].response = buf_span(&response);
    rounds[1].headers = span_of("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n");
    rounds[1].arrivals_json = "[[100,45000],[200,46500]]";
    const struct finding_row findings[] = {
        {.round = 2,
         .class = "leak",
         .reason = "leak.markup",
         .level = "damage",
         .channel = "content",
         .rule = "hermes",
         .note = "an opening tag without an end",
         .excerpt = {leak, sizeof leak - 1},
         .excerpt_offset = sizeof lead - 1,
         .offset = sizeof lead - 1,
         .length = 11,
         .call = -1},
        {.round = 1,
         .class = "leak",
         .reason = "leak.value",
         .level = "suspect",
         .channel = "args",
         .rule = "",
         .note = "wanted K7QPM-2XD9R",
         .excerpt = span_of("{\"id\":\"K7QPM-2XD9A\"}"),
         .offset = 7,
         .length = 11,
         .call = 0},
    };
    const struct session_row session = {.session = 7,
                                        .start_order = 1,
                                        .class = "leak",
                                        .reason = "leak.markup",
                                        .first_bad_round = 2,
                                        .rounds_played = 2,
                                        .canary = "K7QPM-2XD9R",
                                        .start_us = 350000,
                                        .end_us = 1400000,
                                        .rounds = rounds,
                                        .n_rounds = 2,
                                        .findings = findings,
                                        .n_findings = 2};
    CHECK_INT(store_session(s, run, &session, &err), 0);
    const struct run_end end = {.status = "done", .peak_in_flight = 10, .wall_us = 1500000};
    CHECK_INT(store_run_end(s, run, &end, &err), 0);
    CHECK_STR(err.text, "");
    buf_release(&request);
    buf_release(&response);
    return run;
}

/* Nothing but printable text, line feeds, tabs, and colours where they were asked for. */
static void expect_harmless(const struct buf *text, bool colour)
{
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];
        bool paint = colour && c == 0x1b && text->data[i + 1] == '[';
        CHECK(c == '\n' || c == '\t' || c >= 0x20 || paint);
        CHECK(c != 0x7F);
    }
    CHECK(strstr(buf_str(text), "\xE2\x80\xAE") == NULL); /* U+202E */
    CHECK(strstr(buf_str(text), "[2J") == NULL || strstr(buf_str(text), "\\x1b[2J") != NULL);
}

static void test_show(void)
{
    static const struct {
        const char *golden;
        enum show_form form;
        bool colour;
        long context;
    } cases[] = {
        {"show.txt", SHOW_TRANSCRIPT, false, 100},
        {"show-colour.txt", SHOW_TRANSCRIPT, true, 100},
        {"show-all.txt", SHOW_TRANSCRIPT, false, 0},
        {"show-raw.txt", SHOW_RAW, false, 0},
        {"show-curl.txt", SHOW_CURL, false, 0},
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    long run = add_leak(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct report_show request = {.run = run,
                                            .session = 7,
                                            .form = cases[i].form,
                                            .context = cases[i].context,
                                            .wire = {decode, route}};
        struct report_style style = plain;
        style.colour = cases[i].colour;
        struct buf text = BUF_INIT;
        CHECK_INT(report_show(s, &request, &style, &text, &err), 0);
        CHECK_STR(err.text, "");
        expect_golden(cases[i].golden, &text);
        expect_harmless(&text, cases[i].colour);
        buf_release(&text);
    }
    store_close(s);
}

static void test_show_json(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    const struct report_show request = {.run = add_leak(s), .session = 7, .wire = {decode, route}};
    const struct report_style json = {.json = true};
    struct buf text = BUF_INIT;
    CHECK_INT(report_show(s, &request, &json, &text, &err), 0);
    struct json *v = json_parse(buf_span(&text), &err);
    CHECK_STR(err.text, "");
    CHECK_INT(json_count(json_get(v, "messages")), 4);
    CHECK_INT(json_count(json_get(v, "rounds")), 2);
    CHECK_INT(json_count(json_get(v, "findings")), 2);
    const struct json *reply = json_at(json_get(v, "replies"), 0);
    CHECK_INT(json_long(json_get(reply, "round"), 0), 2);
    CHECK_STR(json_text(json_get(reply, "content")),
              "Let me look that up.\n<tool_call>{\"name\": \xE2\x80\xAE"
              "evil \xE2\x80\x8B\x1b[31m");
    json_free(v);
    buf_release(&text);
    store_close(s);
}

/* The command, run by a shell, gives back the request byte for byte. */
static void test_curl_body(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    const struct report_show request = {
        .run = add_leak(s), .session = 7, .form = SHOW_CURL, .wire = {decode, route}};
    struct buf text = BUF_INIT, want = BUF_INIT;
    CHECK_INT(report_show(s, &request, &plain, &text, &err), 0);
    char *pipe = strstr(text.data, " |\n  curl");
    CHECK(pipe != NULL);
    if (pipe)
        *pipe = '\0';
    FILE *f = popen(text.data, "r");
    char got[16384];
    size_t n = f ? fread(got, 1, sizeof got, f) : 0;
    if (f)
        pclose(f);
    struct query *q =
        store_query(s, "SELECT inflate(data, deflated) FROM evidence WHERE part = 'request'", &err);
    CHECK_INT(query_step(q, &err), 1);
    struct span body = query_bytes(q, 0);
    CHECK(body.len == n && memcmp(body.data, got, n) == 0);
    query_free(q);
    buf_release(&text);
    buf_release(&want);
    store_close(s);
}

static void expect_show_error(struct store *s, const struct report_show *request, const char *word)
{
    struct err err = {0};
    struct buf text = BUF_INIT;
    CHECK_INT(report_show(s, request, &plain, &text, &err), -1);
    CHECK_INT(err.status, STATUS_USAGE);
    if (!strstr(err.text, word))
        fprintf(stderr, "text: %s\n", err.text);
    CHECK(strstr(err.text, word) != NULL);
    CHECK_INT(text.len, 0);
    buf_release(&text);
}

static int count_piece(void *arg, const struct buf *out, struct err *err)
{
    (void)err;
    CHECK(strncmp(buf_str(out), "{\"run\":", 7) == 0);
    ++*(int *)arg;
    return 0;
}

/* Without numbers: the newest run, the first damaged session, or all of a kind. */
static void test_finding_sessions(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    expect_show_error(s, &(struct report_show){0}, "no run");
    add_run(s, &(struct fixture){"old", 40, 10, 1, 0, 0});
    add_run(s, &(struct fixture){"new", 60, 10, 4, 0, 0});
    struct buf text = BUF_INIT;
    CHECK_INT(report_show(s, &(struct report_show){0}, &plain, &text, &err), 0);
    CHECK(strncmp(buf_str(&text), "session 7 of run 2: leak.markup", 31) == 0);
    buf_clear(&text);
    const struct report_show cap = {.reason = "no_tool.cap"};
    CHECK_INT(report_show(s, &cap, &plain, &text, &err), 0);
    CHECK(strncmp(buf_str(&text), "session 17 of run 2: no_tool.cap", 32) == 0);
    buf_clear(&text);
    int pieces = 0;
    const struct report_style json = {.json = true};
    const struct report_show all = {.all = true, .flush = count_piece, .arg = &pieces};
    CHECK_INT(report_show(s, &all, &json, &text, &err), 0);
    CHECK_INT(pieces, 4);
    CHECK_INT(text.len, 0);
    CHECK_STR(err.text, "");
    expect_show_error(s, &(struct report_show){.run = 1, .reason = "no_tool"}, "no session");
    expect_show_error(s, &(struct report_show){.reason = "nosuch"}, "unknown reason");
    buf_release(&text);
    store_close(s);
}

static void test_unknown(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    expect_show_error(s, &(struct report_show){.run = 1, .session = 1}, "has none");
    add_run(s, &(struct fixture){"baseline", 40, 10, 2, 0, 0});
    expect_show_error(s, &(struct report_show){.run = 2, .session = 1}, "only run 1");
    expect_show_error(s, &(struct report_show){.run = 1, .session = 99}, "damaged are 7, 17");
    expect_show_error(s, &(struct report_show){.run = 1, .session = 7, .round = 9}, "no round 9");
    expect_show_error(s, &(struct report_show){.run = 1, .session = 7, .form = SHOW_CURL},
                      "--keep all");
    struct buf text = BUF_INIT;
    CHECK_INT(report_summary(s, 5, &plain, &text, &err), -1);
    CHECK(strstr(err.text, "no run 5") != NULL);
    buf_release(&text);
    store_close(s);
}

int main(void)
{
    test_show();
    test_show_json();
    test_curl_body();
    test_finding_sessions();
    test_unknown();
    return check_end();
}
