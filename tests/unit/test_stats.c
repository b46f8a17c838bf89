// layers: stats base
/* Properties that hold for any numbers, the rules of the verdict, and one story told in figures:
 * a race that corrupts 15 % of sessions, a change that halves it, and the fix. */
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

#include "beta.h"
#include "betabinom.h"
#include "byname.h"
#include "difference.h"
#include "dispersion.h"
#include "dist.h"
#include "fisher.h"
#include "looks.h"
#include "mixture.h"
#include "multiple.h"
#include "plan.h"
#include "rank.h"
#include "rate.h"
#include "rate_text.h"
#include "rng.h"
#include "sprt.h"
#include "strata.h"
#include "survival.h"
#include "trend.h"
#include "unconditional.h"
#include "verdict.h"

static void test_beta(void)
{
    static const double shapes[] = {0.05, 0.5, 1, 3.5, 40, 1000, 1e6};
    static const double rates[] = {1e-6, 0.01, 0.15, 0.5, 0.9};
    static const double tails[] = {1e-30, 1e-6, 0.025, 0.5, 0.975, 0.999999};
    const size_t n = sizeof(shapes) / sizeof(shapes[0]);
    for (size_t i = 0; i < n * n; i++) {
        double a = shapes[i / n], b = shapes[i % n], last = 0;
        for (size_t k = 0; k < 5; k++) {
            double low = beta_cdf(a, b, rates[k]), high = beta_sf(a, b, rates[k]);
            CHECK_NEAR(low + high, 1, 1e-12);
            CHECK(low >= last);
            last = low;
        }
        for (size_t k = 0; k < 6; k++) {
            double x = beta_quantile(a, b, tails[k]), y = beta_quantile_upper(b, a, tails[k]);
            CHECK_NEAR(x + y, 1, 1e-14);
            if (x > 1e-290 && x < 0.99)
                CHECK_NEAR(beta_cdf(a, b, x), tails[k], 1e-9);
        }
    }
    CHECK(isnan(beta_cdf(0, 1, 0.5)) && isnan(beta_cdf(1, 1, -0.1)) &&
          isnan(beta_cdf(1, NAN, 0.5)));
    CHECK(isnan(beta_quantile(1, -1, 0.5)) && isnan(beta_quantile(1, 1, 1.1)));
    CHECK(beta_quantile(2, 3, 0) == 0 && beta_quantile(2, 3, 1) == 1);
}

static void test_distributions(void)
{
    for (double p = 0.001; p < 1; p += 0.0213) {
        CHECK_NEAR(dist_normal_sf(-dist_normal_quantile(p)), p, 1e-13);
        CHECK_NEAR(dist_normal_quantile(p), -dist_normal_quantile(1 - p), 1e-11);
        double t = dist_t_quantile(p, 7);
        CHECK_NEAR(dist_t_two_sided(t, 7), 2 * fmin(p, 1 - p), 1e-12);
        CHECK_NEAR(dist_f_sf(t * t, 1, 7), dist_t_two_sided(t, 7), 1e-12);
    }
    CHECK_NEAR(dist_chi2_sf(4.7, 1), dist_f_sf(4.7, 1, INFINITY), 1e-13);
    CHECK_NEAR(dist_t_two_sided(2.1, INFINITY), 2 * dist_normal_sf(2.1), 1e-15);
    CHECK(isnan(dist_chi2_sf(-1, 1)) && isnan(dist_f_sf(1, 1, 0)) && isnan(dist_t_quantile(1, 4)));
    struct dist_table t = dist_hypergeometric(1000000, 2000000, 300);
    CHECK_NEAR(dist_at_most(&t, 99) + dist_at_least(&t, 100), 1, 1e-12);
    dist_release(&t);
    t = dist_binomial(-1, 0.5);
    CHECK(t.high < t.low && dist_at_most(&t, 3) == 0);
}

