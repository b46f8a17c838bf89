// layers: scenario chat base
/* Plays every shipped scenario against itself: nothing here knows what a scenario is about. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "embed.h"
#include "err.h"
#include "estimate.h"
#include "expect.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "play.h"
#include "reply.h"
#include "rng.h"
#include "scenario.h"
#include "schema.h"
#include "script.h"
#include "token.h"
#include "vocab.h"

#define SEED 20240611u

static struct play *new_play(const struct scenario *sc, const struct token_key *key, int rounds,
                             long context, long session)
{
    struct play_settings settings = {
        .seed = SEED, .rounds = rounds, .context_tokens = context, .n_sessions = 1000};
    return play_new(sc, &settings, key, session);
}

/* Everything that a session ever says, as one text: two plays are alike if these are. */
static void transcript(const struct play *p, struct buf *out)
{
    size_t n;
    const struct message *opening = play_opening(p, &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s: %s\n", role_name(opening[i].role), buf_str(&opening[i].content));
    for (int round = 1; round <= play_rounds(p); round++) {
        struct expect e;
        struct reply r;
        reply_init(&r);
        play_expect(p, round, &e);
        play_perfect(p, round, &r);
        buf_addf(out, "%s|%s|%ld\n", buf_str(&r.content), e.final_text ? e.final_text : "-",
                 e.prompt_tokens_estimate);
        for (size_t i = 0; i < r.n_calls; i++)
            buf_addf(out, "%s %s %s\n", buf_str(&r.calls[i].id), buf_str(&r.calls[i].name),
                     buf_str(&r.calls[i].args));
        struct message *list = play_answers(p, round, &r, &n);
        for (size_t i = 0; i < n; i++) {
            buf_addf(out, "%s: %s\n", role_name(list[i].role), buf_str(&list[i].content));
            message_release(&list[i]);
        }
        free(list);
        reply_release(&r);
    }
}

static void check_determinism(const struct scenario *sc, int rounds, long context)
{
    struct token_key key = token_key(SEED);
    struct buf text[3] = {BUF_INIT, BUF_INIT, BUF_INIT};
    for (int i = 0; i < 3; i++) {
        struct play *p = new_play(sc, &key, rounds, context, i == 2 ? 18 : 17);
        transcript(p, &text[i]);
        play_free(p);
    }
    CHECK(text[0].len > 100);
    CHECK_STR(buf_str(&text[1]), buf_str(&text[0]));
    CHECK(strcmp(buf_str(&text[2]), buf_str(&text[0])) != 0);
    for (int i = 0; i < 3; i++)
        buf_release(&text[i]);
}

static long opening_tokens(const struct scenario *sc, long context)
{
    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, 1, context, 4);
    struct expect e;
    play_expect(p, 1, &e);
    play_free(p);
    return e.prompt_tokens_estimate;
}

static void check_size(const struct scenario *sc, long context)
{
    long plain = opening_tokens(sc, 0), grown = opening_tokens(sc, context) - plain;
    CHECK(plain > 50 && plain < 10000);
    if (context == 0)
        return;
    CHECK(grown > context * 85 / 100 - 200);
    CHECK(grown < context * 115 / 100 + 200);
}

/* All tokens of this run in a text must be this session's, and known to it by this round. */
static void check_owners(const struct play *p, const struct token_key *key, struct span text,
                         int round)
{
    struct token_owner owner;
    size_t from = 0;
    for (long at; (at = token_find(key, text, from, &owner)) >= 0; from = (size_t)at + 1) {
        CHECK_INT(owner.session, 17);
        int first = play_slot_round(p, owner.slot);
        CHECK(first >= 0 && first <= round);
    }
}

static void check_schema(const struct tool *tool, const char *args)
{
    struct err err = {0};
    if (!tool->parameters)
        return;
    struct json *rules = json_parse(span_of(tool->parameters), NULL);
    struct json *value = json_parse(span_of(args), NULL);
    struct schema *schema = schema_new(rules, &err);
    CHECK(schema && schema_check(schema, value, &err) == 0);
    schema_free(schema);
    json_free(value);
    json_free(rules);
}

