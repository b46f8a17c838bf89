// layers: wire chat base
/* The short cut comes to the same as the tree, on every case and on cases damaged at random; and it
 * is really taken for the events that servers send most. */
#include "casefile.h"

#include "accum.h"
#include "caselines.h"
#include "check.h"
#include "decode_ops.h"
#include "replydump.h"
#include "rng.h"

#define MUTANTS 400 /* per case */

static void compare(const char *id, const struct exchange_facts *facts, struct span bytes)
{
    struct decode_ops ops = decode_openai;
    struct dialect slow = *dialect_default();
    ops.read_fast = NULL;
    slow.decode = &ops;
    struct exchange_facts tree = *facts;
    tree.dialect = &slow;
    char *got = dump_chunked(facts, bytes, 0), *want = dump_chunked(&tree, bytes, 0);
    check_count++;
    if (strcmp(got, want) != 0) {
        check_failures++;
        fprintf(stderr, "%s: short cut\n%s--- tree\n%s--- of\n%.*s\n", id, got, want,
                (int)bytes.len, bytes.data);
    }
    free(got);
    free(want);
}

/* Pieces of JSON that make a plain event an odd one, or nearly. */
static const char *const pieces[] = {"\\ud83d",
                                     "\\ude00",
                                     "\\u0000",
                                     "\\u00e9",
                                     "\\n",
                                     "\\x",
                                     "\"",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "null",
                                     "true",
                                     "01",
                                     "-",
                                     "1e3",
                                     "\"error\":",
                                     "\"role\":",
                                     "\"content\":",
                                     "\"id\":",
                                     "\"a\":{",
                                     "\"b\":1,",
                                     "\"usage\":",
                                     "\"usage\":{\"prompt_tokens\":3},",
                                     "\"prompt_tokens\":",
                                     "\"cached_tokens\":7,",
                                     "\"reasoning_tokens\":7,",
                                     "\"prompt_tokens_details\":{",
                                     "\"index\":",
                                     "\"delta\":",
                                     "\"type\":\"\",",
                                     "\xED\xA0",
                                     "\xC0\x80",
                                     "\x01",
                                     " ",
                                     "\n",
                                     "\"name\":\"q\",",
                                     "\"reasoning\":\"r\",",
                                     "\"function\":{},",
                                     "\"choices\":[],",
                                     "\"refusal\":\"no\","};

static void mutate(struct rng *rng, struct buf *b)
{
    size_t n = 1 + rng_below(rng, 3);
    for (size_t i = 0; i < n && b->len; i++) {
        size_t at = rng_below(rng, b->len);
        struct buf rest = BUF_INIT;
        size_t cut = rng_below(rng, 4) == 0 ? rng_below(rng, 12) : 0;
        size_t behind = at + cut < b->len ? at + cut : b->len;
        buf_add(&rest, b->data + behind, b->len - behind);
        b->len = at;
        if (rng_chance(rng, 0.2))
            buf_addc(b, (char)rng_below(rng, 256));
        else
            buf_adds(b, rng_pick(rng, pieces, sizeof pieces / sizeof pieces[0]));
        buf_add(b, buf_str(&rest), rest.len);
        buf_release(&rest);
    }
}

/* Repeats bytes of the text elsewhere in it: keys twice, objects inside others. */
static void transplant(struct rng *rng, struct buf *b)
{
    if (b->len < 20)
        return;
    size_t from = rng_below(rng, b->len - 10), n = 1 + rng_below(rng, b->len - from);
    n = n > 60 ? 60 : n;
    size_t at = rng_below(rng, b->len);
    struct buf out = BUF_INIT;
    buf_add(&out, b->data, at);
    buf_add(&out, b->data + from, n);
    buf_add(&out, b->data + at, b->len - at);
    buf_release(b);
    *b = out;
}

static void check_line(struct span line)
{
    struct casefile c;
    struct err err = {0};
    CHECK_INT(casefile_read(line, 0, &c, &err), 0);
    struct exchange_facts f = {.stream = c.reply.stream,
                               .status = c.reply.status,
                               .end = c.reply.end,
                               .caps = endpoint_default_caps()};
    compare(c.id, &f, buf_span(&c.reply.raw));
    bool plain = c.reply.raw.len && c.reply.raw.len < 4000;
    for (uint64_t i = 0; plain && i < MUTANTS; i++) {
        struct rng rng = rng_stream(i, 0, c.id);
        struct buf b = BUF_INIT;
        buf_add(&b, c.reply.raw.data, c.reply.raw.len);
        if (rng_chance(&rng, 0.3))
            transplant(&rng, &b);
        else
            mutate(&rng, &b);
        compare(c.id, &f, buf_span(&b));
        buf_release(&b);
    }
    casefile_release(&c);
}

struct event_row {
    bool taken;
    const char *text;
};

