// layers: report store wire chat stats base
/* test_report.c - the texts of reports, byte for byte, from a database made here; the JSON of the
 * same figures; and texts from outside that must not reach the terminal as they are.
 *
 * TOOLSTORM_GOLDEN=update writes tests/golden anew. */
#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "clock.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "figures.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "report.h"
#include "schema.h"
#include "store.h"
#include "text.h"

/* What session number n of the fixture comes to. */
struct plan {
    const char *class, *reason;
    int bad_round, rounds;
};

static struct plan plan_of(long n, long corrupted, long errors)
{
    if (n % 10 == 7 && n / 10 < corrupted)
        return n % 20 == 7 ? (struct plan){"leak", "leak.markup", 2, 2}
                           : (struct plan){"no_tool", "no_tool.cap", 3, 3};
    if (n % 10 == 4 && n / 10 < errors)
        return (struct plan){"error", "error.cut", 0, 2};
    return (struct plan){"ok", "ok.done", 0, 3};
}

static struct round_row round_row(long n, int round, const struct plan *p)
{
    bool last = round == p->rounds;
    int64_t sent = n * 50000 + round * 400000;
    return (struct round_row){
        .round = round,
        .class = last ? p->class : "ok",
        .reason = last ? p->reason : "ok.maxrounds",
        .scheduled_us = sent - 100,
        .sent_us = sent,
        .first_byte_us = sent + 20000,
        .first_token_us = sent + 25000 + n * 1000,
        .last_token_us = sent + 225000 + n * 1000,
        .done_us = sent + 226000 + n * 1000,
        .prompt_tokens = 2100 + round * 37 + n % 3,
        .completion_tokens = 40 + n % 7,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .token_events = 21,
        .max_gap_us = 12000 + n * 100,
        .max_late_us = 300,
        .in_flight_start = 10,
        .in_flight_max = 10,
        .finish = last && strcmp(p->reason, "no_tool.cap") == 0 ? "length" : "tool_calls",
        .status = 200,
        .reused = round > 1,
        .request_bytes = 9000,
        .response_bytes = 4000,
        .quirks = n % 4 == 0 ? "no_done crlf" : "usage_only_chunk",
        .end_detail = "",
    };
}

struct fixture {
    const char *label;
    long sessions, concurrency, corrupted, errors;
    long stored; /* 0 = all */
};

static long add_run(struct store *s, const struct fixture *f)
{
    struct err err = {0};
    const struct pair tags[] = {{"graph", f->corrupted ? "on" : "off"}, {"idxk", "bf16"}};
    const struct run_row row = {
        .started_us = 1796032800000000,
        .label = f->label,
        .scenario = "chain",
        .scenario_text = "{}",
        .model = "tiny-8b",
        .base_url = "http://127.0.0.1:8000/v1",
        .dialect = "openai-chat",
        .version = "0.1.0",
        .command = "toolstorm run --sessions 40",
        .seed = 1,
        .sessions = f->sessions,
        .concurrency = f->concurrency,
        .rounds = 3,
        .context_tokens = 2000,
        .max_tokens = 1024,
        .threads = 2,
        .temperature = NAN,
        .stream = true,
        .judge_version = 1,
        .on_damage = "stop",
        .tool_choice = "auto",
        .tags = tags,
        .n_tags = 2,
    };
    long run = store_run_begin(s, &row, &err);
    for (long n = 1; n <= (f->stored ? f->stored : f->sessions) && err.status == 0; n++) {
        struct plan p = plan_of(n, f->corrupted, f->errors);
        struct round_row rounds[3];
        for (int i = 0; i < p.rounds; i++)
            rounds[i] = round_row(n, i + 1, &p);
        const struct session_row session = {.session = n,
                                            .start_order = n,
                                            .class = p.class,
                                            .reason = p.reason,
                                            .first_bad_round = p.bad_round,
                                            .rounds_played = p.rounds,
                                            .ramp = n <= 8,
                                            .canary = "K7QPM-2XD9R",
                                            .start_us = n * 50000,
                                            .end_us = n * 50000 + 1200000,
                                            .rounds = rounds,
                                            .n_rounds = (size_t)p.rounds};
        store_session(s, run, &session, &err);
    }
    const struct run_end end = {.status = f->stored ? "interrupted" : "done",
                                .peak_in_flight = f->concurrency < 10 ? f->concurrency : 10,
                                .wall_us = 12300000,
                                .cpu_us = 140000,
                                .late_p99_us = 420};
    store_run_end(s, run, &end, &err);
    CHECK_STR(err.text, "");
    return run;
}

