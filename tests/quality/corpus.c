/* corpus.c - the labelled cases: misses and false alarms per reason, and the same verdict however a
 * stream is cut. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "casefile.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "file.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "quality.h"

struct reason_count {
    long wanted, missed, alarms;
};

struct corpus {
    struct bench *b;
    struct reason_count of[N_REASONS];
    long cases, splits, differ;
};

typedef void each_case(struct corpus *c, struct span line, struct casefile *k,
                       const struct toolset *t);

static void each_line(struct corpus *c, const char *path, each_case *what)
{
    struct buf text = BUF_INIT;
    if (file_read(path, 1u << 26, &text, NULL) < 0)
        return;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        struct span line = {text.data + at, len};
        struct casefile k = {0};
        struct err err = {0};
        at += len + 1;
        if (len && casefile_read(line, 0, &k, &err) == 0) {
            struct toolset *t = toolset_new(c->b->judge, k.expect.tools, k.expect.n_tools, &err);
            if (t)
                what(c, line, &k, t);
            toolset_free(t);
            casefile_release(&k);
        }
        if (err.text[0]) {
            printf("  %s: %s\n", path, err.text);
            c->b->failures++;
        }
    }
    buf_release(&text);
}

static void each_file(struct corpus *c, each_case *what)
{
    static const char *const dirs[] = {SOURCE_DIR "/tests/cases", SOURCE_DIR "/../shared/cases"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        DIR *dir = opendir(dirs[i]);
        for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
            size_t len = strlen(d->d_name);
            if (len < 7 || strcmp(d->d_name + len - 6, ".jsonl") != 0)
                continue;
            char *path = mem_printf("%s/%s", dirs[i], d->d_name);
            each_line(c, path, what);
            free(path);
        }
        if (dir)
            closedir(dir);
    }
}

static void count_case(struct corpus *c, struct span line, struct casefile *k,
                       const struct toolset *t)
{
    struct verdict v = {0};
    (void)line;
    judge_reply(c->b->judge, t, &k->expect, &k->reply, &v);
    int first = k->n_want_reasons ? reason_find(k->want_reasons[0]) : -1;
    bool right = k->n_want_reasons == 0;
    for (size_t i = 0; i < k->n_want_reasons; i++)
        right = right || strcmp(k->want_reasons[i], reason_name(v.reason)) == 0;
    c->cases++;
    if (first >= 0) {
        c->of[first].wanted++;
        c->of[first].missed += !right;
    }
    if (!right)
        c->of[v.reason].alarms++;
    verdict_release(&v);
}

void measure_cases(struct bench *b)
{
    struct corpus c = {.b = b};
    long wrong = 0;
    each_file(&c, count_case);
    printf("labelled cases: %ld\n  %-24s %8s %8s %8s\n", c.cases, "", "cases", "missed", "alarms");
    for (int i = 0; i < N_REASONS; i++) {
        wrong += c.of[i].missed;
        if (c.of[i].wanted || c.of[i].alarms)
            printf("  %-24s %8ld %8ld %8ld\n", reason_name((enum reason)i), c.of[i].wanted,
                   c.of[i].missed, c.of[i].alarms);
    }
    bench_figure(b, "cases judged wrongly", (double)wrong, 0, "");
}

/* Bodies beyond this are split at single bytes only. */
#define SPLIT_MAX 6000

/* The verdict on a body that arrives in two pieces (or, with `step`, in pieces of that size). */
static void judge_split(struct corpus *c, const struct casefile *k, const struct toolset *t,
                        struct span body, size_t first, size_t step, struct buf *out)
{
    const struct dialect *d = dialect_default();
    struct wire_caps caps = {1u << 24, 1u << 26, 1u << 16};
    struct reply r;
    struct verdict v = {0};
    reply_init(&r);
    r.stream = k->reply.stream;
    struct decoder *dec = decoder_new(d, &caps, &r);
    r.status = k->reply.status;
    decoder_start(dec, k->reply.status, k->reply.content_type);
    for (size_t at = 0, n; at < body.len; at += n) {
        n = step ? step : at < first ? first - at : body.len - at;
        n = n < body.len - at ? n : body.len - at;
        decoder_feed(dec, body.data + at, n, 0);
    }
    r.end = k->reply.end;
    decoder_end(dec);
    decoder_free(dec);
    judge_reply(c->b->judge, t, &k->expect, &r, &v);
    struct jsonw w = {.out = out};
    buf_clear(out);
    jsonw_object(&w);
    verdict_write(&v, true, &w);
    jsonw_end_object(&w);
    verdict_release(&v);
    reply_release(&r);
}

static void split_case(struct corpus *c, struct span line, struct casefile *k,
                       const struct toolset *t)
{
    struct json *v = json_parse(line, NULL);
    struct span body = json_span(json_get(v, "response"));
    struct buf whole = BUF_INIT, part = BUF_INIT;
    if (body.len) {
        judge_split(c, k, t, body, body.len, 0, &whole);
        for (size_t at = 0; at < body.len; at++) {
            /* 0 stands for pieces of a single byte. */
            judge_split(c, k, t, body, at, at ? 0 : 1, &part);
            c->splits++;
            if (strcmp(buf_str(&whole), buf_str(&part)) != 0 && c->differ++ < 5)
                printf("  %s differs when cut at %zu\n", k->id, at);
            if (body.len > SPLIT_MAX)
                break;
        }
        c->cases++;
    }
    buf_release(&whole);
    buf_release(&part);
    json_free(v);
}

void measure_splits(struct bench *b)
{
    struct corpus c = {.b = b};
    printf("\nraw bodies cut in two at every byte, and into single bytes\n");
    each_file(&c, split_case);
    printf("  %ld bodies, %ld ways\n", c.cases, c.splits);
    bench_figure(b, "other verdicts or offsets", (double)c.differ, 0, "");
}
