// layers: wire chat base
/* Secrets in what a server sends back: as they are, escaped, cut, and in pieces over a stream. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "check.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "redact.h"
#include "reply.h"
#include "rng.h"
#include "secrets.h"

static const char key[] = "sk-a/b\"c+d1234567890";

static const char deep_key[] = "sk-a/b\\\"c+d1234567890";

struct world {
    struct endpoint ep;
    struct redactor redactor;
};

static void make(struct world *w)
{
    struct err err = {0};
    CHECK_INT(endpoint_init(&w->ep, dialect_default(), "http://a/v1?api-key=q_secret", &err), 0);
    w->ep.api_key = mem_str(key);
    secrets_init(&w->redactor, &w->ep);
}

static void drop(struct world *w)
{
    secrets_release(&w->redactor);
    endpoint_release(&w->ep);
}

static const struct {
    const char *text, *want;
} rows[] = {
    {"plain sk-a/b\"c+d1234567890.", "plain ********************."},
    {"{\"a\":\"sk-a/b\\\"c+d1234567890\"}", "{\"a\":\"*********************\"}"},
    {"{\"a\":\"sk-a\\/b\\\"c\\u002Bd1234567890\"}", "{\"a\":\"***************************\"}"},
    {"\"{\\\"a\\\":\\\"sk-a/b\\\\\\\"c+d1234567890\\\"}\"",
     "\"{\\\"a\\\":\\\"***********************\\\"}\""},
    {"a q_secret, q_secret", "a ********, ********"},
    {"sk-a/b, q_secre", "sk-a/b, q_secre"},
    {"", ""},
};

static void test_bytes(void)
{
    struct world w;
    make(&w);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = mem_str(rows[i].text);
        redact_bytes(&w.redactor, text, strlen(text));
        CHECK_STR(text, rows[i].want);
        CHECK_INT(redact_holds(&w.redactor, span_of(rows[i].text)),
                  strcmp(rows[i].text, rows[i].want) != 0);
        free(text);
    }
    char cut[] = "wanted x, got sk-a/b\"c+d and b\"c+d123";
    redact_pieces(&w.redactor, cut);
    CHECK_STR(cut, "wanted x, got ********** and ********");
    drop(&w);
}

static void decode(const struct world *w, struct reply *r)
{
    struct decoder *d = decoder_new(w->ep.dialect, &w->ep.caps, r);
    decoder_start(d, 200, r->stream ? "text/event-stream" : "application/json");
    decoder_feed(d, r->raw.data, r->raw.len, 0);
    decoder_end(d);
    decoder_free(d);
}

/* One event that adds `text` to the field. */
static void add_event(struct buf *out, int field, struct span text)
{
    static const char *const starts[] = {
        "{\"content\":", "{\"reasoning_content\":",
        "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":",
        "{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"arguments\":\"\",\"name\":"};
    static const char *const ends[] = {"}", "}", "}}]}", "}}]}"};
    buf_addf(out, "data: {\"choices\":[{\"index\":0,\"delta\":%s", starts[field]);
    struct jsonw w = {.out = out};
    jsonw_span(&w, text);
    buf_addf(out, "%s}]}\n\n", ends[field]);
}

/* Whatever pieces the secret comes in, it can't be read from what is kept, and no byte moves. */
static void test_pieces(void)
{
    struct world w;
    make(&w);
    struct rng rng = rng_stream(7, 1, "pieces");
    for (int round = 0; round < 400; round++) {
        struct reply r;
        reply_init(&r);
        r.stream = true;
        int field = round % 4;
        bool deep = field == 2 && round % 7 == 0; /* the arguments are JSON, as they should be */
        char *text =
            mem_printf("see %s, and %s there", deep ? deep_key : key, round % 3 ? "q_secret" : key);
        for (size_t at = 0, n; at < strlen(text); at += n) {
            n = 1 + (size_t)rng_below(&rng, 7);
            n = n < strlen(text) - at ? n : strlen(text) - at;
            add_event(&r.raw, field, (struct span){text + at, n});
            if (round % 5 == 0)
                add_event(&r.raw, (field + 1) % 3, span_of("other"));
        }
        buf_adds(&r.raw, "data: [DONE]\n\n");
        decode(&w, &r);
        size_t len = r.raw.len;
        redact_reply(&w.redactor, &w.ep, &r);
        CHECK_INT(r.raw.len, len);
        struct reply again;
        reply_init(&again);
        again.stream = true;
        buf_add(&again.raw, r.raw.data, r.raw.len);
        decode(&w, &again);
        CHECK(!redact_holds(&w.redactor, buf_span(&again.content)));
        CHECK(!redact_holds(&w.redactor, buf_span(&again.reasoning)));
        for (size_t i = 0; i < again.n_calls; i++) {
            CHECK(!redact_holds(&w.redactor, buf_span(&again.calls[i].args)));
            CHECK(!redact_holds(&w.redactor, buf_span(&again.calls[i].name)));
        }
        if (field < 3 && round % 5 && !deep) { /* and all else can */
            const struct buf *kept = field == 0   ? &again.content
                                     : field == 1 ? &again.reasoning
                                                  : &again.calls[0].args;
            CHECK(strstr(buf_str(kept), "see ********"));
            CHECK(strstr(buf_str(kept), " there"));
        }
        if (field == 0) /* it is judged as it came */
            CHECK(redact_holds(&w.redactor, buf_span(&r.content)));
        redact_message(&w.redactor, &r);
        CHECK(!redact_holds(&w.redactor, buf_span(&r.content)));
        reply_release(&again);
        reply_release(&r);
        free(text);
    }
    drop(&w);
}

int main(void)
{
    test_bytes();
    test_pieces();
    return check_end();
}