static void first_difference(const char *name, const char *got, const char *want)
{
    size_t at = 0, line = 0;
    for (; got[at] && got[at] == want[at]; at++)
        if (got[at] == '\n')
            line = at + 1;
    fprintf(stderr, "%s: got  \"%.*s\"\n%s: want \"%.*s\"\n", name, (int)strcspn(got + line, "\n"),
            got + line, name, (int)strcspn(want + line, "\n"), want + line);
}

static void expect_golden(const char *name, const struct buf *got)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s", SOURCE_DIR, name);
    struct err err = {0};
    const char *mode = getenv("TOOLSTORM_GOLDEN");
    if (mode && strcmp(mode, "update") == 0) {
        CHECK_INT(file_write(path, buf_str(got), got->len, &err), 0);
        return;
    }
    struct buf want = BUF_INIT;
    CHECK_INT(file_read(path, 1 << 20, &want, &err), 0);
    bool same = got->len == want.len && memcmp(buf_str(got), buf_str(&want), got->len) == 0;
    CHECK(same);
    if (!same)
        first_difference(name, buf_str(got), buf_str(&want));
    buf_release(&want);
}

static const struct report_style plain = {.columns = 80, .db = "toolstorm.db"};

/* No line is wider than the terminal, none ends in a space. */
static void expect_fits(const struct buf *text, size_t columns)
{
    for (const char *p = buf_str(text); *p;) {
        size_t len = strcspn(p, "\n");
        if (text_width((struct span){p, len}) > columns || (len && p[len - 1] == ' '))
            fprintf(stderr, "line: %.*s\n", (int)len, p);
        CHECK(text_width((struct span){p, len}) <= columns);
        CHECK(len == 0 || p[len - 1] != ' ');
        p += len + (p[len] == '\n');
    }
}

static void test_summaries(void)
{
    static const struct {
        const char *golden;
        struct fixture f;
        const char *first_line;
    } cases[] = {
        {"summary-damaged.txt",
         {"baseline", 40, 10, 2, 0, 0},
         "CORRUPTION sessions: 2/40 = 5%  (leak=1 no_tool=1 error=0 ok=38)\n"},
        {"summary-clean.txt",
         {"fixed", 40, 10, 0, 0, 0},
         "CORRUPTION sessions: 0/40 = 0%  (leak=0 no_tool=0 error=0 ok=40)\n"},
        {"summary-errors.txt",
         {"errors", 40, 40, 2, 3, 0},
         "CORRUPTION sessions: 2/37 = 5.4%  (leak=1 no_tool=1 error=3 ok=35)\n"},
        {"summary-cut.txt",
         {"cut", 40, 10, 1, 0, 9},
         "CORRUPTION sessions: 1/9 = 11.1%  (leak=1 no_tool=0 error=0 ok=8)\n"},
        {"summary-large.txt",
         {"large", 400, 10, 4, 0, 0},
         "CORRUPTION sessions: 4/400 = 1%  (leak=2 no_tool=2 error=0 ok=396)\n"},
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        long run = add_run(s, &cases[i].f);
        struct buf text = BUF_INIT;
        CHECK_INT(report_summary(s, run, &plain, &text, &err), 0);
        CHECK_STR(err.text, "");
        CHECK(strncmp(buf_str(&text), cases[i].first_line, strlen(cases[i].first_line)) == 0);
        expect_golden(cases[i].golden, &text);
        expect_fits(&text, 80);
        buf_release(&text);
    }
    struct buf text = BUF_INIT;
    CHECK_INT(report_list(s, &(struct report_filter){0}, &plain, &text, &err), 0);
    CHECK_STR(err.text, "");
    expect_golden("list.txt", &text);
    expect_fits(&text, 80);
    buf_release(&text);
    store_close(s);
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static struct json *parsed(const struct buf *text)
{
    struct err err = {0};
    struct json *v = json_parse(buf_span(text), &err);
    CHECK_STR(err.text, "");
    return v;
}

/* The text obeys the schema in schemas/. */
static struct json *expect_schema(const struct buf *text, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/schemas/%s", SOURCE_DIR, name);
    struct err err = {0};
    struct buf file = BUF_INIT;
    CHECK_INT(file_read(path, 1 << 20, &file, &err), 0);
    struct json *root = json_parse(buf_span(&file), &err);
    struct schema *schema = schema_new(root, &err);
    struct json *value = parsed(text);
    CHECK(schema != NULL);
    CHECK_INT(schema_check(schema, value, &err), 0);
    CHECK_STR(err.text, "");
    schema_free(schema);
    json_free(root);
    buf_release(&file);
    return value;
}

static void test_json(void)
{
    static const struct fixture cases[] = {
        {"baseline", 40, 10, 2, 0, 0}, {"fixed", 40, 10, 0, 0, 0}, {"errors", 40, 40, 2, 3, 0},
        {"cut", 40, 10, 1, 0, 9},      {NULL, 400, 10, 4, 0, 0},
    };
    struct report_style json = {.json = true};
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        long run = add_run(s, &cases[i]);
        struct buf text = BUF_INIT, same = BUF_INIT;
        CHECK_INT(report_summary(s, run, &json, &text, &err), 0);
        struct json *v = expect_schema(&text, "summary.schema.json");
        const struct json *counts = json_get(v, "counts");
        CHECK_INT(json_long(json_get(counts, "corrupted"), -1), cases[i].corrupted);
        CHECK_INT(json_long(json_get(counts, "error"), -1), cases[i].errors);
        /* The text says what the JSON says. */
        CHECK_INT(report_summary(s, run, &plain, &same, &err), 0);
        const char *headline = json_text(json_get(counts, "headline"));
        CHECK(headline && strncmp(buf_str(&same), headline, strlen(headline)) == 0);
        const struct json *warnings = json_get(v, "warnings");
        CHECK(json_count(warnings) == 0 || strstr(buf_str(&same), "\nMind\n") != NULL);
        json_free(v);
        buf_release(&text);
        buf_release(&same);
    }
    struct buf text = BUF_INIT;
    CHECK_INT(report_list(s, &(struct report_filter){0}, &json, &text, &err), 0);
    struct json *v = expect_schema(&text, "list.schema.json");
    CHECK_INT(json_count(json_get(v, "runs")), 5);
    json_free(v);
    buf_release(&text);
    CHECK_STR(err.text, "");
    store_close(s);
}