static void check_call(const struct expect *e, const struct tool_call *call,
                       const struct expect_call *want)
{
    struct span args = buf_span(&call->args);
    const struct tool *tool = NULL;
    for (size_t i = 0; i < e->n_tools; i++)
        if (strcmp(e->tools[i].name, buf_str(&call->name)) == 0)
            tool = &e->tools[i];
    CHECK(tool != NULL);
    CHECK_STR(buf_str(&call->name), want->name);
    CHECK(json_check(args) < 0);
    for (size_t i = 0; i < want->n_literals; i++) {
        const struct expect_literal *l = &want->literals[i];
        struct span got = json_raw_get(args, l->key);
        CHECK(got.len == strlen(l->json) && memcmp(got.data, l->json, got.len) == 0);
        CHECK(json_check(span_of(l->json)) < 0);
    }
    CHECK_INT(call->id.len, 29);
    CHECK(strncmp(buf_str(&call->id), "call_", 5) == 0);
    if (tool)
        check_schema(tool, buf_str(&call->args));
}

/* Tokens that a round demands must stand in what was said before. */
static void check_told(const struct token_key *key, const char *demanded, const struct buf *said)
{
    struct token_owner owner;
    long at = token_find(key, span_of(demanded), 0, &owner);
    if (at < 0)
        return;
    char token[TOKEN_LEN + 1];
    token_make(key, owner.session, owner.slot, token);
    CHECK(strstr(buf_str(said), token) != NULL);
}

static void check_expect(const struct play *p, const struct token_key *key, int round,
                         const struct reply *r, const struct buf *said)
{
    struct expect e;
    play_expect(p, round, &e);
    CHECK(e.call_due == (r->n_calls > 0) && e.calls_allowed == e.call_due);
    CHECK_INT(e.n_calls, r->n_calls);
    CHECK(e.own_canary == play_canary(p) && e.session == 17 && e.n_sessions == 1000);
    CHECK(e.must_finish && e.key == key && e.prompt_tokens_estimate > 0);
    for (size_t i = 0; i < r->n_calls && i < e.n_calls; i++) {
        check_call(&e, &r->calls[i], &e.calls[i]);
        check_told(key, buf_str(&r->calls[i].args), said);
        CHECK(memchr(buf_str(said), '\0', said->len) == NULL);
        CHECK(strstr(buf_str(said), buf_str(&r->calls[i].id)) == NULL);
    }
    for (size_t i = 0; e.new_call_expected && i < r->n_calls; i++)
        for (size_t k = 0; k < e.n_previous; k++)
            CHECK(strcmp(e.previous[k].name, buf_str(&r->calls[i].name)) != 0 ||
                  strcmp(e.previous_args[k], buf_str(&r->calls[i].args)) != 0);
    CHECK((e.final_text != NULL) == !e.call_due);
    if (e.final_text) {
        CHECK(e.final_text[0] && strstr(buf_str(&r->content), e.final_text) != NULL);
        check_told(key, e.final_text, said);
    }
    CHECK_STR(r->finish, e.call_due ? "tool_calls" : "stop");
}

static void hear_answers(const struct play *p, const struct token_key *key, int round,
                         const struct reply *r, struct buf *said)
{
    size_t n;
    struct message *list = play_answers(p, round, r, &n);
    CHECK((n == 0) == (round == play_rounds(p)));
    CHECK(n == 0 || n >= r->n_calls);
    for (size_t i = 0; i < n; i++) {
        CHECK(list[i].role == (i < r->n_calls ? ROLE_TOOL : ROLE_USER));
        if (i < r->n_calls) {
            CHECK_STR(list[i].tool_call_id, buf_str(&r->calls[i].id));
            CHECK_STR(list[i].tool_name, buf_str(&r->calls[i].name));
            CHECK(strcmp(buf_str(&list[i].content), p->wrong_call) != 0);
        }
        check_owners(p, key, buf_span(&list[i].content), round);
        buf_add(said, buf_str(&list[i].content), list[i].content.len);
        message_release(&list[i]);
    }
    free(list);
}

