/* verdict.c - the rules that turn figures into one word, and what may be wrong with it.
 *
 * Sessions, repeats and the interval must all agree before a change is called one. Knows nothing
 * of databases, printing and exit statuses. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>

#include "difference.h"
#include "dist.h"
#include "fisher.h"
#include "mem.h"
#include "plan.h"
#include "strata.h"

#define POWER           0.8
#define ERROR_SHARE     0.02
#define DISAGREE        0.05 /* level of the tests on repeats and on error rates */
#define MOST_NEW_BLOCKS 100

struct totals {
    long x, n, errors;
};

static struct totals total(struct verdict_arm arm)
{
    struct totals t = {0, 0, 0};
    for (size_t i = 0; i < arm.count; i++) {
        t.x += arm.runs[i].x;
        t.n += arm.runs[i].n;
        t.errors += arm.runs[i].errors;
    }
    return t;
}

static bool usable(struct verdict_arm arm)
{
    long n = 0;
    for (size_t i = 0; i < arm.count; i++) {
        const struct verdict_run *r = &arm.runs[i];
        if (r->x < 0 || r->x > r->n || r->errors < 0)
            return false;
        n += r->n;
    }
    return n > 0;
}

static struct dispersion scatter(struct verdict_arm arm, double *exact_p)
{
    long *x = mem_zero(arm.count, sizeof(*x)), *n = mem_zero(arm.count, sizeof(*n));
    for (size_t i = 0; i < arm.count; i++) {
        x[i] = arm.runs[i].x;
        n[i] = arm.runs[i].n;
    }
    struct dispersion d = dispersion_chi2(x, n, arm.count);
    if (exact_p)
        *exact_p = dispersion_exact(x, n, arm.count);
    free(x);
    free(n);
    return d;
}

/* B is arm 1, so that differences come out as B - A. */
static struct strata_table table_of(struct totals a, struct totals b)
{
    return (struct strata_table){b.x, b.n, a.x, a.n};
}

/* Blocks if each has sessions of both arms, else everything pooled. */
static bool has_blocks(const struct verdict_input *in)
{
    if (!in->paired_blocks || in->a.count != in->b.count)
        return false;
    for (size_t i = 0; i < in->a.count; i++) {
        if (in->a.runs[i].n == 0 || in->b.runs[i].n == 0)
            return false;
    }
    return true;
}

static void test_sessions(const struct verdict_input *in, struct verdict_result *r)
{
    size_t count = has_blocks(in) ? in->a.count : 1;
    struct strata_table *tables = mem_zero(count, sizeof(*tables));
    tables[0] = table_of(total(in->a), total(in->b));
    for (size_t i = 0; count > 1 && i < count; i++) {
        const struct verdict_run *a = &in->a.runs[i], *b = &in->b.runs[i];
        tables[i] = (struct strata_table){b->x, b->n, a->x, a->n};
    }
    struct strata_cmh cmh = strata_cmh_test(tables, count);
    r->p_session = strata_exact_test(tables, count).midp;
    if (isnan(r->p_session)) /* too much work for the exact test: samples are large */
        r->p_session = cmh.p;
    r->p_run = dist_f_sf(cmh.chi2 / r->phi, 1, r->df);
    free(tables);
}

static bool inside(struct interval i, double margin)
{
    return i.low > -margin && i.high < margin;
}

static bool excludes_zero(struct interval i)
{
    return i.low > 0 || i.high < 0;
}

static enum verdict match(const struct verdict_input *in, const struct verdict_result *r)
{
    bool sessions = r->p_session <= in->alpha;
    if (sessions && r->p_run <= in->alpha && excludes_zero(r->ci95)) {
        if (inside(r->ci90, in->margin))
            return VERDICT_NEGLIGIBLE;
        return r->diff > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    }
    if (r->rate_a == 0 && r->rate_b == 0)
        return VERDICT_NOTHING_REPRODUCED;
    if (inside(r->ci90, in->margin))
        return VERDICT_EQUIVALENT;
    return sessions ? VERDICT_SUGGESTIVE : VERDICT_INCONCLUSIVE;
}