/* --- list --------------------------------------------------------------------------------------
 */

/* The run numbers that a filter leaves, or the error's text. */
static const char *listed(struct store *s, const struct report_filter *filter)
{
    static char text[2000];
    struct buf out = BUF_INIT;
    struct err err = {0};
    const struct report_style json = {.json = true};
    text[0] = '\0';
    if (report_list(s, filter, &json, &out, &err) != 0) {
        CHECK_INT(err.status, STATUS_USAGE);
        snprintf(text, sizeof text, "%s", err.text);
    } else {
        struct json *v = parsed(&out);
        for (const struct json *r = json_first(json_get(v, "runs")); r; r = json_next(r))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%ld ",
                     json_long(json_get(r, "run"), 0));
        json_free(v);
    }
    buf_release(&out);
    return text;
}

static void test_filters(void)
{
    static const struct fixture runs[] = {
        {"baseline", 40, 10, 2, 0, 0}, {"fixed", 40, 10, 0, 0, 0}, {"baseline", 40, 40, 1, 3, 0}};
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    CHECK_STR(listed(s, &(struct report_filter){0}), "");
    for (size_t i = 0; i < 3; i++)
        add_run(s, &runs[i]);
    CHECK_STR(listed(s, &(struct report_filter){0}), "1 2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.label = "baseline"}), "1 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.label = "none"}), "");
    CHECK_STR(listed(s, &(struct report_filter){.limit = 2}), "2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "leak"}), "1 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "no_tool.cap"}), "1 ");
    CHECK_STR(listed(s, &(struct report_filter){.reason = "error"}), "3 ");
    CHECK_STR(listed(s, &(struct report_filter){.since = "2026-11-30"}), "1 2 3 ");
    CHECK_STR(listed(s, &(struct report_filter){.since = "2026-12-01"}), "");
    CHECK_STR(
        listed(s, &(struct report_filter){.tags = (const char *[]){"graph=off"}, .n_tags = 1}),
        "2 ");
    CHECK_STR(listed(s, &(struct report_filter){.tags = (const char *[]){"idxk", "graph=on"},
                                                .n_tags = 2}),
              "1 3 ");
    CHECK(strstr(listed(s, &(struct report_filter){.tags = (const char *[]){"grahp"}, .n_tags = 1}),
                 "known are graph, idxk") != NULL);
    CHECK(strstr(listed(s, &(struct report_filter){.reason = "leak.mark"}), "leak.markup,") !=
          NULL);
    store_close(s);
}