static void test_rates(void)
{
    for (long n = 1; n <= 60; n += 7) {
        for (long x = 0; x <= n; x++) {
            struct interval c = rate_clopper_pearson(x, n, 0.95), w = rate_wilson(x, n, 0.95);
            struct interval j = rate_jeffreys(x, n, 0.95);
            struct interval mirrored = rate_clopper_pearson(n - x, n, 0.95);
            double p = (double)x / (double)n;
            CHECK_NEAR(c.low, 1 - mirrored.high, 1e-12);
            CHECK(c.low <= p && p <= c.high && w.low <= p && p <= w.high);
            CHECK(c.low <= j.low && j.high <= c.high);
            CHECK(rate_clopper_noise(x, n, 1.5, 0.95).high >= c.high);
        }
    }
    CHECK_NEAR(rate_zero_bound(60, 0.95), 0.0487027, 1e-5);
    CHECK_NEAR(rate_zero_bound((long)rate_zero_failure_n(0.01, 0.95), 0.95), 0.00997, 2e-3);
    CHECK(rate_zero_failure_n(0.01, 0.95) == 299);
    CHECK(isnan(rate_clopper_pearson(3, 2, 0.95).low) && isnan(rate_wilson(-1, 2, 0.95).high));
    CHECK(isnan(rate_jeffreys(0, 0, 0.95).low) && isnan(rate_zero_failure_n(0, 0.95)));
    CHECK_NEAR(rate_true(0.05, 0.01, 0.04), 0.04 / 0.95, 1e-14);
    CHECK(rate_true(0.001, 0.01, 0) == 0 && isnan(rate_true(0.1, 0.6, 0.5)));
}

static void test_text(void)
{
    char s[RATE_TEXT_SIZE];
    CHECK_STR(rate_text(s, sizeof(s), 2, 40), "2/40 = 5.0% [0.6, 17.0]");
    CHECK_STR(rate_text(s, sizeof(s), 5, 40), "5/40 = 12.5% [4.1, 26.9]");
    CHECK_STR(rate_text(s, sizeof(s), 0, 60), "0/60: below 4.9% (95% upper bound)");
    CHECK_STR(rate_text(s, sizeof(s), 0, 2995), "0/2995: below 0.10% (95% upper bound)");
    CHECK_STR(rate_text(s, sizeof(s), 40, 40), "40/40 = 100.0% [91.1, 100.0]");
    CHECK_STR(rate_text(s, sizeof(s), 150, 1000), "150/1000 = 15.00% [12.84, 17.37]");
    CHECK_STR(rate_text(s, sizeof(s), 0, 0), "0/0: no rate");
    CHECK_STR(rate_text(s, sizeof(s), 5, 4), "5/4: no rate");
    CHECK_STR(rate_text_difference(s, sizeof(s), -0.075, (struct interval){-0.17304, 0.02133}, 120),
              "-7.5 pp [-17.4, +2.2]");
    CHECK_STR(rate_text_difference(s, sizeof(s), 0, (struct interval){0, 0.05}, 120),
              "+0.0 pp [+0.0, +5.0]");
    CHECK_STR(rate_text_difference(s, sizeof(s), NAN, (struct interval){NAN, NAN}, 1), "n/a");
    CHECK_STR(rate_text_percent(s, sizeof(s), 0.125, 40), "12.5%");
    CHECK_STR(rate_text_p(s, sizeof(s), 0.0708), "p=0.071");
    CHECK_STR(rate_text_p(s, sizeof(s), 0.0996), "p=0.10");
    CHECK_STR(rate_text_p(s, sizeof(s), 0.16), "p=0.16");
    CHECK_STR(rate_text_p(s, sizeof(s), 1), "p=1.0");
    CHECK_STR(rate_text_p(s, sizeof(s), 0.00043), "p=0.00043");
    CHECK_STR(rate_text_p(s, sizeof(s), 0.00001), "p<0.0001");
    CHECK_STR(rate_text_p(s, sizeof(s), 0), "p<0.0001");
    CHECK_STR(rate_text_p(s, sizeof(s), NAN), "p=n/a");
    char small[8];
    CHECK_STR(rate_text(small, sizeof(small), 2, 40), "2/40 = ");
}