/* Everything up to the word, as if there were no errors. */
static void judge(const struct verdict_input *in, struct verdict_result *r)
{
    struct totals a = total(in->a), b = total(in->b);
    struct difference_arms arms = {b.x, b.n, a.x, a.n};
    struct dispersion repeats[2] = {scatter(in->a, NULL), scatter(in->b, NULL)};
    struct dispersion_noise noise = dispersion_moderate(&in->prior, repeats, 2);
    r->phi = noise.phi;
    r->df = noise.df;
    r->rate_a = (double)a.x / (double)a.n;
    r->rate_b = (double)b.x / (double)b.n;
    r->diff = r->rate_b - r->rate_a;
    r->ci95 = difference_newcombe_noise(arms, r->phi, r->df, 0.95);
    r->ci90 = difference_newcombe_noise(arms, r->phi, r->df, 0.90);
    test_sessions(in, r);
    r->verdict = match(in, r);
}

/* The arm with its failed sessions counted as judged, and each as `corrupt` (0 or 1). */
static struct verdict_run *with_errors(struct verdict_arm arm, long corrupt)
{
    struct verdict_run *runs = mem_zero(arm.count, sizeof(*runs));
    for (size_t i = 0; i < arm.count; i++) {
        const struct verdict_run *r = &arm.runs[i];
        runs[i] = (struct verdict_run){r->x + corrupt * r->errors, r->n + r->errors, 0};
    }
    return runs;
}

static enum verdict bound(const struct verdict_input *in, long corrupt)
{
    struct verdict_input other = *in;
    struct verdict_run *a = with_errors(in->a, corrupt), *b = with_errors(in->b, corrupt);
    struct verdict_result r = {0};
    other.a.runs = a;
    other.b.runs = b;
    judge(&other, &r);
    free(a);
    free(b);
    return r.verdict;
}

static void weigh_errors(const struct verdict_input *in, struct verdict_result *r)
{
    struct totals a = total(in->a), b = total(in->b);
    long all_a = a.n + a.errors, all_b = b.n + b.errors;
    r->if_errors_clean = r->if_errors_corrupt = r->verdict;
    if (a.errors + b.errors == 0)
        return;
    r->if_errors_clean = bound(in, 0);
    r->if_errors_corrupt = bound(in, 1);
    r->bounds_matter = (double)a.errors > ERROR_SHARE * (double)all_a ||
                       (double)b.errors > ERROR_SHARE * (double)all_b ||
                       fisher_test(a.errors, all_a, b.errors, all_b).midp < DISAGREE;
    bool same = r->if_errors_clean == r->verdict && r->if_errors_corrupt == r->verdict;
    if (r->bounds_matter && !same) {
        r->verdict = VERDICT_INCONCLUSIVE;
        r->reasons |= VERDICT_REASON_ERRORS;
    }
}

static void attach_reasons(const struct verdict_input *in, struct verdict_result *r)
{
    scatter(in->a, &r->repeats_p_a);
    scatter(in->b, &r->repeats_p_b);
    if (r->repeats_p_a < DISAGREE || r->repeats_p_b < DISAGREE)
        r->reasons |= VERDICT_REASON_REPEATS;
    if (!in->interleaved)
        r->reasons |= VERDICT_REASON_ORDER;
    /* what a clean baseline weakens; that B is worse it only makes plainer */
    if (r->rate_a == 0 && r->verdict != VERDICT_REGRESSED && r->verdict != VERDICT_NEGLIGIBLE)
        r->reasons |= VERDICT_REASON_BASELINE;
    if (in->planned_looks > 0 && in->looks > in->planned_looks)
        r->reasons |= VERDICT_REASON_PEEKED;
    if (in->unlike)
        r->reasons |= VERDICT_REASON_UNLIKE;
    if (in->exposure_differs)
        r->reasons |= VERDICT_REASON_EXPOSURE;
}