static const struct event_row events[] = {
    {true,
     "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":17,\"model\":\"m\","
     "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a \\\"b\\\"\\n\\u00e9\\ud83d\\ude00\"},"
     "\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}"},
    {true,
     "{ \"choices\" : [ { \"delta\" : { \"role\" : \"assistant\" , \"content\" : null } } ] }"},
    {true, "{\"choices\":[{\"delta\":{\"reasoning\":\"r\",\"reasoning_content\":null}}]}"},
    {true, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"
           "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}"},
    {true, "{\"choices\":[{\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"tool_calls\"}]}"},
    {true, "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":0,"
           "\"total_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":4,\"x\":null},"
           "\"completion_tokens_details\":null}}"},
    {true, "{\"usage\":{\"input_tokens\":9},\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"},
    {false, "{\"choices\":[],\"usage\":{\"prompt_tokens\":9.5}}"},
    {false, "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"prompt_tokens\":8}}"},
    {false, "{\"choices\":[],\"usage\":{\"prompt_tokens\":1e3}}"},
    {false, "{\"choices\":[],\"usage\":{}, \"usage\":{}}"},
    {false, "{\"usage\":{\"prompt_tokens\":9}}"},
    {false, "{\"choices\":[],\"usage\":null}"},
    {false, "{\"choices\":[]}"},
    {false, "{\"choices\":[{\"delta\":{\"content\":\"a\",\"content\":\"b\"}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"content\":\"\\u0000\"}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"content\":[]}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"f\"}}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"x\":{\"tool_calls\":[]}}}]}"},
    {false, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"name\":\"f\"}]}}]}"},
    {true, "{\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1}}"},
    {false, "{\"choices\":[{\"delta\":{}}],\"error\":\"x\"}"},
    {false, "{\"choices\":[{\"delta\":{}}],\"type\":\"error\"}"},
    {false, "{\"choices\":[{\"delta\":{}},{\"delta\":{}}]}"},
    {false, "{\"choices\":[{\"delta\":{}}]} x"},
    {false, "{\"choices\":[{\"delta\":{}}]"},
    {false, "{\"ch\\u006fices\":[{\"delta\":{}}]}"},
};

static void test_taken(void)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct reply r;
        struct accum a;
        reply_init(&r);
        accum_init(&a, dialect_default(), &r);
        bool taken = decode_fast_event(&a, span_of(events[i].text));
        CHECK(taken == events[i].taken);
        if (taken != events[i].taken)
            fprintf(stderr, "... %s\n", events[i].text);
        /* refused means untouched */
        CHECK(taken == (r.has_choice || r.usage.prompt_tokens >= 0));
        accum_release(&a);
        reply_release(&r);
    }
}

/* What stands around the text that changes from event to event, and is remembered. */
static const char *const frames[][2] = {
    {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", "\"},\"finish_reason\":null}]}"},
    {"{\"choices\":[{\"delta\":{\"content\":\"", "\",\"role\":\"\"}}],\"usage\":null}"},
    {"{\"choices\":[{\"delta\":{\"content\":null,\"reasoning\":\"", "\"}}]}"},
    {"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"",
     "\"}}]}}]}"},
    {"{\"choices\":[{\"delta\":{\"content\":\"a\",\"reasoning\":\"", "\"}}]}"}};

static const char *const texts[] = {
    "word",
    "",
    " a\\nb",
    "\\ud83d\\ude00",
    "\\ud83d",
    "a\"",
    "\\",
    "\\\"},\\\"finish_reason\\\":null}]}",
    "x\"}}]}",
    "x\",\"role\":\"user",
    "x\",\"content\":\"y",
    "\xC3\xA9",
    "\xED\xA0\xBD",
    "\x01",
    "{\\\"k\\\": [1, 2]}",
    "a text that is longer than any other here, by far, to move buffers"};

/* Streams whose events are alike, or nearly: what was remembered of one must not leak into another.
 */
static void test_alike(void)
{
    struct exchange_facts f = {
        .stream = true, .status = 200, .end = END_CLEAN, .caps = endpoint_default_caps()};
    for (uint64_t i = 0; i < 4000; i++) {
        struct rng rng = rng_stream(i, 0, "alike");
        struct buf b = BUF_INIT;
        size_t frame = rng_below(&rng, sizeof frames / sizeof frames[0]);
        for (size_t n = 2 + rng_below(&rng, 8); n > 0; n--) {
            if (rng_chance(&rng, 0.1))
                frame = rng_below(&rng, sizeof frames / sizeof frames[0]);
            const char *text = rng_pick(&rng, texts, sizeof texts / sizeof texts[0]);
            buf_addf(&b, "data: %s%s%s\n\n", frames[frame][0], text, frames[frame][1]);
        }
        buf_adds(&b, "data: [DONE]\n\n");
        compare("alike", &f, buf_span(&b));
        char *whole = dump_chunked(&f, buf_span(&b), 0);
        char *pieces_of_61 = dump_chunked(&f, buf_span(&b), 61);
        CHECK_STR(pieces_of_61, whole);
        free(whole);
        free(pieces_of_61);
        buf_release(&b);
    }
}

int main(void)
{
    test_taken();
    test_alike();
    each_wire_case(check_line);
    return check_end();
}