static void test_two_arms(void)
{
    struct rng rng = rng_stream(1, 0, "two arms");
    for (int i = 0; i < 60; i++) {
        long n1 = 1 + (long)rng_below(&rng, 60), n2 = 1 + (long)rng_below(&rng, 60);
        long x1 = (long)rng_below(&rng, (uint64_t)n1 + 1),
             x2 = (long)rng_below(&rng, (uint64_t)n2 + 1);
        struct fisher f = fisher_test(x1, n1, x2, n2), g = fisher_test(x2, n2, x1, n1);
        CHECK_NEAR(f.less, g.greater, 1e-12);
        CHECK_NEAR(f.midp, g.midp, 1e-11);
        CHECK_NEAR(f.two_sided, g.two_sided, 1e-11);
        struct strata_table one = {x1, n1, x2, n2}, both[2] = {one, {0, 9, 0, 12}};
        CHECK_NEAR(strata_exact_test(&one, 1).midp, f.midp, 1e-12);
        CHECK_NEAR(strata_exact_test(both, 2).midp, f.midp, 1e-12);
        CHECK_NEAR(strata_cmh_test(both, 2).chi2, strata_cmh_test(&one, 1).chi2, 1e-12);
        struct difference_arms arms = {x1, n1, x2, n2}, swapped = {x2, n2, x1, n1};
        struct interval d = difference_newcombe(arms, 0.95), e = difference_newcombe(swapped, 0.95);
        CHECK(fabs(d.low + e.high) < 1e-14 && fabs(d.high + e.low) < 1e-14);
        d = difference_score(arms, 0.95, VARIANCE_CORRECTED);
        e = difference_score(swapped, 0.95, VARIANCE_CORRECTED);
        CHECK(fabs(d.low + e.high) < 1e-10 && d.low <= d.high);
        d = difference_ratio(arms, 0.95);
        e = difference_ratio(swapped, 0.95);
        CHECK(isinf(d.high) ? e.low == 0 : fabs(d.high * e.low - 1) < 1e-8);
        double b = unconditional_boschloo(x1, n1, x2, n2, SIDE_GREATER);
        CHECK(b <= f.greater * (1 + 1e-9));
        CHECK_NEAR(unconditional_boschloo(x2, n2, x1, n1, SIDE_LESS), b, 1e-12);
    }
    CHECK(isnan(fisher_test(1, 0, 0, 4).midp) && isnan(fisher_test(5, 4, 0, 4).less));
    CHECK(isnan(unconditional_boschloo(1, 3000, 1, 3000, SIDE_BOTH)));
    CHECK(isnan(unconditional_barnard(-1, 3, 1, 3)));
    CHECK(isnan(strata_exact_test(&(struct strata_table){2, 1, 0, 1}, 1).midp));
    CHECK(isnan(strata_cmh_test(NULL, 0).chi2));
}

static void test_repeats(void)
{
    const long none[] = {0, 0, 0}, same[] = {6, 6, 6}, wild[] = {0, 0, 9}, n[] = {40, 40, 40};
    CHECK(dispersion_chi2(none, n, 3).df == 0 && dispersion_exact(none, n, 3) == 1);
    CHECK(dispersion_exact(same, n, 3) == 1 && dispersion_exact(wild, n, 3) < 0.001);
    CHECK(isnan(dispersion_exact(same, n, 1)) && isnan(dispersion_chi2(n, same, 3).p));
    struct dispersion_prior prior = {.df = 4, .phi = 1.25};
    struct dispersion arms[2] = {dispersion_chi2(none, n, 3), dispersion_chi2(none, n, 3)};
    CHECK(dispersion_moderate(&prior, arms, 2).phi == 1.25);
    CHECK(dispersion_moderate(&prior, arms, 2).df == 4);
    arms[0] = dispersion_chi2(wild, n, 3);
    CHECK_NEAR(dispersion_moderate(&prior, arms, 2).phi, (5 + arms[0].chi2) / 6, 1e-14);
    /* too many splits to visit: drawn instead, and the same figure each time */
    long many[12], sizes[12];
    for (size_t i = 0; i < 12; i++) {
        many[i] = 6 + (long)(i % 5);
        sizes[i] = 40;
    }
    double p = dispersion_exact(many, sizes, 12);
    CHECK(fabs(p - dispersion_chi2(many, sizes, 12).p) < 0.03);
    CHECK(dispersion_exact(many, sizes, 12) == p);
    struct betabinom fit = betabinom_fit(same, n, 3);
    CHECK(fit.rho == 0 && fit.p == 1);
    const long ends[] = {0, 40, 0};
    fit = betabinom_fit(ends, n, 3);
    CHECK(fit.rho > 0.99 && fit.p < 1e-10);
    CHECK_NEAR(fit.mu, 1.0 / 3, 1e-6);
    const long big[] = {100000, 110000}, big_n[] = {1000000, 1000000};
    fit = betabinom_fit(big, big_n, 2);
    CHECK(fit.rho > 1e-5 && fit.rho < 1e-3 && fit.p < 1e-6);
}

