/* compare.h - two or more configurations: what may be said about their difference. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "arm.h"
#include "verdict.h"

struct buf;
struct jsonw;
struct report_style;

struct compare_request {
    const char *const *operands; /* the first is the baseline; see arm_read() */
    size_t n_operands;
    const char *const *varying; /* settings whose difference is the point */
    size_t n_varying;
    double margin, alpha;
    int planned_looks; /* looks fixed in advance, one after each block; 0 = one look, at the end */
};

struct reason_change {
    const char *reason;
    long a, b;     /* sessions */
    double p_holm; /* mid-p, Holm over the reasons */
};

/* One arm against the baseline. */
struct comparison {
    const struct arm *a, *b;
    struct verdict_result result;
    double p_holm; /* p_session, Holm over the arms; equal to it with two arms */
    bool paired;   /* blocks were found */
    struct reason_change *reasons;
    size_t n_reasons;
};

struct compare {
    struct compare_request request;
    struct arm *arms;
    size_t n_arms;
    struct dispersion_prior prior;
    struct comparison *comparisons; /* n_arms - 1 */
    struct figures unlike;          /* settings that differ and were declared as the point */
};

/* Reads and decides. Refuses with status 2 if the runs differ in something that a comparison needs
 * to be the same and that `varying` does not name. `c` is zeroed; release it after a failure too.
 */
int compare_read(struct compare *c, struct store *s, const struct compare_request *r,
                 struct err *err) MUST_CHECK;
void compare_release(struct compare *c);

/* compare_text.c: for people, for machines, for an issue. */
void compare_write_text(const struct compare *c, const struct report_style *style, struct buf *out);
void compare_write_json(const struct compare *c, struct jsonw *w);
void compare_write_interval(struct jsonw *w, const char *key, struct interval i);
void compare_write_md(const struct compare *c, struct buf *out);

/* Comparison `i`: its verdict's sentence, and what stands behind it, a line each. */
void compare_write_sentence(const struct compare *c, size_t i, struct buf *out);
void compare_write_lines(const struct compare *c, size_t i, struct buf *out);

#endif
