/* judge_tally.c - counts verdicts and keeps examples. It knows no file and no rule. */
#include "judge_tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "casefile.h"
#include "json.h"
#include "judge.h"
#include "judge_input.h"
#include "mem.h"
#include "rate_text.h"

#define EXCERPT_BYTES 240 /* around a sign */

void judge_tally_release(struct judge_tally *t)
{
    for (size_t i = 0; i < t->n_examples; i++) {
        struct judge_example *e = &t->examples[i];
        free(e->file);
        free(e->id);
        free(e->rule);
        free(e->note);
        buf_release(&e->excerpt);
    }
    for (size_t i = 0; i < t->n_named; i++) {
        free(t->skipped[i].file);
        free(t->skipped[i].why);
    }
    free(t->examples);
    free(t->skipped);
    free(t->last_file);
    *t = (struct judge_tally){0};
}

static void count_file(struct judge_tally *t, const char *file)
{
    if (t->last_file && strcmp(t->last_file, file) == 0)
        return;
    free(t->last_file);
    t->last_file = mem_str(file);
    t->n_files++;
}

static void keep_example(struct judge_tally *t, const struct judge_place *at,
                         const struct casefile *c, const struct sign *s)
{
    t->examples = mem_grow(t->examples, &t->examples_cap, t->n_examples, sizeof *t->examples);
    struct judge_example *e = &t->examples[t->n_examples++];
    *e = (struct judge_example){.reason = s->reason,
                                .file = mem_str(at->file),
                                .id = mem_str(c->id),
                                .line = at->line,
                                .channel = s->channel,
                                .rule = mem_str(s->rule),
                                .note = mem_str(s->note)};
    struct span text = reply_channel(&c->reply, s->channel, s->call);
    size_t lead = (EXCERPT_BYTES - (s->len < EXCERPT_BYTES ? s->len : EXCERPT_BYTES)) / 2;
    size_t from = s->offset > lead ? s->offset - lead : 0;
    if (from >= text.len)
        return;
    size_t n = text.len - from < EXCERPT_BYTES ? text.len - from : EXCERPT_BYTES;
    buf_add(&e->excerpt, text.data + from, n);
    e->from = s->offset - from;
    e->to = e->from + s->len < n ? e->from + s->len : n;
}

void judge_tally_add(struct judge_tally *t, const struct judge_place *at, const struct casefile *c,
                     const struct verdict *v, bool right)
{
    bool corrupt = v->class == CLASS_LEAK || v->class == CLASS_NO_TOOL;
    bool suspect = v->class == CLASS_OK && v->n_signs > 0;
    count_file(t, at->file);
    t->n_replies++;
    t->n_expected += c->has_expectation;
    t->n_wrong += !right;
    t->n_damaged += corrupt && !c->has_expectation;
    t->n_suspects += suspect;
    t->classes[v->class]++;
    t->reasons[v->reason]++;
    for (int q = 0; q < N_QUIRKS; q++)
        t->quirks[q] += (v->quirks >> q & 1) != 0;
    if (v->class != CLASS_OK && v->n_signs > 0 && t->reasons[v->reason] <= t->per_reason)
        keep_example(t, at, c, &v->signs[0]);
}

void judge_tally_skip(struct judge_tally *t, const struct judge_place *at, const char *why)
{
    count_file(t, at->file);
    if (t->n_skipped++ >= JUDGE_TALLY_NAMED)
        return;
    t->skipped = mem_grow(t->skipped, &t->skipped_cap, t->n_named, sizeof *t->skipped);
    t->skipped[t->n_named++] =
        (struct judge_skipped){.file = mem_str(at->file), .why = mem_str(why), .line = at->line};
}

long judge_tally_judged(const struct judge_tally *t)
{
    return t->n_replies - t->classes[CLASS_ERROR];
}

long judge_tally_corrupt(const struct judge_tally *t)
{
    return t->classes[CLASS_LEAK] + t->classes[CLASS_NO_TOOL];
}

/* --- JSON --- */

static void add_long(struct jsonw *w, const char *key, long n)
{
    jsonw_key(w, key);
    jsonw_long(w, n);
}