static void test_adjusting(void)
{
    struct rng rng = rng_stream(2, 0, "adjusting");
    double p[20], holm[20], bh[20];
    for (size_t i = 0; i < 20; i++)
        p[i] = rng_unit(&rng) * rng_unit(&rng) * 0.2;
    multiple_holm(p, 20, holm);
    multiple_bh(p, 20, bh);
    for (size_t i = 0; i < 20; i++) {
        CHECK(p[i] <= bh[i] && bh[i] <= holm[i] && holm[i] <= 1);
        for (size_t j = 0; j < 20; j++)
            CHECK(p[i] > p[j] || (holm[i] <= holm[j] && bh[i] <= bh[j]));
    }
    p[3] = NAN;
    multiple_holm(p, 20, holm);
    CHECK(isnan(holm[0]));
}

static void test_ranks_and_rounds(void)
{
    const double a[] = {1, 5, 9, 11}, b[] = {2, 3, 4};
    struct rank_test r = rank_mann_whitney(a, 4, b, 3), s = rank_mann_whitney(b, 3, a, 4);
    CHECK(r.u + s.u == 12);
    CHECK_NEAR(r.p_exact, s.p_exact, 1e-14);
    CHECK(isnan(rank_mann_whitney(a, 0, b, 3).u));
    const double sorted[] = {1, 2, 4, 8};
    CHECK(rank_quantile(sorted, 4, 0) == 1 && rank_quantile(sorted, 4, 1) == 8);
    CHECK(rank_quantile(sorted, 4, 0.5) == 3 && isnan(rank_quantile(sorted, 0, 0.5)));
    CHECK(rank_quantile_interval(120, 0.95, 0.95).high == 119);
    CHECK(rank_quantile_interval(0, 0.5, 0.95).high == 0);
    const long x[] = {1, 2, 5}, n[] = {40, 40, 40};
    const double score[] = {0, 1, 2}, turned[] = {2, 1, 0}, flat[] = {3, 3, 3};
    CHECK_NEAR(trend_cochran_armitage(x, n, score, 3).z, -trend_cochran_armitage(x, n, turned, 3).z,
               1e-12);
    CHECK(trend_cochran_armitage(x, n, flat, 3).p == 1);
    const struct survival_round rounds[] = {{0, 40}, {3, 40}, {5, 4}};
    struct survival_point points[3];
    survival_kaplan_meier(rounds, 3, points);
    CHECK(points[0].clean == 1 && points[0].se == 0 && isnan(points[2].clean));
    CHECK_NEAR(points[1].se, rate_wilson(3, 40, 0.95).low > 0 ? sqrt(0.075 * 0.925 / 40) : 0,
               1e-12);
}

static void test_plans(void)
{
    CHECK(plan_power_midp(120, 120, 0.15, 0.03, 0.05) > plan_power_midp(60, 60, 0.15, 0.03, 0.05));
    CHECK_NEAR(plan_power_midp(50, 30, 0.2, 0.05, 0.05), plan_power_midp(30, 50, 0.05, 0.2, 0.05),
               1e-12);
    CHECK(plan_size_midp(0.15, 0, 0.05, 0.8) == 44 && plan_size_midp(0.15, 0, 0.05, 0.9) == 52);
    CHECK(plan_size_midp(0.15, 0.03, 0.05, 0.8) == 83 &&
          plan_size_midp(0.15, 0.03, 0.05, 0.9) == 111);
    CHECK(plan_size_midp(0.15, 0.075, 0.05, 0.8) == 273);
    CHECK(plan_size_midp(0.05, 0, 0.05, 0.8) == 134 &&
          plan_size_midp(0.05, 0.01, 0.05, 0.8) == 266);
    CHECK(plan_size_midp(0.1, 0.05, 0.05, 0.9) == 572);
    CHECK(isnan(plan_size_midp(0.15, 0.149, 0.05, 0.8)) && isnan(plan_size(0.1, 0.1, 0.05, 0.8)));
    CHECK_NEAR(plan_power(89, 89, 0.15, 0.03, 0.05), 0.803, 2e-3);
    double need = plan_size(0.15, 0.075, 0.05, 0.8);
    CHECK_NEAR(plan_power(need, need, 0.15, 0.075, 0.05), 0.8, 1e-9);
    struct interval seen = plan_detectable(0.15, 120, 120, 0.05, 0.8);
    CHECK(seen.low > 0.03 && seen.low < 0.05 && seen.high > 0.25 && seen.high < 0.35);
    CHECK_NEAR(plan_power(120, 120, 0.15, seen.low, 0.05), 0.8, 1e-9);
    CHECK(isnan(plan_detectable(0, 40, 40, 0.05, 0.8).low));
    CHECK_NEAR(ceil(plan_size_equivalence(0.01, 0.02, 0.05, 0.9)), 536, 0);
    double look[4];
    looks_obrien_fleming(3, 0.05, look);
    CHECK(look[0] < look[1] && look[1] < look[2] && look[2] < 0.05);
    CHECK(isnan(looks_pocock(21, 0.05)) && looks_pocock(1, 0.05) == 0.05);
    looks_obrien_fleming(2, 0.9, look);
    CHECK(isnan(look[0]) && isnan(look[1]));
}

