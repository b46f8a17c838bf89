/* quality.c - prints what the judge misses, what it calls damage and is none, and what it costs.
 * Exit status 1 if a figure is worse than promised. The operand "time" leaves all but the cost
 * out. */
#include "quality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "expect.h"
#include "json.h"
#include "judge.h"
#include "message.h"
#include "pattern.h"
#include "reply.h"

static char first_name[] = "quay_status", second_name[] = "book_crane";
static char parameters[] = "{\"type\":\"object\",\"properties\":{}}";
static const struct tool tools[] = {
    {.name = first_name, .parameters = parameters},
    {.name = second_name, .parameters = parameters},
};

static void judge_with(const struct bench *b, struct span content, struct span args,
                       struct verdict *v)
{
    struct expect e = {
        .tools = tools, .n_tools = 2, .calls_allowed = true, .reasoning_parser = true};
    struct reply r;
    reply_init(&r);
    r.status = 200;
    r.done = r.has_choice = true;
    strcpy(r.finish, args.len ? "tool_calls" : "stop");
    buf_add(&r.content, content.data, content.len);
    if (args.len) {
        struct tool_call *call = reply_add_call(&r);
        buf_adds(&call->id, "call_1");
        buf_adds(&call->name, "quay_status");
        buf_adds(&call->args, "{\"text\": ");
        json_quote(&call->args, args);
        buf_adds(&call->args, "}");
    }
    judge_reply(b->judge, b->tools, &e, &r, v);
    reply_release(&r);
}

void bench_text(const struct bench *b, struct span text, struct verdict *v)
{
    judge_with(b, text, (struct span){NULL, 0}, v);
}

void bench_args(const struct bench *b, struct span text, struct verdict *v)
{
    judge_with(b, (struct span){NULL, 0}, text, v);
}

bool bench_leaks(const struct bench *b, struct span text)
{
    struct verdict v = {0};
    bench_text(b, text, &v);
    bool leaks = v.class == CLASS_LEAK;
    verdict_release(&v);
    return leaks;
}

void bench_figure(struct bench *b, const char *what, double got, double limit, const char *unit)
{
    bool missed = got > limit;
    b->failures += missed;
    printf("  %-44s %8.2f %-3s (at most %g)%s\n", what, got, unit, limit, missed ? "  MISSED" : "");
}

/* Unoptimised and sanitised builds are measured, but promise nothing. */
static double limit_here(double limit)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    return limit;
#else
    return limit * 100;
#endif
}

static double judge_ms(struct bench *b, struct span text)
{
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        struct verdict v = {0};
        int64_t start = clock_cpu_us();
        bench_text(b, text, &v);
        double ms = (double)(clock_cpu_us() - start) / 1000;
        verdict_release(&v);
        best = ms < best ? ms : best;
    }
    return best;
}

static void fill(struct buf *out, const char *unit, size_t bytes)
{
    buf_clear(out);
    while (out->len < bytes)
        buf_adds(out, unit);
}

static void add_prose(struct buf *out, size_t bytes)
{
    static const char *const words[] = {"the",   "quay",  "status", "of",      "crane", "seven",
                                        "is",    "open",  "while",  "lot",     "tools", "arguments",
                                        "stand", "idle;", "(call",  "later),", "and",   "function"};
    unsigned state = 12345;
    while (out->len < bytes) {
        state = state * 1103515245u + 12345u;
        buf_adds(out, words[(state >> 16) % (sizeof words / sizeof *words)]);
        buf_adds(out, (state >> 8) % 12 ? " " : ".\n");
    }
}

/* Four times the text: linear is 4, quadratic 16. */
#define MOST_GROWTH 8

void measure_time(struct bench *b)
{
    static const char *const units[] = {"<",
                                        "[{\"name\": ",
                                        "\n",
                                        "word ",
                                        "|",
                                        "<|",
                                        "|>",
                                        "<|x|>",
                                        "<tool_call>",
                                        "</tool_call>",
                                        "`",
                                        "```\n",
                                        "\"",
                                        " \"",
                                        "{\"a\":",
                                        "quay_status ",
                                        "quay_status(",
                                        "\\",
                                        "\xEF\xBD\x9C",
                                        "<think>",
                                        "</think>",
                                        "{\"name\": \"quay_status\", ",
                                        "functions.",
                                        "    x\n\n",
                                        "> x\n",
                                        "]<]",
                                        "to=",
                                        "\\_"};
    printf("\ntime, CPU of one reply%s\n", pattern_has_jit() ? "" : " (no JIT here)");
    struct buf text = BUF_INIT;
    add_prose(&text, 30000);
    bench_figure(b, "30 KB of prose", judge_ms(b, buf_span(&text)), limit_here(3), "ms");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char what[60];
        fill(&text, units[i], 1 << 18);
        double quarter = judge_ms(b, buf_span(&text));
        fill(&text, units[i], 1 << 20);
        double whole = judge_ms(b, buf_span(&text));
        snprintf(what, sizeof what, "1 MB of %.30s", units[i][0] == '\n' ? "newlines" : units[i]);
        for (char *p = what; *p; p++)
            *p = *p == '\n' ? ' ' : *p;
        bench_figure(b, what, whole, limit_here(100), "ms");
        bench_figure(b, "    to a quarter of it", whole / quarter, MOST_GROWTH, "times");
    }
    buf_release(&text);
}

int main(int argc, char **argv)
{
    bool time_alone = argc > 1 && strcmp(argv[1], "time") == 0;
    struct judge_options options = {0};
    struct err err = {0};
    struct bench b = {.judge = judge_new(&options, &err)};
    if (b.judge)
        b.tools = toolset_new(b.judge, tools, 2, &err);
    if (!b.tools) {
        fprintf(stderr, "quality: %s\n", err.text);
        return 2;
    }
    if (!time_alone) {
        measure_cases(&b);
        measure_families(&b);
        measure_splits(&b);
        measure_honest(&b);
    }
    measure_time(&b);
    toolset_free(b.tools);
    judge_free(b.judge);
    printf("\n%d figures missed\n", b.failures);
    return b.failures ? 1 : 0;
}