/* The arm's totals, and in *df its repeats' df, if `more` runs like the others were added. */
static struct totals extended(struct verdict_arm arm, long more, double *df)
{
    struct totals t = total(arm);
    double growth = (double)((long)arm.count + more) / (double)arm.count;
    if (t.x > 0 && t.x < t.n)
        *df += (double)((long)arm.count + more - 1);
    t.x = lround((double)t.x * growth);
    t.n = lround((double)t.n * growth);
    return t;
}

static bool settled_with(const struct verdict_input *in, const struct verdict_result *r, long more)
{
    double df = in->prior.df + in->prior.history_df;
    struct totals a = extended(in->a, more, &df), b = extended(in->b, more, &df);
    struct strata_table pooled = table_of(a, b);
    struct difference_arms arms = {b.x, b.n, a.x, a.n};
    double chi2 = strata_cmh_test(&pooled, 1).chi2;
    return dist_f_sf(chi2 / r->phi, 1, df) <= in->alpha &&
           excludes_zero(difference_newcombe_noise(arms, r->phi, df, 0.95));
}

/* What to do about a verdict that settles nothing. */
static void advise(const struct verdict_input *in, struct verdict_result *r)
{
    struct totals a = total(in->a), b = total(in->b);
    r->detectable =
        plan_detectable(r->rate_a, (double)a.n / r->phi, (double)b.n / r->phi, in->alpha, POWER);
    double n = plan_size_midp(r->rate_a, r->rate_b, in->alpha, POWER);
    if (isnan(n))
        n = ceil(plan_size(r->rate_a, r->rate_b, in->alpha, POWER));
    r->sessions_needed = ceil(n * r->phi - 1e-9);
    for (long more = 1; r->verdict == VERDICT_SUGGESTIVE && more <= MOST_NEW_BLOCKS; more++) {
        if (settled_with(in, r, more)) {
            r->blocks_to_add = (double)more;
            break;
        }
    }
}

struct verdict_result verdict_decide(const struct verdict_input *in)
{
    const struct interval none = {NAN, NAN};
    struct verdict_result r = {
        .verdict = VERDICT_INCONCLUSIVE,
        .rate_a = NAN,
        .rate_b = NAN,
        .diff = NAN,
        .p_session = NAN,
        .p_run = NAN,
        .phi = NAN,
        .df = NAN,
        .ci95 = none,
        .ci90 = none,
        .ratio = none,
        .pooled_a = none,
        .pooled_b = none,
        .repeats_p_a = NAN,
        .repeats_p_b = NAN,
        .if_errors_clean = VERDICT_INCONCLUSIVE,
        .if_errors_corrupt = VERDICT_INCONCLUSIVE,
        .detectable = none,
        .sessions_needed = NAN,
        .blocks_to_add = NAN,
    };
    if (!usable(in->a) || !usable(in->b))
        return r;
    struct totals a = total(in->a), b = total(in->b);
    judge(in, &r);
    r.ratio = difference_ratio((struct difference_arms){b.x, b.n, a.x, a.n}, 0.95);
    r.pooled_a = rate_clopper_noise(a.x, a.n, r.phi, 0.95);
    r.pooled_b = rate_clopper_noise(b.x, b.n, r.phi, 0.95);
    weigh_errors(in, &r);
    attach_reasons(in, &r);
    if (r.verdict == VERDICT_SUGGESTIVE || r.verdict == VERDICT_INCONCLUSIVE)
        advise(in, &r);
    return r;
}

static const char *const words[][2] = {
#define VERDICT(name, word, means) {word, means},
#include "verdict.def"
#undef VERDICT
};

static const char *const reasons[][2] = {
#define VERDICT_REASON(name, word, means) {word, means},
#include "verdict_reason.def"
#undef VERDICT_REASON
};

const char *verdict_word(enum verdict v)
{
    return words[v][0];
}

const char *verdict_means(enum verdict v)
{
    return words[v][1];
}

const char *verdict_reason_word(int bit)
{
    return reasons[bit][0];
}

const char *verdict_reason_means(int bit)
{
    return reasons[bit][1];
}