static void test_sprt(void)
{
    const struct sprt_rule smoke = {0.01, 0.1, 0.05, 0.05, 122};
    struct sprt s = sprt_start(&smoke);
    CHECK(s.clean_to_pass == 31);
    for (int i = 0; i < 30; i++)
        CHECK(sprt_add(&s, false) == SPRT_GO_ON);
    CHECK(sprt_add(&s, false) == SPRT_PASS && sprt_add(&s, true) == SPRT_PASS && s.n == 31);
    s = sprt_start(&smoke);
    CHECK(sprt_add(&s, true) == SPRT_GO_ON && sprt_add(&s, true) == SPRT_FAIL);
    /* the exact behaviour against a simulation of the same rule */
    struct rng rng = rng_stream(3, 0, "sprt");
    long failed = 0, undecided = 0, n = 0;
    const long games = 20000;
    for (long i = 0; i < games; i++) {
        s = sprt_start(&smoke);
        while (sprt_add(&s, rng_chance(&rng, 0.04)) == SPRT_GO_ON)
            continue;
        failed += s.state == SPRT_FAIL;
        undecided += s.state == SPRT_UNDECIDED;
        n += s.n;
    }
    struct sprt_oc oc = sprt_operating(&smoke, 0.04);
    CHECK(fabs((double)failed / (double)games - oc.p_fail) < 0.015);
    CHECK(fabs((double)undecided / (double)games - oc.p_undecided) < 0.01);
    CHECK(fabs((double)n / (double)games / oc.mean_n - 1) < 0.03);
    /* passing at p1 and failing at p0 stay near the promised errors */
    struct sprt_rule open = smoke;
    open.cap = 0;
    CHECK(sprt_operating(&open, 0.01).p_fail < 0.05);
    CHECK(1 - sprt_operating(&open, 0.1).p_fail < 0.0505);
    CHECK(sprt_operating(&open, 0.05).p_undecided < 1e-20);
    const struct sprt_rule wrong = {0.1, 0.01, 0.05, 0.05, 0};
    s = sprt_start(&wrong);
    CHECK(s.state == SPRT_INVALID && sprt_add(&s, true) == SPRT_INVALID);
    CHECK(isnan(sprt_operating(&wrong, 0.01).mean_n) && isnan(sprt_operating(&smoke, 2).mean_n));
    struct mixture_prior prior = {0.5, 10};
    struct interval cs = mixture_interval(6, 40, 0.05, prior);
    CHECK_NEAR(mixture_log_evidence(6, 40, cs.low, prior), log(20), 1e-8);
    CHECK_NEAR(mixture_log_evidence(6, 40, cs.high, prior), log(20), 1e-8);
    CHECK(mixture_interval(0, 0, 0.05, prior).high == 1 &&
          isnan(mixture_interval(2, 1, 0.05, prior).low));
}

static struct verdict_input comparison(struct verdict_arm a, struct verdict_arm b)
{
    return (struct verdict_input){.a = a,
                                  .b = b,
                                  .margin = 0.05,
                                  .alpha = 0.05,
                                  .prior = {.df = 4, .phi = 1.25},
                                  .paired_blocks = true,
                                  .interleaved = true};
}

static const struct verdict_run base3[] = {{6, 40, 0}, {6, 40, 0}, {6, 40, 0}};
static const struct verdict_run fix3[] = {{2, 40, 0}, {2, 40, 0}, {5, 40, 0}};
static const struct verdict_run clean2[] = {{0, 40, 0}, {0, 40, 0}};
static const struct verdict_run eager[] = {{0, 60, 0}};
static const struct verdict_run clean3[] = {{0, 40, 0}, {0, 40, 0}, {0, 40, 0}};

static enum verdict verdict_of(struct verdict_arm a, struct verdict_arm b, double margin)
{
    struct verdict_input in = comparison(a, b);
    in.margin = margin;
    return verdict_decide(&in).verdict;
}

