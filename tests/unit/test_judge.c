// layers: wire judge chat base
/* test_judge.c - the judge on labelled cases (files), on its own examples, and on properties that
 * no list of examples can state. */
#include "judge.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "casefile.h"
#include "check.h"
#include "embed.h"
#include "expect.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "reply.h"
#include "rng.h"

static struct judge *judge;

static bool as_wanted(const struct casefile *c, const struct verdict *v)
{
    if (c->want_class && strcmp(c->want_class, class_name(v->class)) != 0)
        return false;
    for (size_t i = 0; i < c->n_want_reasons; i++)
        if (strcmp(c->want_reasons[i], reason_name(v->reason)) == 0)
            return true;
    return c->n_want_reasons == 0;
}

/* A person sees one finding per damaged place. */
static size_t overlaps(const struct verdict *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_signs; i++)
        for (size_t k = 0; k < i; k++) {
            const struct sign *a = &v->signs[i], *b = &v->signs[k];
            n += a->level == b->level && a->reason == b->reason && a->channel == b->channel &&
                 a->call == b->call && !a->owner_session && a->offset < b->offset + b->len &&
                 b->offset < a->offset + a->len;
        }
    return n;
}

static void run_case(const char *file, struct span line, size_t chunk)
{
    struct casefile c = {0};
    struct verdict v = {0};
    struct err err = {0};
    int read = casefile_read(line, chunk, &c, &err);
    CHECK_STR(err.text, "");
    if (read < 0)
        return;
    struct toolset *t = toolset_new(judge, c.expect.tools, c.expect.n_tools, &err);
    CHECK_STR(err.text, "");
    judge_reply(judge, t, &c.expect, &c.reply, &v);
    CHECK(as_wanted(&c, &v));
    CHECK_INT(overlaps(&v), 0);
    if (!as_wanted(&c, &v))
        fprintf(stderr, "  %s: %s: want %s, %s ...; got %s (%s)\n", file, c.id, c.want_class,
                c.n_want_reasons ? c.want_reasons[0] : "any", reason_name(v.reason),
                v.n_signs ? v.signs[0].rule : "no sign");
    verdict_release(&v);
    toolset_free(t);
    casefile_release(&c);
}

/* Returns the number of cases; -1 if there is no such file. */
static long run_file(const char *path, size_t chunk)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    long n = 0;
    if (file_read(path, 1 << 26, &text, &err) < 0)
        return -1;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        if (len) {
            run_case(path, (struct span){text.data + at, len}, chunk);
            n++;
        }
        at += len + 1;
    }
    buf_release(&text);
    return n;
}

static void test_own_cases(void)
{
    DIR *dir = opendir(SOURCE_DIR "/tests/cases");
    long n = 0;
    CHECK(dir != NULL);
    for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
        size_t len = strlen(d->d_name);
        if (len < 7 || strcmp(d->d_name + len - 6, ".jsonl") != 0)
            continue;
        char *path = mem_printf("%s/tests/cases/%s", SOURCE_DIR, d->d_name);
        n += run_file(path, 0);
        free(path);
    }
    if (dir)
        closedir(dir);
    CHECK(n > 300);
    printf("own cases: %ld\n", n);
}

/* Cases that lie beside the checkout, where they do. */
static void test_shared_cases(void)
{
    static const char *const files[] = {"text", "json_text", "wire"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = mem_printf("%s/../shared/cases/%s.jsonl", SOURCE_DIR, files[i]);
        long n = run_file(path, 0);
        if (n >= 0)
            printf("%s: %ld cases\n", files[i], n);
        free(path);
    }
}

static void test_self_check(void)
{
    struct err err = {0};
    CHECK_INT(judge_self_check(judge, &err), 0);
    CHECK_STR(err.text, "");
    CHECK_INT(judge_full_check(judge, &err), 0);
    CHECK_STR(err.text, "");

    /* A rule whose own example it misses, and one that hits everything. */
    static const char *const bad[] = {
        "{\"name\":\"bad\",\"about\":\"misses\",\"rules\":[{\"id\":\"x\",\"role\":\"open\","
        "\"near\":[\"qq\"],\"match\":\"qqq\"}],\"leaks\":[\"a qq b\"],\"clean\":[\"c\"]}",
        "{\"name\":\"bad\",\"about\":\"too much\",\"rules\":[{\"id\":\"x\",\"role\":\"open\","
        "\"near\":[\"th\"],\"match\":\"th.\"}],\"leaks\":[\"then\"],\"clean\":[\"c\"]}"};
    for (size_t i = 0; i < 2; i++) {
        struct judge_options o = {.rules_json = bad[i]};
        struct err why = {0};
        struct judge *j = judge_new(&o, &why);
        CHECK_STR(why.text, "");
        CHECK_INT(judge_self_check(j, &why), -1);
        CHECK_INT(why.status, STATUS_UNDECIDED);
        judge_free(j);
    }
}

