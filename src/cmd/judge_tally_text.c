/* judge_tally_text.c - the summary of judged replies, for people. */
#include <stdio.h>

#include "judge_tally.h"
#include "rate_text.h"
#include "report.h"
#include "text.h"
#include "transcript.h"

#define LABEL_WIDTH 11

static void line(const struct report_style *style, struct buf *out, const char *label,
                 const struct buf *text)
{
    buf_addf(out, "  %-*s", LABEL_WIDTH, label);
    text_wrap(out, buf_str(text), LABEL_WIDTH + 2,
              style->columns > 0 ? (size_t)style->columns : 80);
}

static void heading(const struct report_style *style, struct buf *out, const char *text)
{
    buf_addc(out, '\n');
    text_paint(out, style, PAINT_BOLD, text);
    buf_addc(out, '\n');
}

static const char *plural(long n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void headline(const struct judge_tally *t, const struct report_style *style, struct buf *out)
{
    long x = judge_tally_corrupt(t), n = judge_tally_judged(t);
    struct buf text = BUF_INIT;
    buf_adds(&text, "CORRUPTION replies: ");
    if (n)
        buf_addf(&text, "%ld/%ld = %.3g%%", x, n, 100 * (double)x / (double)n);
    else
        buf_adds(&text, "none judged");
    text_paint(out, style, x ? PAINT_BAD : n ? PAINT_GOOD : PAINT_WARN, buf_str(&text));
    buf_addf(out, "  (leak=%ld no_tool=%ld error=%ld ok=%ld)\n", t->classes[CLASS_LEAK],
             t->classes[CLASS_NO_TOOL], t->classes[CLASS_ERROR], t->classes[CLASS_OK]);
    buf_release(&text);
}

static void rate_line(const struct judge_tally *t, const struct report_style *style,
                      struct buf *out)
{
    long x = judge_tally_corrupt(t), n = judge_tally_judged(t);
    char rate[RATE_TEXT_SIZE];
    struct buf text = BUF_INIT;
    if (!n)
        return;
    buf_addf(&text, "%s%s, if replies are independent; those of one conversation are not",
             rate_text(rate, sizeof rate, x, n), x ? " (95% interval)" : "");
    line(style, out, "rate", &text);
    buf_release(&text);
}

static void skipped_line(const struct judge_tally *t, const struct report_style *style,
                         struct buf *out)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%ld %s used:", t->n_skipped,
             plural(t->n_skipped, "line that could not be", "lines that could not be"));
    line(style, out, "skipped", &text);
    for (size_t i = 0; i < t->n_named; i++) {
        buf_clear(&text);
        text_safe(&text, span_of(t->skipped[i].file), false);
        buf_addf(&text, " line %ld: ", t->skipped[i].line);
        text_safe(&text, span_of(t->skipped[i].why), false);
        line(style, out, "", &text);
    }
    buf_clear(&text);
    buf_addf(&text, "and %ld more", t->n_skipped - (long)t->n_named);
    if (t->n_skipped > (long)t->n_named)
        line(style, out, "", &text);
    buf_release(&text);
}

static void lines(const struct judge_tally *t, const struct report_style *style, struct buf *out)
{
    struct buf text = BUF_INIT;
    rate_line(t, style, out);
    buf_addf(&text, "%ld %s in %ld %s", t->n_replies, plural(t->n_replies, "reply", "replies"),
             t->n_files, plural(t->n_files, "file", "files"));
    line(style, out, "read", &text);
    if (t->n_skipped)
        skipped_line(t, style, out);
    buf_clear(&text);
    buf_addf(&text, "%ld %s signs that only --strict counts", t->n_suspects,
             plural(t->n_suspects, "right reply has", "right replies have"));
    if (t->n_suspects)
        line(style, out, "suspects", &text);
    buf_clear(&text);
    buf_addf(&text, "%ld of %ld cases differ from what they say", t->n_wrong, t->n_expected);
    if (t->n_expected)
        line(style, out, "expected", &text);
    buf_release(&text);
}

static void reasons(const struct judge_tally *t, const struct report_style *style, struct buf *out)
{
    struct grid g = {.align = "lrrl", .wraps = true};
    for (int r = 0; r < N_REASONS; r++) {
        enum verdict_class class = reason_class((enum reason)r);
        char share[RATE_TEXT_SIZE];
        if (!t->reasons[r] || class == CLASS_OK)
            continue;
        grid_add(&g, reason_name((enum reason)r));
        grid_paint(&g, class == CLASS_ERROR ? PAINT_WARN : PAINT_BAD);
        grid_addf(&g, "%ld", t->reasons[r]);
        grid_add(&g, rate_text_percent(share, sizeof share,
                                       (double)t->reasons[r] / (double)t->n_replies, t->n_replies));
        grid_add(&g, reason_meaning((enum reason)r));
        grid_paint(&g, PAINT_DIM);
    }
    if (!g.n)
        return;
    heading(style, out, "Reasons (replies, share of all)");
    grid_print(&g, style, 2, out);
}

static void quirks(const struct judge_tally *t, const struct report_style *style, struct buf *out)
{
    struct grid g = {.align = "lrl", .wraps = true};
    for (int q = 0; q < N_QUIRKS; q++) {
        if (!t->quirks[q])
            continue;
        grid_add(&g, quirk_name((enum quirk)q));
        grid_addf(&g, "%ld", t->quirks[q]);
        grid_add(&g, quirk_meaning((enum quirk)q));
        grid_paint(&g, PAINT_DIM);
    }
    if (!g.n)
        return;
    heading(style, out, "Quirks (replies; they damage nothing)");
    grid_print(&g, style, 2, out);
}

static void example(const struct judge_example *e, const struct report_style *style,
                    struct buf *out)
{
    const struct transcript shown = {.style = style, .out = out};
    struct mark mark = {e->from, e->to};
    struct buf head = BUF_INIT;
    buf_addf(&head, "%s  ", reason_name(e->reason));
    text_safe(&head, span_of(e->file), false);
    if (e->line)
        buf_addf(&head, " line %ld", e->line);
    if (e->id && e->id[0]) {
        buf_adds(&head, ", id ");
        text_safe(&head, span_of(e->id), false);
    }
    buf_addf(&head, ": %s, ", channel_name(e->channel));
    text_safe(&head, span_of(e->rule), false);
    buf_adds(&head, e->note[0] ? ": " : "");
    text_safe(&head, span_of(e->note), false);
    buf_adds(out, "  ");
    text_wrap(out, buf_str(&head), 2, style->columns > 0 ? (size_t)style->columns : 80);
    if (e->excerpt.len)
        transcript_text(&shown, buf_span(&e->excerpt), &mark, 1);
    buf_release(&head);
}

static void examples(const struct judge_tally *t, const struct report_style *style, struct buf *out)
{
    if (!t->n_examples)
        return;
    heading(style, out, "Examples, the worst first");
    for (int r = 0; r < N_REASONS; r++)
        for (size_t i = 0; i < t->n_examples; i++)
            if ((int)t->examples[i].reason == r)
                example(&t->examples[i], style, out);
}

void judge_tally_text(const struct judge_tally *t, const struct report_style *style,
                      struct buf *out)
{
    headline(t, style, out);
    lines(t, style, out);
    reasons(t, style, out);
    quirks(t, style, out);
    examples(t, style, out);
}