static void test_verdict_rules(void)
{
    const struct verdict_run low[] = {{10, 1000, 0}, {11, 1000, 0}, {9, 1000, 0}, {10, 1000, 0}};
    const struct verdict_run some[] = {{30, 1000, 0}, {28, 1000, 0}, {31, 1000, 0}, {29, 1000, 0}};
    struct verdict_arm a = {low, 4}, b = {some, 4};
    CHECK_STR(verdict_word(verdict_of(a, b, 0.05)), "NEGLIGIBLE");
    CHECK_STR(verdict_word(verdict_of(a, b, 0.01)), "REGRESSED");
    CHECK_STR(verdict_word(verdict_of(b, a, 0.01)), "IMPROVED");
    CHECK_STR(verdict_word(verdict_of(a, a, 0.05)), "EQUIVALENT");
    struct verdict_arm clean = {clean3, 3}, base = {base3, 3}, fix = {fix3, 3}, two = {clean2, 2};
    CHECK_STR(verdict_word(verdict_of(clean, clean, 0.05)), "NOTHING REPRODUCED");
    CHECK_STR(verdict_word(verdict_of(fix, two, 0.05)), "SUGGESTIVE");
    CHECK_STR(verdict_word(verdict_of(base, fix, 0.05)), "INCONCLUSIVE");
    CHECK_STR(verdict_word(verdict_of((struct verdict_arm){NULL, 0}, fix, 0.05)), "INCONCLUSIVE");
    CHECK_STR(verdict_means(VERDICT_IMPROVED), "B corrupts less");
}

static void test_verdict_reasons(void)
{
    const struct verdict_run wild[] = {{0, 40, 0}, {12, 40, 0}, {1, 40, 0}};
    struct verdict_input in =
        comparison((struct verdict_arm){wild, 3}, (struct verdict_arm){clean3, 3});
    CHECK(verdict_decide(&in).reasons == VERDICT_REASON_REPEATS);
    in = comparison((struct verdict_arm){clean3, 3}, (struct verdict_arm){fix3, 3});
    in.interleaved = false;
    in.exposure_differs = true;
    in.planned_looks = 3;
    in.looks = 4;
    enum { UNFAIR = VERDICT_REASON_ORDER | VERDICT_REASON_PEEKED | VERDICT_REASON_EXPOSURE };
    CHECK(verdict_decide(&in).reasons == UNFAIR);
    in.b.runs = clean3;
    CHECK(verdict_decide(&in).reasons == (UNFAIR | VERDICT_REASON_BASELINE));
    /* a clean baseline weakens no regression */
    in = comparison((struct verdict_arm){clean3, 3}, (struct verdict_arm){wild, 3});
    in.b.runs = base3;
    CHECK(verdict_decide(&in).verdict == VERDICT_REGRESSED);
    CHECK(verdict_decide(&in).reasons == 0);
    /* failed sessions that would turn the verdict if they counted as corrupted */
    const struct verdict_run lossy[] = {{0, 40, 12}, {0, 40, 10}, {0, 40, 11}};
    in = comparison((struct verdict_arm){base3, 3}, (struct verdict_arm){lossy, 3});
    struct verdict_result r = verdict_decide(&in);
    CHECK(r.verdict == VERDICT_INCONCLUSIVE && (r.reasons & VERDICT_REASON_ERRORS) &&
          r.bounds_matter);
    CHECK(r.if_errors_clean == VERDICT_IMPROVED && r.if_errors_corrupt != VERDICT_IMPROVED);
    /* one failed session in 120 does not */
    const struct verdict_run nearly[] = {{0, 40, 1}, {0, 40, 0}, {0, 40, 0}};
    in = comparison((struct verdict_arm){base3, 3}, (struct verdict_arm){nearly, 3});
    r = verdict_decide(&in);
    CHECK(r.verdict == VERDICT_IMPROVED && !r.bounds_matter && r.reasons == 0);
    CHECK_STR(verdict_reason_word(VERDICT_BIT_PEEKED), "peeked");
    CHECK(verdict_reason_means(VERDICT_BIT_ORDER) != NULL);
    const struct verdict_run impossible[] = {{5, 4, 0}};
    in = comparison((struct verdict_arm){impossible, 1}, (struct verdict_arm){fix3, 3});
    CHECK(isnan(verdict_decide(&in).p_session));
}