static void check_play(const struct scenario *sc, int rounds, long context)
{
    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, rounds, context, 17);
    struct buf said = BUF_INIT;
    size_t n;
    const struct message *opening = play_opening(p, &n);
    CHECK(play_rounds(p) >= 1 && play_rounds(p) <= rounds);
    for (size_t i = 0; i < n; i++) {
        check_owners(p, &key, buf_span(&opening[i].content), 0);
        buf_add(&said, buf_str(&opening[i].content), opening[i].content.len);
    }
    CHECK(strstr(buf_str(&said), play_canary(p)) != NULL);
    CHECK(strstr(buf_str(&said), "{{") == NULL);
    for (int round = 1; round <= play_rounds(p); round++) {
        struct reply r;
        reply_init(&r);
        play_perfect(p, round, &r);
        check_expect(p, &key, round, &r, &said);
        for (size_t i = 0; i < r.n_calls; i++)
            buf_adds(&said, buf_str(&r.calls[i].id));
        hear_answers(p, &key, round, &r, &said);
        CHECK(!play_is_final(p, round) || round == play_rounds(p));
        reply_release(&r);
    }
    /* Only a session that was cut short of the scenario's steps ends without its last one. */
    CHECK(play_is_final(p, play_rounds(p)) == (rounds >= (int)sc->script.n_steps));
    CHECK(sc->script.repeat == sc->script.n_steps || play_rounds(p) == rounds);
    buf_release(&said);
    play_free(p);
}

