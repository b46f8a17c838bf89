/* family.c - each family's own markup, written from its data file: whole, cut at every length, with
 * every single character of a marker lost. Counts what the judge misses. */
#include <stdio.h>
#include <string.h>

#include "embed.h"
#include "json.h"
#include "quality.h"

#define VALUE "north-4/may"

/* Texts before the block; the call is the block's. */
#define LEAD "I look it up.\n"

static void substitute(const char *form, const char *const (*with)[2], size_t n, struct buf *out)
{
    while (*form) {
        size_t i = 0, len = 0;
        for (; i < n; i++) {
            len = strlen(with[i][0]);
            if (strncmp(form, with[i][0], len) == 0)
                break;
        }
        if (i < n) {
            buf_adds(out, with[i][1]);
            form += len;
        } else {
            buf_addc(out, *form++);
        }
    }
}

/* One call of quay_status with one argument, as the family writes it. */
static void render(const struct json *form, struct buf *out)
{
    static const char *const param_words[][2] = {
        {"{key}", "berth"},   {"{value}", VALUE},      {"{json}", "\"" VALUE "\""},
        {"{type}", "string"}, {"{is_string}", "true"},
    };
    struct buf param = BUF_INIT;
    const char *text = json_text(json_get(form, "param"));
    substitute(text ? text : "", param_words, 5, &param);
    const char *const call_words[][2] = {{"{name}", "quay_status"},
                                         {"{args}", "{\"berth\": \"" VALUE "\"}"},
                                         {"{index}", "0"},
                                         {"{params}", buf_str(&param)}};
    buf_adds(out, json_text(json_get(form, "open")));
    substitute(json_text(json_get(form, "call")), call_words, 4, out);
    buf_adds(out, json_text(json_get(form, "close")));
    buf_release(&param);
}

struct count {
    long tried, missed;
};

static void try_text(const struct bench *b, struct span text, struct count *c)
{
    c->tried++;
    if (bench_leaks(b, text))
        return;
    c->missed++;
}

/* From the fourth byte on: less is no marker. */
static void try_cuts(const struct bench *b, struct span text, struct count *c)
{
    for (size_t len = strlen(LEAD) + 4; len <= text.len; len++)
        if (len == text.len || ((unsigned char)text.data[len] & 0xC0) != 0x80)
            try_text(b, (struct span){text.data, len}, c);
}

static size_t char_length(struct span s, size_t at)
{
    size_t n = 1;
    while (at + n < s.len && ((unsigned char)s.data[at + n] & 0xC0) == 0x80)
        n++;
    return n;
}

static void try_losses(const struct bench *b, struct span text, struct span token, struct count *c)
{
    struct buf damaged = BUF_INIT;
    for (long at = 0; (at = span_find(text, token, (size_t)at)) >= 0; at++) {
        for (size_t i = 0, n; i < token.len; i += n) {
            n = char_length(token, i);
            buf_clear(&damaged);
            buf_add(&damaged, text.data, (size_t)at + i);
            buf_add(&damaged, text.data + at + i + n, text.len - (size_t)at - i - n);
            try_text(b, buf_span(&damaged), c);
        }
    }
    buf_release(&damaged);
}

static void measure(const struct bench *b, const struct json *v, struct count total[3])
{
    struct count whole = {0}, cuts = {0}, losses = {0};
    struct buf text = BUF_INIT;
    buf_adds(&text, LEAD);
    render(json_get(v, "render"), &text);
    try_text(b, buf_span(&text), &whole);
    try_cuts(b, buf_span(&text), &cuts);
    const struct json *tokens = json_get(v, "tokens");
    for (const struct json *t = json_first(tokens); t; t = json_next(t))
        try_losses(b, buf_span(&text), json_span(t), &losses);
    printf("  %-16s %5ld/%-4ld %6ld/%-5ld %6ld/%-5ld\n", json_text(json_get(v, "name")),
           whole.missed, whole.tried, cuts.missed, cuts.tried, losses.missed, losses.tried);
    const struct count now[3] = {whole, cuts, losses};
    for (int i = 0; i < 3; i++) {
        total[i].tried += now[i].tried;
        total[i].missed += now[i].missed;
    }
    buf_release(&text);
}

static double percent(struct count c)
{
    return c.tried ? 100.0 * (double)c.missed / (double)c.tried : 0;
}

void measure_families(struct bench *b)
{
    struct count total[3] = {{0, 0}, {0, 0}, {0, 0}};
    printf("\nmissed of each family's markup\n  %-16s %10s %12s %12s\n", "", "whole", "every cut",
           "one lost");
    for (const struct embedded *e = NULL; (e = embed_next("schemas/markup/", e)) != NULL;) {
        struct json *v = json_parse((struct span){e->data, e->len}, NULL);
        if (json_get(v, "render"))
            measure(b, v, total);
        json_free(v);
    }
    bench_figure(b, "whole blocks missed", percent(total[0]), 0, "%");
    bench_figure(b, "cut blocks missed", percent(total[1]), 3, "%");
    bench_figure(b, "blocks with one character lost missed", percent(total[2]), 0.5, "%");
}
