/* test_request.c - what sessions send: the same bytes, whether a part of them is shared or not. */
#include <stdlib.h>

#include "check.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "request.h"
#include "scenario.h"
#include "settings.h"
#include "token.h"

#define SEED 4711
#define SAID 1500 /* messages of a captured conversation */

/* The parts of a scenario that make what its sessions begin with. */
#define HEAD  "{\"name\": \"s\", \"about\": \"shared\", "
#define STEPS "\"steps\": [{\"answer\": {\"holds\": \"x\"}}]}"
#define LONG_CONTEXT(shared)                                                                       \
    HEAD "\"user\": \"Read.\\n{{context}}\\nNow answer.\", \"context\": {\"vocabulary\": "         \
         "\"post\", "                                                                              \
         "\"shared\": " shared ", \"plant\": [\"M {{canary}}\"]}, " STEPS

static struct settings settings_of(const struct endpoint *ep, struct scenario *sc,
                                   const struct token_key *key)
{
    return (struct settings){.endpoint = ep,
                             .scenario = sc,
                             .key = key,
                             .sessions = 9,
                             .context_tokens = 40000,
                             .seed = SEED,
                             .model = "m",
                             .temperature = -1,
                             .stream = true,
                             .sampling_seed = true};
}

static void say(struct request *q, enum role role, const char *text)
{
    struct message m = {.role = role};
    buf_adds(&m.content, text);
    request_say(q, &m);
    message_release(&m);
}

static char *whole(const struct request *q)
{
    struct http_body b = request_body(q);
    struct buf text = BUF_INIT;
    buf_add(&text, b.shared.data, b.shared.len);
    buf_add(&text, b.own.data, b.own.len);
    return buf_take(&text);
}

/* Two requests of session `number`, the first begun by what is shared, say the same all along, from
 * `opening` messages on. Returns how many bytes the first had to keep. */
static size_t check_session(const struct settings *s, long number, struct span beginning,
                            size_t opening)
{
    struct request pair[2] = {0};
    struct play *p = request_play(s, number, s->context_tokens);
    request_open(&pair[0], s, p, number, beginning);
    request_open(&pair[1], s, p, number, (struct span){0});
    play_free(p);
    for (size_t round = 0; round < 3; round++)
        for (int twin = 0; twin < 2; twin++) {
            char *text[2];
            for (int i = 0; i < 2; i++) {
                if (!twin && round) {
                    say(&pair[i], ROLE_ASSISTANT, "Done.");
                    say(&pair[i], ROLE_USER, "And \"now\"?");
                }
                request_finish(&pair[i], twin);
                text[i] = whole(&pair[i]);
            }
            CHECK_STR(text[0], text[1]);
            CHECK(json_check(span_of(text[0])) < 0);
            CHECK(strstr(text[0], twin ? "\"stream\":false" : "\"stream\":true"));
            struct span messages = json_raw_get(span_of(text[0]), "messages");
            CHECK(json_raw_at(messages, opening + 2 * round - 1).len > 0);
            CHECK_INT(json_raw_at(messages, opening + 2 * round).len, 0);
            free(text[0]);
            free(text[1]);
        }
    struct http_body kept = request_body(&pair[0]);
    CHECK(!kept.shared.len || kept.shared.data == beginning.data);
    CHECK_INT(request_body(&pair[1]).shared.len, 0);
    request_release(&pair[0]);
    request_release(&pair[1]);
    return kept.own.len;
}

static struct scenario *scenario_of(const char *text)
{
    struct err err = {0};
    struct scenario *sc = scenario_parse(span_of(text), "s", &err);
    CHECK_STR(err.text, "");
    return sc;
}

/* What is said before the session begins, of which every session has a copy. */
static char *captured_conversation(const char *tail)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, HEAD "\"user\": \"Go on, {{canary}}.\", \"history\": [");
    for (int i = 0; i < SAID; i++)
        buf_addf(&b, "%s{\"role\": \"%s\", \"content\": \"What was said as number %d.\"}",
                 i ? ", " : "", i % 2 ? "assistant" : "user", i);
    buf_adds(&b, "], ");
    buf_adds(&b, tail);
    return buf_take(&b);
}

static void test_shared(void)
{
    char *captured = captured_conversation(STEPS);
    const struct {
        const char *text;
        size_t opening;
    } rows[] = {{LONG_CONTEXT("true"), 1}, {captured, SAID + 1}};
    struct endpoint ep;
    struct err err = {0};
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://127.0.0.1:1/v1", &err), 0);
    struct token_key key = token_key(SEED);
    for (int i = 0; i < 2; i++) {
        struct scenario *sc = scenario_of(rows[i].text);
        struct settings s = settings_of(&ep, sc, &key);
        struct buf beginning = BUF_INIT;
        request_beginning(&s, 3, 1, &beginning);
        CHECK(beginning.len > 65536);
        for (long number = 1; number <= s.sessions; number++)
            CHECK(check_session(&s, number, buf_span(&beginning), rows[i].opening) < 3000);
        buf_release(&beginning);
        scenario_free(sc);
    }
    endpoint_release(&ep);
    free(captured);
}

/* Nothing in common, or not enough of it. */
static void test_not_shared(void)
{
    struct endpoint ep;
    struct err err = {0};
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://127.0.0.1:1/v1", &err), 0);
    struct token_key key = token_key(SEED);
    struct scenario *own = scenario_of(LONG_CONTEXT("false"));
    struct scenario *same = scenario_of(LONG_CONTEXT("true"));
    struct settings s = settings_of(&ep, own, &key);
    struct buf beginning = BUF_INIT;
    request_beginning(&s, 1, 2, &beginning);
    CHECK_INT(beginning.len, 0);
    s.scenario = same;
    s.context_tokens = 10000;
    request_beginning(&s, 1, 2, &beginning);
    CHECK_INT(beginning.len, 0);
    buf_release(&beginning);
    scenario_free(own);
    scenario_free(same);
    endpoint_release(&ep);
}

/* A scenario without any word of the session's own: all of what it begins with is shared. */
static void test_all_shared(void)
{
    char *captured = captured_conversation("\"rounds\": 1, " STEPS);
    char *canary = strstr(captured, ", {{canary}}");
    memset(canary, ' ', strlen(", {{canary}}"));
    struct endpoint ep;
    struct err err = {0};
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://127.0.0.1:1/v1", &err), 0);
    struct token_key key = token_key(SEED);
    struct scenario *sc = scenario_of(captured);
    struct settings s = settings_of(&ep, sc, &key);
    struct buf beginning = BUF_INIT;
    request_beginning(&s, 1, 2, &beginning);
    CHECK(beginning.len > 65536);
    CHECK(check_session(&s, 1, buf_span(&beginning), SAID + 1) < 3000);
    buf_release(&beginning);
    scenario_free(sc);
    endpoint_release(&ep);
    free(captured);
}

int main(void)
{
    test_shared();
    test_not_shared();
    test_all_shared();
    return check_end();
}
