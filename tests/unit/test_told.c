// layers: judge chat base
/* What can be told of an exchange from its verdict, and of a prompt from its text. */
#include "check.h"
#include "embed.h"
#include "expect.h"
#include "json.h"
#include "judge.h"
#include "reply.h"

/* Every way for an exchange to end can be read off the verdict's signs. */
static void test_ends(const struct judge *j)
{
    for (int end = END_CLEAN; end <= END_CANCELLED; end++) {
        const struct expect e = {.calls_allowed = true};
        struct reply r;
        struct verdict v = {0};
        int told = END_CLEAN;
        reply_init(&r);
        r.end = (enum exchange_end)end;
        r.status = end == END_CUT ? 0 : 200;
        r.has_choice = true;
        r.done = end == END_CLEAN;
        snprintf(r.finish, sizeof r.finish, "%s", r.done ? "stop" : "");
        judge_reply(j, NULL, &e, &r, &v);
        for (size_t i = 0; i < v.n_signs; i++)
            if (v.signs[i].channel == CHANNEL_transport && told == END_CLEAN)
                told = judge_told_end(v.signs[i].rule);
        CHECK_INT(told, end);
        verdict_release(&v);
        reply_release(&r);
    }
    /* A reply that was complete has lost nothing: of its end only the quirk tells. */
    for (int end = END_CUT; end <= END_STALL_IDLE; end += END_STALL_IDLE - END_CUT) {
        const struct expect e = {.calls_allowed = true};
        struct reply r;
        struct verdict v = {0};
        reply_init(&r);
        r.end = (enum exchange_end)end;
        r.status = 200;
        r.done = r.has_choice = true;
        snprintf(r.finish, sizeof r.finish, "stop");
        judge_reply(j, NULL, &e, &r, &v);
        CHECK_INT(v.class, CLASS_OK);
        CHECK(v.quirks & QUIRK_BIT(early_close));
        verdict_release(&v);
        reply_release(&r);
    }
    CHECK_INT(judge_told_end(""), END_CLEAN);
    CHECK_INT(judge_told_end("status"), END_CLEAN);
    CHECK_INT(judge_told_end("no-finish"), END_CLEAN);
}

static void count_mentions(const struct judge *j, const struct json *texts, long *n, long *yes)
{
    for (const struct json *t = json_first(texts); t; t = json_next(t)) {
        struct buf prompt = BUF_INIT;
        const struct json *text = json_type(t) == JSON_STRING ? t : json_get(t, "text");
        if (json_type(text) != JSON_STRING)
            continue;
        buf_adds(&prompt, "Write for our readers how a call looks.\n\n");
        buf_add(&prompt, json_span(text).data, json_span(text).len);
        buf_adds(&prompt, "\n\nThree paragraphs will do.");
        ++*n;
        *yes += judge_mentions_markup(j, NULL, buf_span(&prompt));
        buf_release(&prompt);
    }
}

static void test_prompts(const struct judge *j)
{
    long n = 0, yes = 0;
    for (const struct embedded *f = NULL; (f = embed_next("schemas/markup/", f));) {
        struct json *v = json_parse((struct span){f->data, f->len}, NULL);
        if (strncmp(f->name, "rules-", 6) != 0)
            count_mentions(j, json_get(v, "leaks"), &n, &yes);
        json_free(v);
    }
    /* Halves of markers, which only the end of a text shows, are no longer at its end here. */
    CHECK(n >= 150);
    CHECK(yes * 4 >= n * 3);
    CHECK(judge_mentions_markup(j, NULL, span_of("What does <tool_call> mean?")));
    CHECK(judge_mentions_markup(j, NULL,
                                span_of("The token <\xEF\xBD\x9C"
                                        "User\xEF\xBD\x9C> ends it.")));
    static const char *const plain[] = {"",
                                        "Weigh lot L-3 and tell me the result.",
                                        "if a < b && c > d then use List<String>",
                                        "{\"lot\": \"L-3\", \"name\": \"Ada\"}",
                                        "<p>A <b>page</b> of HTML &amp; more</p>",
                                        ">>> print(1)"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        CHECK(!judge_mentions_markup(j, NULL, span_of(plain[i])));
}

int main(void)
{
    const struct judge_options o = {.strict = false};
    struct err err = {0};
    struct judge *j = judge_new(&o, &err);
    CHECK_STR(err.text, "");
    if (j) {
        test_ends(j);
        test_prompts(j);
    }
    judge_free(j);
    return check_end();
}