static void test_shipped(void)
{
    static const long contexts[] = {0, 1000, 200000};
    const char *name;
    size_t n = 0;
    for (; (name = scenario_shipped(n)); n++) {
        struct err err = {0};
        struct scenario *sc = scenario_load(name, &err);
        CHECK_STR(err.text, "");
        if (!sc)
            continue;
        CHECK_STR(scenario_name(sc), name);
        CHECK(strlen(scenario_about(sc)) > 20 && scenario_has_context(sc));
        for (int c = 0; c < 3; c++) {
            check_size(sc, contexts[c]);
            for (int rounds = 1; rounds <= scenario_default_rounds(sc) + 2; rounds++)
                check_play(sc, rounds, contexts[c]);
            check_determinism(sc, 0, contexts[c]);
        }
        scenario_free(sc);
    }
    CHECK(n >= 6);
    struct buf list = BUF_INIT;
    scenario_list(&list);
    CHECK(strncmp(buf_str(&list), "agent ", 6) == 0);
    CHECK(strstr(buf_str(&list), "\nchain ") != NULL);
    CHECK(strstr(buf_str(&list), "can't be read") == NULL);
    buf_release(&list);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Number of lines, all of them different and none empty. */
static size_t check_lines(const struct buf *text)
{
    size_t n = 0, cap = 0;
    char **lines = NULL, *copy = mem_copy(buf_str(text), text->len), *rest = copy;
    for (char *end; rest; rest = end) {
        end = strchr(rest, '\n');
        if (end)
            *end++ = '\0';
        CHECK(rest[0] != '\0');
        lines = mem_grow(lines, &cap, n, sizeof *lines);
        lines[n++] = rest;
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 1; i < n; i++)
        CHECK(strcmp(lines[i - 1], lines[i]) != 0);
    free(lines);
    free(copy);
    return n;
}

/* Every vocabulary, also one too poor for its size, at many sizes. */
static void test_context_lines(void)
{
    static const char poor[] = "{\"words\":{\"w\":[\"a\",\"b\"]},"
                               "\"forms\":[{\"lines\":[\"{{w}} {{=w}}\",\"\"]}]}";
    const struct embedded *file = NULL;
    bool done = false;
    while (!done) {
        file = embed_next("scenarios/context/", file);
        done = !file;
        struct err err = {0};
        struct vocab vocab = {.n_lists = 0};
        struct json *tree =
            json_parse(file ? (struct span){file->data, file->len} : span_of(poor), &err);
        CHECK(vocab_read(&vocab, tree, "vocabulary", &err) == 0);
        json_free(tree);
        for (long tokens = 0; tokens <= 200000; tokens = tokens * 4 + 50) {
            struct context_plant plants[] = {{"PLANT two", 0.9}, {"PLANT one", 0.1}};
            struct context_order order = {.vocab = &vocab,
                                          .seed = SEED,
                                          .number = 3,
                                          .tokens = tokens,
                                          .plants = plants,
                                          .n_plants = 2};
            struct buf text = BUF_INIT;
            struct estimate said = context_write(&order, &text);
            CHECK(check_lines(&text) >= 2);
            long got = estimate_tokens(buf_span(&text));
            CHECK_INT(estimate_total(&said), got);
            CHECK(got >= tokens * 95 / 100 && got <= tokens * 105 / 100 + 300);
            const char *one = strstr(buf_str(&text), "PLANT one");
            const char *two = strstr(buf_str(&text), "PLANT two");
            CHECK(one && two && one < two);
            CHECK(tokens < 1000 || two - one > (long)text.len / 2);
            buf_release(&text);
        }
        vocab_release(&vocab);
    }
}

/* Shipped vocabularies obey the schema, too: as a scenario's own. */
static void test_vocabulary_inline(void)
{
    for (const struct embedded *f = NULL; (f = embed_next("scenarios/context/", f));) {
        struct buf text = BUF_INIT;
        struct err err = {0};
        buf_adds(&text, "{\"name\": \"own\", \"about\": \"own words\", \"user\": \"{{context}}\","
                        "\"steps\": [{\"answer\": {\"holds\": \"x\"}}],"
                        "\"context\": {\"vocabulary\": ");
        buf_add(&text, f->data, f->len);
        buf_adds(&text, "}}");
        struct scenario *sc = scenario_parse(buf_span(&text), "own", &err);
        CHECK_STR(err.text, "");
        CHECK(sc && scenario_has_context(sc));
        scenario_free(sc);
        buf_release(&text);
    }
}

/* Against what three tokenizers make of these texts: see estimate.c. */
static void test_estimate(void)
{
    static const struct {
        const char *text;
        long least, most;
    } table[] = {
        {"", 0, 0},
        {"The quick brown fox jumps over the lazy dog.", 9, 11},
        {"2022-04-11 04:53:32 cranelink[2547] debug: lamp circuit tested, boat lift, lag 860 ms, "
         "job 45c151",
         34, 56},
        {"for (size_t i = 0; i < n; i++)\n    sum += row[i].count;\n", 21, 30},
        {"港口日志：三月九日，北码头的起重机在上午十点停了两个小时。", 20, 28},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        long got = estimate_tokens(span_of(table[i].text));
        CHECK(got >= table[i].least);
        CHECK(got <= table[i].most);
    }
}

/* A text costs the same however it is cut into two or three. */
static void test_estimate_pieces(void)
{
    static const char *const texts[] = {
        "", "a", "internationally", " ", "ab\ncdefghijk 123,lm", "港abcdefghéxyzabcdefghij"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct span whole = span_of(texts[i]);
        for (size_t a = 0; a <= whole.len; a++)
            for (size_t b = a; b <= whole.len; b++) {
                struct estimate e = estimate_of((struct span){whole.data, a});
                struct estimate middle = estimate_of((struct span){whole.data + a, b - a});
                struct estimate last = estimate_of((struct span){whole.data + b, whole.len - b});
                estimate_add(&e, &middle);
                estimate_add(&e, &last);
                CHECK_INT(estimate_total(&e), estimate_tokens(whole));
            }
    }
}

/* The size of the first request is that of its texts, wherever the context stands in them. */
static void test_opening_estimate(void)
{
    for (size_t i = 0; scenario_shipped(i); i++) {
        struct err err = {0};
        struct scenario *sc = scenario_load(scenario_shipped(i), &err);
        struct token_key key = token_key(SEED);
        for (long context = 0; context < 3000; context += 999) {
            struct play *p = new_play(sc, &key, 1, context, 7);
            struct expect e;
            size_t n;
            const struct message *opening = play_opening(p, &n);
            play_expect(p, 1, &e);
            long tokens = estimate_tokens(span_of(scenario_tools_json(sc))) +
                          estimate_tokens(span_of(scenario_history(sc)));
            for (size_t k = 0; k < n; k++)
                tokens += estimate_tokens(buf_span(&opening[k].content)) + 4;
            CHECK_INT(e.prompt_tokens_estimate, tokens);
            play_free(p);
        }
        scenario_free(sc);
    }
}

/* Each file says in "notes" what must be said about it. */
static void test_broken(void)
{
    DIR *dir = opendir(SOURCE_DIR "/tests/data/scenario-bad");
    int n = 0;
    CHECK(dir != NULL);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (!strstr(d->d_name, ".json"))
            continue;
        char *path = mem_printf(SOURCE_DIR "/tests/data/scenario-bad/%s", d->d_name);
        struct buf text = BUF_INIT;
        struct err err = {0};
        CHECK(file_read(path, 1 << 20, &text, &err) == 0);
        const char *want = strstr(buf_str(&text), "want: ");
        const char *end = want ? strchr(want, '"') : NULL;
        CHECK(end != NULL);
        struct scenario *sc = scenario_load(path, &err);
        CHECK(sc == NULL);
        CHECK_INT(err.status, STATUS_USAGE);
        char *message = end ? mem_copy(want + 6, (size_t)(end - want) - 6) : mem_str("?");
        bool said = strstr(err.text, message) && strstr(err.text, d->d_name);
        CHECK(said);
        if (!said)
            fprintf(stderr, "  %s: \"%s\"\n", d->d_name, err.text);
        CHECK(strchr(err.text, '\n') == NULL);
        free(message);
        free(path);
        scenario_free(sc);
        buf_release(&text);
        n++;
    }
    if (dir)
        closedir(dir);
    CHECK(n >= 50);
}