/* What is taken on trust when the program runs: the form of every built-in file, and that its rules
 * compile, those that name tools as well where the names are long. */
static void test_proven_rules(void)
{
    long n = 0;
    struct err err = {0};
    for (const struct embedded *e = NULL; (e = embed_next("schemas/markup/", e)) != NULL; n++) {
        struct judge_options o = {.rules_json = e->data};
        struct judge *j = judge_new(&o, &err);
        CHECK_STR(err.text, "");
        judge_free(j);
    }
    CHECK(n > 50);
    char name[1100];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct toolset *t = toolset_new(judge, &(struct tool){.name = name}, 1, &err);
    CHECK_STR(err.text, "");
    toolset_free(t);
}

static void refuse(const char *rules, const char *text)
{
    struct err err = {0};
    struct judge_options o = {.rules_json = rules};
    CHECK(!judge_new(&o, &err));
    CHECK_INT(err.status, STATUS_USAGE);
    CHECK_STR(err.text, text);
}

static void test_bad_rules(void)
{
    refuse("{", "further rules: not JSON: line 1, column 1");
    refuse("{\"name\":\"x\"}", "further rules: the value lacks 'about'");
    refuse(
        "{\"name\":\"x\",\"about\":\"abc\",\"leaks\":[\"a\"],\"clean\":[\"b\"],\"rules\":[{\"id\":"
        "\"r\",\"role\":\"opener\",\"near\":[\"ab\"],\"match\":\"abc\"}]}",
        "further rules: 'rules[0].role' must be one of "
        "[\"open\",\"close\",\"inner\",\"special\",\"think\",\"think_end\",\"naked\",\"error\"]");
    refuse(
        "{\"name\":\"x\",\"about\":\"abc\",\"leaks\":[\"a\"],\"clean\":[\"b\"],\"rules\":[{\"id\":"
        "\"r\",\"role\":\"open\",\"near\":[\"ab\"],\"match\":\"a(b\"}]}",
        "markup rule 'r': bad regular expression 'a(b' at offset 3: missing closing "
        "parenthesis");
}

static void check_signs(const struct reply *r, const struct verdict *v)
{
    for (size_t i = 0; i < v->n_signs; i++) {
        const struct sign *s = &v->signs[i];
        size_t room = s->channel == CHANNEL_content     ? r->content.len
                      : s->channel == CHANNEL_reasoning ? r->reasoning.len
                      : s->channel == CHANNEL_args      ? r->calls[s->call].args.len
                      : s->channel == CHANNEL_name      ? r->calls[s->call].name.len
                                                        : (size_t)-1;
        CHECK(s->offset <= room && s->len <= room - s->offset);
        CHECK(i == 0 || v->signs[i - 1].level >= s->level);
    }
    CHECK(v->class == reason_class(v->reason));
}

static void mutate(struct buf *b, struct rng *r)
{
    static const char *const bits[] = {
        "<",  ">",   "|",        "\xEF\xBD\x9C", "[",  "{\"name\": \"",
        "\n", "```", "\xFF\xFE", "</think>",     "\\", "\xE2\x96"};
    for (int n = 0; n < 4 && b->len; n++) {
        size_t at = (size_t)rng_below(r, b->len);
        if (rng_chance(r, 0.5))
            b->data[at] = (char)rng_below(r, 256);
        else if (rng_chance(r, 0.3))
            buf_adds(b, bits[rng_below(r, sizeof bits / sizeof *bits)]);
        else
            memcpy(b->data + at, b->data, b->len - at < at ? b->len - at : at);
    }
}

