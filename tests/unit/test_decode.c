// layers: wire chat base
/* Every case of the case files, cut in every way, gives one reply; and what single rows of the
 * servers' habits must come to. */
#include "casefile.h"

#include "caselines.h"
#include "check.h"
#include "replydump.h"

static void same(const char *id, const char *what, size_t at, char *got, const char *want)
{
    check_count++;
    if (strcmp(got, want) != 0) {
        check_failures++;
        fprintf(stderr, "%s: %s %zu differs\n--- got\n%s--- want\n%s", id, what, at, got, want);
    }
    free(got);
}

static struct exchange_facts facts_of(const struct reply *r)
{
    return (struct exchange_facts){.stream = r->stream,
                                   .status = r->status,
                                   .content_type = r->content_type,
                                   .end = r->end,
                                   .caps = endpoint_default_caps()};
}

static void every_cut(const char *id, const struct exchange_facts *f, struct span bytes)
{
    char *want = dump_chunked(f, bytes, 0);
    for (size_t chunk = 1; chunk <= 16; chunk++)
        same(id, "chunks of", chunk, dump_chunked(f, bytes, chunk), want);
    size_t step = bytes.len > 4000 ? bytes.len / 1000 : 1; /* long ones: a thousand cuts */
    for (size_t at = 0; at <= bytes.len; at += step) {
        struct reply r;
        decode_pieces(f, bytes, &at, 1, &r);
        same(id, "cut at", at, dump_reply(&r), want);
        reply_release(&r);
    }
    free(want);
}

/* A reply that was cut short never claims to be whole. */
static void every_truncation(const char *id, const struct exchange_facts *f, struct span bytes)
{
    size_t whole = bytes.len; /* the first length at which it may say so */
    long mark = span_find(bytes, span_of("[DONE]"), 0);
    if (mark >= 0)
        whole = (size_t)mark + 6;
    else
        while (whole && strchr(" \r\n\t", bytes.data[whole - 1]))
            whole--;
    struct exchange_facts cut = *f;
    cut.end = END_CUT;
    size_t step = bytes.len > 4000 ? bytes.len / 1000 : 1;
    for (size_t n = 0; n < whole; n += step) {
        struct reply r;
        decode_pieces(&cut, (struct span){bytes.data, n}, NULL, 0, &r);
        CHECK(!r.done);
        if (r.done)
            fprintf(stderr, "%s: done after %zu bytes\n", id, n);
        reply_release(&r);
    }
}

static void check_quirks(const struct casefile *c)
{
    const struct json *quirks = json_get(c->source, "quirks");
    for (const struct json *q = json_first(quirks); q; q = json_next(q)) {
        int found = quirk_find(json_text(q));
        CHECK(found >= 0);
        bool seen = found >= 0 && (c->reply.quirks >> found & 1);
        CHECK(seen);
        if (!seen)
            fprintf(stderr, "%s: quirk %s not seen\n", c->id, json_text(q));
    }
}

static void check_text(const struct casefile *c, const char *key, const struct buf *got)
{
    const struct json *want = json_get(json_get(c->source, "decodes_to"), key);
    if (want && !span_is(json_span(want), buf_str(got)))
        fprintf(stderr, "%s: %s is \"%s\"\n", c->id, key, buf_str(got));
    CHECK(!want || span_is(json_span(want), buf_str(got)));
}

static void check_decoded(const struct casefile *c)
{
    const struct json *want = json_get(c->source, "decodes_to");
    check_text(c, "content", &c->reply.content);
    check_text(c, "reasoning", &c->reply.reasoning);
    check_text(c, "error", &c->reply.error_text);
    const struct json *calls = json_get(want, "tool_calls");
    if (want)
        CHECK_INT(c->reply.n_calls, json_count(calls));
    size_t n = 0;
    for (const struct json *call = json_first(calls); call && n < c->reply.n_calls;
         call = json_next(call), n++) {
        CHECK_STR(buf_str(&c->reply.calls[n].name), json_text(json_get(call, "name")));
        CHECK_STR(buf_str(&c->reply.calls[n].args), json_text(json_get(call, "arguments")));
        if (json_get(call, "id"))
            CHECK_STR(buf_str(&c->reply.calls[n].id), json_text(json_get(call, "id")));
    }
}