static void test_load_errors(void)
{
    struct err err = {0};
    CHECK(scenario_load("chian", &err) == NULL);
    CHECK(strstr(err.text, "'chian'") && strstr(err.text, "chain, longchain"));
    CHECK_INT(err.status, STATUS_USAGE);
    err = (struct err){0};
    CHECK(scenario_load("./no/such.json", &err) == NULL);
    CHECK(strstr(err.text, "no/such.json") != NULL);
    CHECK_INT(err.status, STATUS_USAGE);
}

static const char *answer_text(const struct play *p, int round, const struct reply *r, size_t i,
                               size_t *n, struct buf *out)
{
    struct message *list = play_answers(p, round, r, n);
    buf_clear(out);
    for (size_t k = 0; k < *n; k++) {
        if (k == i)
            buf_add(out, buf_str(&list[k].content), list[k].content.len);
        message_release(&list[k]);
    }
    free(list);
    return buf_str(out);
}

static void replace(struct buf *text, const char *key, const char *with, struct buf *out)
{
    const char *at = buf_str(text);
    for (const char *hit; (hit = strstr(at, key)); at = hit + strlen(key)) {
        buf_add(out, at, (size_t)(hit - at));
        buf_adds(out, with);
    }
    buf_adds(out, at);
}

/* Everything that a user writes reaches the other side byte for byte. */
static void test_bytes(void)
{
    struct err err = {0};
    struct buf file = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
    const char *path = SOURCE_DIR "/tests/data/scenario-good/bytes.json";
    CHECK(file_read(path, 1 << 20, &file, &err) == 0);
    struct scenario *sc = scenario_load(path, &err);
    CHECK_STR(err.text, "");
    if (!sc)
        return;
    CHECK_STR(scenario_text(sc), buf_str(&file));
    CHECK(!scenario_has_context(sc));
    struct span tools = json_raw_get(buf_span(&file), "tools");
    CHECK(strlen(scenario_tools_json(sc)) == tools.len);
    CHECK(memcmp(scenario_tools_json(sc), tools.data, tools.len) == 0);
    size_t n;
    const struct tool *tool = scenario_tools(sc, &n);
    CHECK_INT(n, 2);
    CHECK(strstr(tool[0].definition, "Gr\\u00f6\\u00dfe \\/ {{not a variable}}\"}") != NULL);
    CHECK(strncmp(tool[0].parameters, "{\"required\":[\"key\"],   \"prop", 28) == 0);
    CHECK(tool[1].parameters == NULL);

    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, 6, 5000, 9);
    char token[TOKEN_LEN + 1];
    token_make(&key, 9, 0, token);
    const struct message *opening = play_opening(p, &n);
    CHECK_INT(n, 2);
    CHECK_STR(buf_str(&opening[0].content), "No line break at the end.");
    char *user = mem_printf("Key: %s\n\n  Größe 5 語 🚢\n%s\n", token, play_canary(p));
    CHECK_STR(buf_str(&opening[1].content), user);
    free(user);

    struct expect e;
    play_expect(p, 1, &e);
    CHECK(e.exact_calls && e.n_calls == 3 && e.calls[0].n_literals == 4);
    CHECK_STR(e.calls[0].literals[1].json, "\"\\u00e9\\na \\\"b\\\"\\n\\tc\\\\5\\n{{d}}\\n{5}\"");
    CHECK_STR(e.calls[0].literals[2].json, "5");
    CHECK_STR(e.calls[0].literals[3].json, "{ \"b\" : [1,  2.50, 5, \"n=5\"], \"a\":null }");

    struct reply r;
    reply_init(&r);
    play_perfect(p, 1, &r);
    CHECK_STR(buf_str(&r.content), "one moment");
    buf_adds(&got, "{  \"b\":1,\"a\" : [ 1.0,5 , \"\\u00e9 KEY\" ]  }");
    replace(&got, "KEY", token, &want);
    CHECK_STR(answer_text(p, 1, &r, 0, &n, &got), buf_str(&want));
    CHECK_STR(answer_text(p, 1, &r, 1, &n, &got), "\na \"b\"\n\tc\\5\n{{d}}\n{5}\n");
    CHECK_STR(answer_text(p, 1, &r, 2, &n, &got), "again");
    CHECK_INT(n, 3);
    reply_release(&r);

    CHECK_INT(play_rounds(p), 6);
    play_expect(p, 5, &e);
    CHECK_STR(e.final_text, "2 of 2");
    CHECK(!play_is_final(p, 5) && play_is_final(p, 6));
    play_expect(p, 6, &e);
    CHECK(e.call_due && e.n_calls == 1 && e.calls[0].n_literals == 0 && e.n_previous == 3);
    CHECK_STR(p->args[p->plan[5].first], "{\"why\": \"done\"}");
    play_free(p);
    scenario_free(sc);
    buf_release(&file);
    buf_release(&want);
    buf_release(&got);
}