/* Swapping the arms turns the difference round and leaves the p-values alone. */
static void test_verdict_symmetry(void)
{
    struct verdict_input in =
        comparison((struct verdict_arm){base3, 3}, (struct verdict_arm){fix3, 3});
    struct verdict_result r = verdict_decide(&in);
    in = comparison((struct verdict_arm){fix3, 3}, (struct verdict_arm){base3, 3});
    struct verdict_result s = verdict_decide(&in);
    CHECK_NEAR(r.p_session, s.p_session, 1e-12);
    CHECK_NEAR(r.p_run, s.p_run, 1e-12);
    CHECK_NEAR(r.ci95.low, -s.ci95.high, 1e-12);
    CHECK_NEAR(r.diff, -s.diff, 1e-12);
}

static void test_story_rates(void)
{
    char s[RATE_TEXT_SIZE];
    const long x[] = {2, 2, 5}, n[] = {40, 40, 40};
    CHECK_STR(rate_text(s, sizeof(s), 18, 120), "18/120 = 15.0% [9.1, 22.7]");
    CHECK_STR(rate_text(s, sizeof(s), 6, 40), "6/40 = 15.0% [5.7, 29.9]");
    CHECK_STR(rate_text(s, sizeof(s), 9, 120), "9/120 = 7.5% [3.4, 13.8]");
    struct dispersion d = dispersion_chi2(x, n, 3);
    CHECK_NEAR(d.chi2, 2.16, 2e-3);
    CHECK_NEAR(d.p, 0.34, 5e-3);
    CHECK_NEAR(d.chi2 / d.df, 1.08, 2e-3);
    CHECK_NEAR(dispersion_exact(x, n, 3), 0.50, 2e-2);
    CHECK(betabinom_fit(x, n, 3).rho == 0);
    CHECK_STR(rate_text(s, sizeof(s), 2, 40), "2/40 = 5.0% [0.6, 17.0]");
    struct dist_table t = dist_binomial(40, 0.15);
    CHECK_NEAR(dist_at_most(&t, 2), 0.049,
               2e-2); /* a 15 % server shows that little one time in 20 */
    dist_release(&t);
    CHECK_STR(rate_text(s, sizeof(s), 0, 60), "0/60: below 4.9% (95% upper bound)");
    CHECK_NEAR(pow(0.85, 60), 0.00006, 5e-2);
    CHECK_STR(rate_text(s, sizeof(s), 0, 80), "0/80: below 3.7% (95% upper bound)");
}

static void check_story(const struct verdict_input *in, const char *difference, const double p[2],
                        const char *word)
{
    char s[RATE_TEXT_SIZE];
    struct verdict_result r = verdict_decide(in);
    CHECK_STR(rate_text_difference(s, sizeof(s), r.diff, r.ci95, 40), difference);
    CHECK_NEAR(r.p_session, p[0], 0.02);
    CHECK_NEAR(r.p_run, p[1], 0.06);
    CHECK_STR(verdict_word(r.verdict), word);
}

static void test_story_verdicts(void)
{
    struct verdict_arm base = {base3, 3}, fix = {fix3, 3}, two = {clean2, 2}, sixty = {eager, 1};
    struct verdict_input in = comparison(base, fix);
    check_story(&in, "-7.5 pp [-17.4, +2.2]", (const double[]){0.0709, 0.105}, "INCONCLUSIVE");
    CHECK_NEAR(verdict_decide(&in).sessions_needed, 273, 0);
    CHECK_NEAR(fisher_test(18, 120, 9, 120).midp, 0.070, 1e-2);
    CHECK_NEAR(fisher_test(18, 120, 9, 120).two_sided, 0.10, 2e-2);
    CHECK_NEAR(unconditional_boschloo(18, 120, 9, 120, SIDE_BOTH), 0.081, 5e-3);
    in = comparison(base, sixty);
    check_story(&in, "-15.0 pp [-24.7, -3.9]", (const double[]){0.000426, 0.020}, "IMPROVED");
    in = comparison(base, two);
    check_story(&in, "-15.0 pp [-24.7, -5.6]", (const double[]){0.0000584, 0.011}, "IMPROVED");
    CHECK_NEAR(verdict_decide(&in).ratio.high, 0.31, 1e-2);
    in = comparison(fix, two);
    check_story(&in, "-7.5 pp [-16.6, +1.8]", (const double[]){0.0089, 0.062}, "SUGGESTIVE");
    CHECK(verdict_decide(&in).blocks_to_add == 1);
    in.prior.chi2 = 36; /* quiet repeats of earlier weeks */
    in.prior.history_df = 40;
    check_story(&in, "-7.5 pp [-13.9, -1.5]", (const double[]){0.0089, 0.016}, "IMPROVED");
    const struct verdict_run one_a[] = {{6, 40, 0}}, one_b[] = {{2, 40, 0}};
    in = comparison((struct verdict_arm){one_a, 1}, (struct verdict_arm){one_b, 1});
    struct verdict_result r = verdict_decide(&in);
    CHECK_NEAR(r.p_session, 0.16, 1e-2);
    CHECK_STR(verdict_word(r.verdict), "INCONCLUSIVE");
    in = comparison((struct verdict_arm){clean3, 3}, (struct verdict_arm){clean3, 3});
    r = verdict_decide(&in);
    CHECK_STR(verdict_word(r.verdict), "NOTHING REPRODUCED");
    CHECK_NEAR(r.ci90.high, 0.046, 2e-2);
    CHECK_NEAR(rate_zero_bound(120, 0.95), 0.025, 2e-2);
    CHECK_NEAR(plan_power_midp(120, 120, 0.15, 0.03, 0.05), 0.92, 1e-2);
    CHECK_NEAR(plan_power_midp(120, 120, 0.15, 0.075, 0.05), 0.44, 2e-2);
    CHECK(plan_power_midp(120, 120, 0.15, 0, 0.05) > 0.9995);
}