static void check_line(struct span line)
{
    struct casefile c;
    struct err err = {0};
    int rc = casefile_read(line, 0, &c, &err);
    CHECK_STR(err.text, "");
    if (rc < 0)
        return;
    check_quirks(&c);
    check_decoded(&c);
    if (json_get(c.source, "response")) {
        struct exchange_facts f = facts_of(&c.reply);
        char *direct = dump_chunked(&f, buf_span(&c.reply.raw), 0);
        same(c.id, "the case file's own reading", 0, dump_reply(&c.reply), direct);
        free(direct);
        every_cut(c.id, &f, buf_span(&c.reply.raw));
        every_truncation(c.id, &f, buf_span(&c.reply.raw));
    }
    casefile_release(&c);
}

/* What JSON case files can't hold: bytes that are no text. */
static void test_odd_text(void)
{
    static const char half[] =
        "data: {\"choices\":[{\"delta\":{\"content\":\"be\\ud83cfore\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\" a\\u0000b\"}}]}\n\n";
    static const char raw[] = "data: {\"choices\":[{\"delta\":{\"content\":\"\xE6\"}}]}\n\n"
                              "data: {\"choices\":[{\"delta\":{\"content\":\"\xB0\xB4\"}}]}\n\n";
    struct exchange_facts f = {.stream = true, .status = 200, .caps = endpoint_default_caps()};
    struct reply r;
    decode_pieces(&f, span_of(half), NULL, 0, &r);
    CHECK_INT(r.content.len, 2 + 3 + 4 + 4);
    CHECK(memcmp(r.content.data,
                 "be\xED\xA0\xBC"
                 "fore a\0b",
                 13) == 0);
    CHECK(r.quirks & QUIRK_BIT(lone_surrogate));
    reply_release(&r);
    decode_pieces(&f, span_of(raw), NULL, 0, &r);
    CHECK_STR(buf_str(&r.content), "\xE6\xB0\xB4"); /* one character, cut over two tokens */
    reply_release(&r);
}

/* Half an event is the server's doing if the server stopped, and ours if a limit of ours did. */
static void test_half_event(void)
{
    static const struct {
        const char *bytes;
        enum exchange_end end;
        bool broken;
    } rows[] = {
        {"data: {\"choices\":[]}\n\ndata: {\"ch", END_CLEAN, true},
        {"data: {\"choices\":[]}\n\ndata: {\"ch", END_CUT, true},
        {"data: {\"choices\":[]}\n\ndata: {\"ch", END_STALL_IDLE, false},
        {"data: {\"choices\":[]}\n\ndata: {\"ch", END_TIMEOUT, false},
        {"data: {bad\n\ndata: {\"ch", END_STALL_IDLE, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct exchange_facts f = {
            .stream = true, .status = 200, .end = rows[i].end, .caps = endpoint_default_caps()};
        struct reply r;
        decode_pieces(&f, span_of(rows[i].bytes), NULL, 0, &r);
        CHECK(r.framing_broken == rows[i].broken);
        CHECK_INT(r.end, rows[i].end);
        reply_release(&r);
    }
}

/* A cap passes at the same byte however the bytes come, and what came before it stands. */
static void test_caps(void)
{
    static const char text[] =
        "data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"two\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"and much more of it\"}}]}\n\n";
    struct exchange_facts f = {.stream = true, .status = 200};
    for (size_t cap = 40; cap <= sizeof text; cap++) {
        f.caps = (struct wire_caps){.line = 60, .reply = cap};
        char *want = dump_chunked(&f, span_of(text), 0);
        for (size_t chunk = 1; chunk < 20; chunk++)
            same("caps", "chunks of", chunk, dump_chunked(&f, span_of(text), chunk), want);
        CHECK(strstr(want, cap < 2 * 49 + 61 ? "reply cap" : "line cap 60"));
        CHECK(!strstr(want, "much"));
        free(want);
    }
    struct reply r;
    struct buf calls = BUF_INIT;
    f.caps = endpoint_default_caps();
    for (int i = 0; i < 3000; i++)
        buf_addf(&calls, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d}]}}]}\n\n",
                 i);
    decode_pieces(&f, buf_span(&calls), NULL, 0, &r);
    CHECK_INT(r.end, END_TOO_LARGE);
    CHECK_STR(r.end_detail, "tool call cap 1024");
    CHECK_INT(r.n_calls, 1024);
    reply_release(&r);
    buf_release(&calls);
}

int main(void)
{
    test_odd_text();
    test_half_event();
    test_caps();
    each_wire_case(check_line);
    return check_end();
}