/* Any bytes anywhere: no crash, the same verdict twice, every sign inside its text. */
static void test_any_bytes(void)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct rng rng = rng_stream(11, 0, "mutations");
    CHECK_INT(file_read(SOURCE_DIR "/tests/cases/markup.jsonl", 1 << 26, &text, &err), 0);
    long n = 0;
    for (size_t at = 0; at < text.len && n < 400; n++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        struct casefile c = {0};
        CHECK_INT(casefile_read((struct span){text.data + at, len}, 0, &c, &err), 0);
        at += len + 1;
        struct toolset *t = toolset_new(judge, c.expect.tools, c.expect.n_tools, &err);
        struct tool_call *call = reply_add_call(&c.reply);
        buf_adds(&call->name, "quay_status");
        buf_add(&call->args, c.reply.content.data, c.reply.content.len);
        for (int i = 0; i < 8; i++) {
            struct verdict v = {0}, again = {0};
            mutate(&c.reply.content, &rng);
            mutate(&c.reply.reasoning, &rng);
            mutate(&call->args, &rng);
            mutate(&call->name, &rng);
            judge_reply(judge, i % 2 ? t : NULL, &c.expect, &c.reply, &v);
            judge_reply(judge, i % 2 ? t : NULL, &c.expect, &c.reply, &again);
            check_signs(&c.reply, &v);
            CHECK(v.reason == again.reason && v.n_signs == again.n_signs);
            verdict_release(&v);
            verdict_release(&again);
        }
        toolset_free(t);
        casefile_release(&c);
    }
    CHECK(n > 100);
    buf_release(&text);
}

static enum verdict_class class_with(const struct judge *j, const struct toolset *t,
                                     const char *content)
{
    struct expect e = {.calls_allowed = true};
    struct reply r;
    struct verdict v = {0};
    reply_init(&r);
    r.status = 200;
    r.done = r.has_choice = true;
    strcpy(r.finish, "stop");
    buf_adds(&r.content, content);
    judge_reply(j, t, &e, &r, &v);
    enum verdict_class class = v.class;
    verdict_release(&v);
    reply_release(&r);
    return class;
}

static enum verdict_class class_of(const struct judge *j, const char *content)
{
    return class_with(j, NULL, content);
}

/* What is shown or mentioned is stored and not counted, unless asked for. */
static void test_strict(void)
{
    struct judge_options o = {.strict = true};
    struct err err = {0};
    struct judge *strict = judge_new(&o, &err);
    CHECK_STR(err.text, "");
    static const char *const shown[] = {"It writes `<|tool_call_begin|>` first.",
                                        "The token <|im_end|> ends a turn.",
                                        "> <tool_call>{\"name\": 1}\n\nwas quoted."};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        CHECK_INT(class_of(judge, shown[i]), CLASS_OK);
        CHECK_INT(class_of(strict, shown[i]), CLASS_LEAK);
    }
    CHECK_INT(class_of(strict, "It rains."), CLASS_OK);
    CHECK_INT(judge_self_check(strict, &err), 0);
    judge_free(strict);
}

/* One rule that is tried at a needle, at a tool's name, and at both ends: a needle in vain hides
 * nothing that stands before it. */
static void test_mixed_places(void)
{
    struct judge_options o = {
        .rules_json =
            "{\"name\":\"x\",\"about\":\"abc\",\"leaks\":[\"zork: 2\"],\"clean\":[\"zork: 1\"],"
            "\"rules\":[{\"id\":\"mixed\",\"role\":\"special\",\"near\":[\"zork:\",\"zork: 1\","
            "\"@tool\",\"@start\",\"@end\"],\"match\":\"\\\\Aglub!|zork: 2|go_far "
            "=>|blub!\\\\z\"}]}"};
    static const char *const leaks[] = {
        "%szork: 2",           "glub! %szork: 1",  "%sgo_far => %szork: 1",
        "zork: 1 %sgo_far =>", "%s zork: 1 blub!", "blub! %szork: 1blub!"};
    static const char *const clean[] = {"%szork: 1", "go_far %szork: 1", "zork: 1 %sglub!"};
    char name[] = "go_far";
    const struct tool tool = {.name = name};
    struct err err = {0};
    struct judge *j = judge_new(&o, &err);
    struct toolset *t = j ? toolset_new(j, &tool, 1, &err) : NULL;
    CHECK_STR(err.text, "");
    for (size_t i = 0; t && i < sizeof leaks / sizeof *leaks + sizeof clean / sizeof *clean; i++) {
        bool leak = i < sizeof leaks / sizeof *leaks;
        const char *parts = leak ? leaks[i] : clean[i - sizeof leaks / sizeof *leaks];
        for (size_t fill = 0; fill < 1500; fill += 499) {
            struct buf text = BUF_INIT;
            for (const char *p = parts; *p; p++)
                if (strncmp(p, "%s", 2) == 0) {
                    for (size_t k = 0; k < fill; k++)
                        buf_adds(&text, k % 5 ? "a" : " ");
                    p++;
                } else
                    buf_addc(&text, *p);
            CHECK_INT(class_with(j, t, buf_str(&text)), leak ? CLASS_LEAK : CLASS_OK);
            buf_release(&text);
        }
    }
    toolset_free(t);
    judge_free(j);
}