/* What runs need that go on after damage. */
static void test_damaged_replies(void)
{
    struct scenario *sc = scenario_load("parallel", NULL);
    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, 3, 0, 5);
    struct buf text = BUF_INIT;
    struct reply r;
    size_t n;
    reply_init(&r);
    CHECK_STR(answer_text(p, 1, &r, 0, &n, &text), "Please go on with the task.");
    CHECK_INT(n, 1);
    play_perfect(p, 1, &r);

    /* In another order: each gets its own result. */
    struct tool_call swap = r.calls[0];
    r.calls[0] = r.calls[2];
    r.calls[2] = swap;
    CHECK(strstr(answer_text(p, 1, &r, 0, &n, &text), "\"aft\"") != NULL);
    CHECK(strstr(answer_text(p, 1, &r, 2, &n, &text), "\"fore\"") != NULL);

    /* Broken, doubled, misnamed, altered: the file's words, and a result for each id. */
    buf_clear(&r.calls[0].args);
    buf_adds(&r.calls[0].args, "{\"lot_key\": ");
    buf_clear(&r.calls[0].id);
    buf_clear(&r.calls[1].args);
    buf_adds(&r.calls[1].args, buf_str(&r.calls[2].args));
    buf_adds(&reply_add_call(&r)->name, "weigh_cargo_lots");
    CHECK_STR(answer_text(p, 1, &r, 0, &n, &text), p->wrong_call);
    CHECK_INT(n, 4);
    CHECK(strstr(answer_text(p, 1, &r, 1, &n, &text), "\"fore\"") != NULL);
    CHECK_STR(answer_text(p, 1, &r, 2, &n, &text), p->wrong_call);
    CHECK_STR(answer_text(p, 1, &r, 3, &n, &text), p->wrong_call);
    struct message *list = play_answers(p, 1, &r, &n);
    CHECK_STR(list[0].tool_call_id, "call_0");
    CHECK_STR(list[3].tool_name, "weigh_cargo_lots");
    for (size_t i = 0; i < n; i++)
        message_release(&list[i]);
    free(list);
    reply_release(&r);

    /* Rounds that do not exist demand nothing and bring nothing. */
    struct expect e;
    play_expect(p, 4, &e);
    CHECK(!e.call_due && !e.final_text && !e.n_calls);
    CHECK(play_answers(p, 0, &r, &n) == NULL && n == 0);
    CHECK_INT(play_slot_round(p, 200), -1);
    CHECK_INT(play_slot_round(p, TOKEN_SLOT_CANARY), 0);
    play_free(p);
    scenario_free(sc);
    buf_release(&text);
}

