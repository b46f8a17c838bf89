/* judge_tally.h - what a heap of replies came to: counts, rate, and some of the worst. */
#ifndef JUDGE_TALLY_H
#define JUDGE_TALLY_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "words.h"

struct casefile;
struct judge_place;
struct report_style;
struct verdict;

/* Lines that could not be used are counted; so many are named. */
#define JUDGE_TALLY_NAMED 10

struct judge_example {
    enum reason reason;
    char *file, *id; /* id may be NULL */
    long line;
    enum channel channel;
    char *rule, *note;
    struct buf excerpt;
    size_t from, to; /* the damage in it */
};

struct judge_skipped {
    char *file, *why;
    long line;
};

struct judge_tally {
    long per_reason; /* examples to keep of each reason; set by the caller */
    long n_replies, n_files, n_skipped;
    long n_expected, n_wrong; /* cases that say what they expect, and missed it */
    long n_damaged;           /* replies that are corrupted and were not expected to be */
    long n_suspects;          /* replies that a strict judge would have called damaged */
    long classes[N_CLASSES], reasons[N_REASONS], quirks[N_QUIRKS];
    struct judge_example *examples;
    size_t n_examples, examples_cap;
    struct judge_skipped *skipped;
    size_t n_named, skipped_cap;
    char *last_file;
};

void judge_tally_release(struct judge_tally *t);

void judge_tally_add(struct judge_tally *t, const struct judge_place *at, const struct casefile *c,
                     const struct verdict *v, bool right);
void judge_tally_skip(struct judge_tally *t, const struct judge_place *at, const char *why);

long judge_tally_judged(const struct judge_tally *t);  /* all but errors */
long judge_tally_corrupt(const struct judge_tally *t); /* leak and no_tool */

/* Adds the summary. */
void judge_tally_json(const struct judge_tally *t, struct buf *out);
void judge_tally_text(const struct judge_tally *t, const struct report_style *style,
                      struct buf *out);

#endif
