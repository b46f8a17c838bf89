/* verdict.h - may one say that B corrupts more or less than A?
 *
 * p_session: stratified exact mid-p over sessions, one stratum per block. p_run: the same
 * difference against the noise between runs, P(F(1, df) > CMH chi2 / phi). CI95 and CI90: Newcombe
 * on counts divided by phi, with t at df. Rules, first match:
 *
 *   NEGLIGIBLE          p_session <= alpha, p_run <= alpha, CI95 without 0, CI90 inside the margin
 *   REGRESSED/IMPROVED  the same without the margin, B above/below A
 *   NOTHING REPRODUCED  no corruption in either arm
 *   EQUIVALENT          CI90 inside the margin
 *   SUGGESTIVE          p_session <= alpha alone
 *   INCONCLUSIVE        otherwise, and whenever failed sessions could turn the verdict */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "dispersion.h"
#include "rate.h"

enum verdict {
#define VERDICT(name, word, means) VERDICT_##name,
#include "verdict.def"
#undef VERDICT
};

enum verdict_reason_bit {
#define VERDICT_REASON(name, word, means) VERDICT_BIT_##name,
#include "verdict_reason.def"
#undef VERDICT_REASON
    VERDICT_BITS
};

enum verdict_reason {
#define VERDICT_REASON(name, word, means) VERDICT_REASON_##name = 1 << VERDICT_BIT_##name,
#include "verdict_reason.def"
#undef VERDICT_REASON
};

struct verdict_run {
    long x, n;   /* corrupted, judged */
    long errors; /* failed, not in n */
};

struct verdict_arm {
    const struct verdict_run *runs; /* borrowed */
    size_t count;
};

struct verdict_input {
    struct verdict_arm a, b;       /* baseline, variant */
    double margin;                 /* a change smaller than this does not matter: 0.05, 0.02 */
    double alpha;                  /* 0.05; with planned looks, this look's threshold */
    struct dispersion_prior prior; /* df 4, phi 1.25, and the database's history */
    bool paired_blocks;            /* run i of both arms is block i; needs equal counts */
    bool interleaved;              /* false attaches `not interleaved` */
    bool exposure_differs;
    bool unlike;              /* the arms played other sessions, or with another version */
    int looks, planned_looks; /* 0 planned: not a sequence of looks */
};

struct verdict_result {
    enum verdict verdict;
    unsigned reasons;            /* enum verdict_reason */
    double rate_a, rate_b, diff; /* diff = B - A */
    double p_session, p_run;
    double phi, df;             /* run-to-run noise factor and the df behind it */
    struct interval ci95, ci90; /* of diff */
    struct interval ratio;      /* of rate_b / rate_a, sessions alone; high may be infinite */
    struct interval pooled_a, pooled_b; /* 95%, Clopper-Pearson on counts divided by phi */
    double repeats_p_a, repeats_p_b;    /* exact dispersion p; NaN with one run */
    enum verdict if_errors_clean, if_errors_corrupt; /* the two bounds; set when there are errors */
    bool bounds_matter;         /* errors above 2% or different between arms: print the bounds */
    struct interval detectable; /* rate_b that 80% of such comparisons would tell from rate_a */
    double sessions_needed;     /* per arm, 80% power at the rates seen, times phi; NaN if equal */
    double blocks_to_add;       /* more blocks until p_run and CI95 agree if the rates stay; NaN */
};

/* Decides. Impossible or empty arms give NaN figures and INCONCLUSIVE. The last three figures are
 * computed for SUGGESTIVE and INCONCLUSIVE only, else NaN. */
struct verdict_result verdict_decide(const struct verdict_input *in);

const char *verdict_word(enum verdict v);  /* "IMPROVED" */
const char *verdict_means(enum verdict v); /* "B corrupts less" */

/* Word and meaning of reason number `bit`, 0 <= bit < VERDICT_BITS. */
const char *verdict_reason_word(int bit);
const char *verdict_reason_means(int bit);

#endif