/* More tokens than slots: the look stays, the owner is lost, nothing else breaks. */
static void test_many_rounds(void)
{
    struct scenario *sc = scenario_load("chain", NULL);
    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, 400, 0, 6);
    struct expect e;
    struct token_owner owner;
    CHECK_INT(play_rounds(p), 400);
    CHECK_INT(p->n_slots, 255);
    play_expect(p, 400, &e);
    CHECK_INT(strlen(e.final_text), TOKEN_LEN);
    CHECK(!token_read(&key, e.final_text, &owner));
    CHECK_INT(e.n_previous, 399);
    play_expect(p, 60, &e);
    CHECK(token_read(&key, e.calls[0].literals[0].json + 1, &owner) && owner.session == 6);
    play_free(p);
    p = new_play(sc, &key, 1000000, 0, 6);
    CHECK_INT(play_rounds(p), 1000);
    play_free(p);
    scenario_free(sc);
}

/* No two sessions share a canary or a demanded token. */
static void test_sessions_differ(void)
{
    struct scenario *sc = scenario_load("chain", NULL);
    struct token_key key = token_key(SEED);
    char *seen[300];
    size_t n = 0;
    for (long session = 1; session <= 300; session++) {
        struct play *p = new_play(sc, &key, 2, 0, session);
        struct expect e;
        play_expect(p, 1, &e);
        seen[n++] = mem_printf("%s %s", play_canary(p), e.calls[0].literals[0].json);
        play_free(p);
    }
    qsort(seen, n, sizeof *seen, by_text);
    for (size_t i = 1; i < n; i++)
        CHECK(strcmp(seen[i - 1], seen[i]) != 0);
    for (size_t i = 0; i < n; i++)
        free(seen[i]);
    scenario_free(sc);
}