static enum reason reason_with_args(const char *args, const char *wanted)
{
    struct expect_literal literal = {"id", wanted};
    struct expect_call call = {NULL, &literal, 1};
    struct expect e = {.calls_allowed = true, .call_due = true, .calls = &call, .n_calls = 1};
    struct reply r;
    struct verdict v = {0};
    reply_init(&r);
    r.status = 200;
    r.done = r.has_choice = true;
    strcpy(r.finish, "tool_calls");
    struct tool_call *c = reply_add_call(&r);
    buf_adds(&c->id, "c1");
    buf_adds(&c->name, "go");
    buf_adds(&c->args, args);
    judge_reply(judge, NULL, &e, &r, &v);
    enum reason reason = v.reason;
    verdict_release(&v);
    reply_release(&r);
    return reason;
}

/* Numbers beyond what a double holds, and keys that come twice. */
static void test_literals(void)
{
    CHECK_INT(reason_with_args("{\"id\":90071992547409933}", "90071992547409933"), REASON_done);
    CHECK_INT(reason_with_args("{\"id\":90071992547409931}", "90071992547409933"), REASON_value);
    CHECK_INT(reason_with_args("{\"id\":7.0}", "7"), REASON_done);
    CHECK_INT(reason_with_args("{\"id\":7,\"id\":7}", "7"), REASON_done);
    CHECK_INT(reason_with_args("{\"id\":7,\"id\":8}", "7"), REASON_value);
    CHECK_INT(reason_with_args("{\"id\":\"a\\u0000b\"}", "\"a\\u0000b\""), REASON_done);
    CHECK_INT(reason_with_args("{\"id\":\"a\\u0000c\"}", "\"a\\u0000b\""), REASON_value);
}

/* The form that the offline command prints. */
static void test_written(void)
{
    struct expect e = {.calls_allowed = true};
    struct reply r;
    struct verdict v = {0};
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    reply_init(&r);
    r.status = 200;
    r.done = r.has_choice = true;
    strcpy(r.finish, "stop");
    buf_adds(&r.content, "A \xEF\xBD\x9C bar.<\xEF\xBD\x9Ctool\xE2\x96\x81sep\xEF\xBD\x9C>");
    judge_reply(judge, NULL, &e, &r, &v);
    jsonw_object(&w);
    verdict_write(&v, false, &w);
    jsonw_end_object(&w);
    CHECK_STR(buf_str(&out), "{\"class\":\"leak\",\"reason\":\"leak.markup\",\"signs\":[{"
                             "\"reason\":\"leak.markup\",\"level\":\"damage\",\"channel\":"
                             "\"content\",\"offset\":10,\"length\":18}],\"quirks\":[]}");
    buf_clear(&out);
    w = (struct jsonw){.out = &out};
    jsonw_object(&w);
    verdict_write(&v, true, &w);
    jsonw_end_object(&w);
    CHECK(strstr(buf_str(&out), "\"rule\":\"bar-tool\"") != NULL);
    buf_release(&out);
    verdict_release(&v);
    reply_release(&r);
}

static void *judge_many(void *arg)
{
    long right = 0;
    (void)arg;
    for (int i = 0; i < 300; i++) {
        right += class_of(judge, "Fine.<|tool_call_end|>") == CLASS_LEAK;
        right += class_of(judge, "The quay is open, the crane is idle.") == CLASS_OK;
    }
    return (void *)right;
}

static void test_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, judge_many, NULL);
    for (int i = 0; i < 4; i++) {
        void *right;
        pthread_join(threads[i], &right);
        CHECK_INT((long)right, 600);
    }
}

int main(void)
{
    struct judge_options options = {0};
    struct err err = {0};
    judge = judge_new(&options, &err);
    CHECK_STR(err.text, "");
    if (!judge)
        return check_end();
    test_own_cases();
    test_shared_cases();
    test_self_check();
    test_proven_rules();
    test_bad_rules();
    test_any_bytes();
    test_strict();
    test_mixed_places();
    test_written();
    test_literals();
    test_threads();
    judge_free(judge);
    return check_end();
}