static void check_refused(const char *name, const char *args, const char *part)
{
    struct err err = {0};
    char *text = byname_call(name, args, &err);
    CHECK(text == NULL && err.status == STATUS_USAGE);
    CHECK(strstr(err.text, part) != NULL);
    if (!strstr(err.text, part))
        fprintf(stderr, "no \"%s\" in \"%s\"\n", part, err.text);
    free(text);
}

static void check_answer(const char *name, const char *args, const char *want)
{
    struct err err = {0};
    char *text = byname_call(name, args, &err);
    CHECK_STR(text, want);
    free(text);
}

static void test_byname(void)
{
    size_t count = 0;
    for (; byname_at(count); count++) {
        const struct byname_function *f = byname_at(count);
        CHECK(f->name[0] && f->args[0] && f->means[0]);
        if (count > 0)
            CHECK(strcmp(byname_at(count - 1)->name, f->name) < 0);
        check_refused(f->name, "{}", "missing: expected ");
    }
    CHECK(count >= 44);
    check_refused("wilsn", "{}", "known are barnard");
    check_refused("wilsn", "{}", "zero_failure_n");
    check_refused("wilson", "[1]", "one JSON object");
    check_refused("wilson", "{\"x\":1,", "wilson: ");
    check_refused("wilson", "{\"x\":1,\"n\":2.5,\"conf\":0.95}",
                  "wilson: argument 'n' is not usable: expected a whole number of 0 or more");
    check_refused("wilson", "{\"x\":1,\"n\":2,\"conf\":0.95,\"y\":1}", "no argument 'y'");
    check_refused("cmh", "{\"tables\":[[1,2,3]]}", "list of lists [x1,n1,x2,n2]");
    check_refused("holm", "{\"p\":[\"a\"]}", "a list of numbers");
    check_answer("zero_failure_n", "{\"p\":0.05,\"conf\":0.95}", "59");
    check_answer("wilson", "{\"x\":3,\"n\":2,\"conf\":0.95}", "[null,null]");
    check_answer("cmh_exact", "{\"tables\":[]}", "[null,null,null]");
    check_answer("dispersion_chi2", "{\"x\":[1],\"n\":[2,3]}", "[null,null]");
    check_answer("t_sf2", "{\"t\":0,\"df\":null}", "1");
    check_answer("quantile_ci_ranks", "{\"n\":120,\"q\":0.5,\"conf\":0.95}", "[49,72]");
    check_answer("boschloo", "{\"x1\":1,\"n1\":2,\"x2\":0,\"n2\":2,\"side\":7}", "null");
}

int main(void)
{
    test_beta();
    test_distributions();
    test_rates();
    test_text();
    test_two_arms();
    test_repeats();
    test_adjusting();
    test_ranks_and_rounds();
    test_plans();
    test_sprt();
    test_verdict_rules();
    test_verdict_reasons();
    test_verdict_symmetry();
    test_story_rates();
    test_story_verdicts();
    test_byname();
    return check_end();
}