/* A shared context is one prefix for all; what is planted comes behind it. */
static void test_shared_context(void)
{
    static const char text[] =
        "{\"name\": \"s\", \"about\": \"shared\", \"user\": \"{{context}}\","
        "\"context\": {\"vocabulary\": \"post\", \"shared\": true, \"plant\": [\"M {{canary}}\"]},"
        "\"steps\": [{\"answer\": {\"holds\": \"x\"}}]}";
    struct err err = {0};
    struct scenario *sc = scenario_parse(span_of(text), "s", &err);
    CHECK_STR(err.text, "");
    struct token_key key = token_key(SEED);
    struct play *a = new_play(sc, &key, 1, 3000, 1), *b = new_play(sc, &key, 1, 3000, 2);
    size_t n;
    const struct buf *x = &play_opening(a, &n)->content, *y = &play_opening(b, &n)->content;
    CHECK(x->len == y->len && x->len > 5000);
    CHECK(memcmp(x->data, y->data, x->len - TOKEN_LEN) == 0);
    CHECK_STR(x->data + x->len - TOKEN_LEN, play_canary(a));
    CHECK_STR(y->data + y->len - TOKEN_LEN, play_canary(b));
    play_free(a);
    play_free(b);
    scenario_free(sc);
}

/* Asking for the same call twice is honest if the scenario does so. */
static void test_polling(void)
{
    static const char text[] =
        "{\"name\": \"p\", \"about\": \"polls\", \"user\": \"poll\","
        "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"poll\"}}],"
        "\"steps\": [{\"repeat\": true, \"calls\": [{\"tool\": \"poll\", \"result\": \"not yet\","
        "\"last_result\": \"now\"}]}, {\"answer\": {\"holds\": \"now\"}}]}";
    struct err err = {0};
    struct scenario *sc = scenario_parse(span_of(text), "p", &err);
    CHECK_STR(err.text, "");
    struct token_key key = token_key(SEED);
    struct play *p = new_play(sc, &key, 4, 0, 1);
    struct expect e;
    play_expect(p, 1, &e);
    CHECK(e.new_call_expected && e.n_previous == 0);
    play_expect(p, 2, &e);
    CHECK(!e.new_call_expected && e.n_previous == 1);
    play_expect(p, 4, &e);
    CHECK(!e.new_call_expected && e.n_previous == 3);
    play_free(p);
    scenario_free(sc);
}

struct share {
    const struct scenario *sc;
    struct token_key key;
    char *text[40];
};

static void *play_some(void *arg)
{
    struct share *share = arg;
    for (long i = 0; i < 40; i++) {
        struct buf text = BUF_INIT;
        struct play *p = new_play(share->sc, &share->key, 4, 500, 1 + i);
        transcript(p, &text);
        share->text[i] = buf_take(&text);
        play_free(p);
    }
    return NULL;
}

static void test_threads(void)
{
    struct scenario *sc = scenario_load("payload", NULL);
    struct share share[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        share[i] = (struct share){.sc = sc, .key = token_key(SEED)};
        CHECK(pthread_create(&thread[i], NULL, play_some, &share[i]) == 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 40; k++) {
            CHECK_STR(share[i].text[k], share[0].text[k]);
            if (i)
                free(share[i].text[k]);
        }
    for (int k = 0; k < 40; k++)
        free(share[0].text[k]);
    scenario_free(sc);
}

int main(void)
{
    test_shipped();
    test_context_lines();
    test_vocabulary_inline();
    test_estimate();
    test_estimate_pieces();
    test_opening_estimate();
    test_broken();
    test_load_errors();
    test_bytes();
    test_damaged_replies();
    test_many_rounds();
    test_sessions_differ();
    test_shared_context();
    test_polling();
    test_threads();
    return check_end();
}