/* --- show --------------------------------------------------------------------------------------
 */

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
    struct json *v = parsed(&text);
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

/* --- query -------------------------------------------------------------------------------------
 */

static const char *asked(struct store *s, const struct report_query *request)
{
    static char text[4000];
    struct buf out = BUF_INIT;
    struct err err = {0};
    if (report_query(s, request, &plain, &out, &err) != 0)
        snprintf(text, sizeof text, "%s", err.text);
    else
        snprintf(text, sizeof text, "%s", buf_str(&out));
    buf_release(&out);
    return text;
}

static void test_query(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    long run = add_run(s, &(struct fixture){"baseline", 40, 10, 2, 0, 0});
    const struct binding bindings[] = {{.name = "run", .number = run}};
    const char *sql = "SELECT 1 AS n, 'a,\"b\"' AS t, NULL AS x, 0.5 AS d UNION ALL "
                      "SELECT 20, char(27) || '[2J', 3, 1e9";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}),
              "n,t,x,d\n1,\"a,\"\"b\"\"\",,0.5\n20,\x1b[2J,3,1000000000\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}),
              "[{\"n\":1,\"t\":\"a,\\\"b\\\"\",\"x\":null,\"d\":0.5},\n"
              "{\"n\":20,\"t\":\"\\u001b[2J\",\"x\":3,\"d\":1000000000}]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql}), " n  t        x      d\n"
                                                            " 1  a,\"b\"    -    0.5\n"
                                                            "20  \\x1b[2J  3  1e+09\n");
    sql = "SELECT session FROM sessions WHERE 0";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}), "session\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}), "[]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = "SELECT reason_meaning('leak.utf8') AS m"}),
              "m\nU+FFFD or invalid UTF-8\n");
    CHECK(strstr(asked(s, &(struct report_query){.sql = "SELECT nosuch()"}), "nosuch") != NULL);
    CHECK_STR(asked(s, &(struct report_query){.report = "summary",
                                              .section = "damaged",
                                              .bindings = bindings,
                                              .n_bindings = 1,
                                              .form = QUERY_CSV}),
              "session,reason,round\n7,leak.markup,2\n17,no_tool.cap,3\n");
    CHECK(strstr(asked(s, &(struct report_query){.report = "nosuch"}), "there are") != NULL);
    CHECK(strstr(asked(s, &(struct report_query){.report = "summary",
                                                 .section = "nosuch",
                                                 .bindings = bindings,
                                                 .n_bindings = 1}),
                 "latency") != NULL);
    /* Every shipped section prints as a table. */
    const char *tables = asked(
        s, &(struct report_query){.report = "summary", .bindings = bindings, .n_bindings = 1});
    CHECK(strstr(tables, "counts\n") && strstr(tables, "percent"));
    store_close(s);
}

/* --- size --------------------------------------------------------------------------------------
 */

static void test_many(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    int64_t start = clock_cpu_us();
    long run = add_run(s, &(struct fixture){"many", 20000, 10, 900, 100, 0});
    int64_t stored = clock_cpu_us();
    struct buf text = BUF_INIT;
    CHECK_INT(report_summary(s, run, &plain, &text, &err), 0);
    CHECK(strstr(buf_str(&text), "CORRUPTION sessions: 900/19900 = 4.52%") != NULL);
    int64_t summed = clock_cpu_us();
    CHECK_INT(report_list(s, &(struct report_filter){.reason = "leak"}, &plain, &text, &err), 0);
    printf("20000 sessions: stored in %.2f s, summary %.2f s, list %.2f s of CPU\n",
           (double)(stored - start) / 1e6, (double)(summed - stored) / 1e6,
           (double)(clock_cpu_us() - summed) / 1e6);
    buf_release(&text);
    store_close(s);
}

int main(void)
{
    test_summaries();
    test_json();
    test_filters();
    test_show();
    test_show_json();
    test_curl_body();
    test_unknown();
    test_query();
    test_many();
    return check_end();
}