static void add_text(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    jsonw_text(w, text);
}

static void add_double(struct jsonw *w, const char *key, double d)
{
    jsonw_key(w, key);
    jsonw_double(w, d);
}

static void write_rate(const struct judge_tally *t, struct jsonw *w)
{
    long x = judge_tally_corrupt(t), n = judge_tally_judged(t);
    struct interval bounds = rate_clopper_pearson(x, n, 0.95);
    char text[RATE_TEXT_SIZE];
    add_double(w, "rate", n ? (double)x / (double)n : NAN);
    add_double(w, "low", bounds.low);
    add_double(w, "bound", x == 0 ? rate_zero_bound(n, 0.95) : bounds.high);
    add_text(w, "text", n ? rate_text(text, sizeof text, x, n) : "none judged");
}

static void write_reasons(const struct judge_tally *t, struct jsonw *w)
{
    jsonw_key(w, "reasons");
    jsonw_array(w);
    for (int r = 0; r < N_REASONS; r++) {
        if (!t->reasons[r])
            continue;
        jsonw_object(w);
        add_text(w, "reason", reason_name((enum reason)r));
        add_text(w, "class", class_name(reason_class((enum reason)r)));
        add_long(w, "replies", t->reasons[r]);
        add_text(w, "meaning", reason_meaning((enum reason)r));
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_quirks(const struct judge_tally *t, struct jsonw *w)
{
    jsonw_key(w, "quirks");
    jsonw_object(w);
    for (int q = 0; q < N_QUIRKS; q++)
        if (t->quirks[q])
            add_long(w, quirk_name((enum quirk)q), t->quirks[q]);
    jsonw_end_object(w);
}

static void write_skipped(const struct judge_tally *t, struct jsonw *w)
{
    add_long(w, "skipped", t->n_skipped);
    jsonw_key(w, "skipped_lines");
    jsonw_array(w);
    for (size_t i = 0; i < t->n_named; i++) {
        jsonw_object(w);
        add_text(w, "file", t->skipped[i].file);
        add_long(w, "line", t->skipped[i].line);
        add_text(w, "why", t->skipped[i].why);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_examples(const struct judge_tally *t, struct jsonw *w)
{
    jsonw_key(w, "examples");
    jsonw_array(w);
    for (int r = 0; r < N_REASONS; r++)
        for (size_t i = 0; i < t->n_examples; i++) {
            const struct judge_example *e = &t->examples[i];
            if ((int)e->reason != r)
                continue;
            jsonw_object(w);
            add_text(w, "reason", reason_name(e->reason));
            add_text(w, "file", e->file);
            add_long(w, "line", e->line);
            add_text(w, "id", e->id);
            add_text(w, "channel", channel_name(e->channel));
            add_text(w, "rule", e->rule);
            add_text(w, "note", e->note);
            jsonw_key(w, "excerpt");
            jsonw_span(w, buf_span(&e->excerpt));
            add_long(w, "from", (long)e->from);
            add_long(w, "to", (long)e->to);
            jsonw_end_object(w);
        }
    jsonw_end_array(w);
}

void judge_tally_json(const struct judge_tally *t, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    add_long(&w, "replies", t->n_replies);
    add_long(&w, "files", t->n_files);
    add_long(&w, "judged", judge_tally_judged(t));
    add_long(&w, "corrupted", judge_tally_corrupt(t));
    write_rate(t, &w);
    jsonw_key(&w, "classes");
    jsonw_object(&w);
    for (int i = 0; i < N_CLASSES; i++)
        add_long(&w, class_name((enum verdict_class)i), t->classes[i]);
    jsonw_end_object(&w);
    add_long(&w, "suspects", t->n_suspects);
    add_long(&w, "with_expectation", t->n_expected);
    add_long(&w, "not_as_expected", t->n_wrong);
    write_reasons(t, &w);
    write_quirks(t, &w);
    write_skipped(t, &w);
    write_examples(t, &w);
    jsonw_end_object(&w);
    buf_addc(out, '\n');
}
