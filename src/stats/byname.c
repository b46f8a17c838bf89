/* byname.c - the table of statistics by name: one row each, an adapter from JSON arguments to the
 * function and from its result to JSON. Computes nothing itself. */
#include "byname.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beta.h"
#include "betabinom.h"
#include "byname_args.h"
#include "difference.h"
#include "dispersion.h"
#include "dist.h"
#include "fisher.h"
#include "json.h"
#include "looks.h"
#include "mem.h"
#include "mixture.h"
#include "multiple.h"
#include "plan.h"
#include "rank.h"
#include "rate.h"
#include "sprt.h"
#include "strata.h"
#include "survival.h"
#include "trend.h"
#include "unconditional.h"
#include "verdict.h"

static void field(struct jsonw *w, const char *name, double value)
{
    jsonw_key(w, name);
    jsonw_double(w, value);
}

static void array(struct jsonw *w, const double *values, size_t count)
{
    jsonw_array(w);
    for (size_t i = 0; i < count; i++)
        jsonw_double(w, values[i]);
    jsonw_end_array(w);
}

static void pair(struct jsonw *w, double first, double second)
{
    array(w, (const double[]){first, second}, 2);
}

static void interval(struct jsonw *w, struct interval i)
{
    pair(w, i.low, i.high);
}

/* An adapter whose result is one expression of the arguments: numbers v[], whole numbers n[]. */
#define ADAPTER(name, write, expression)                                                           \
    static void name(const struct byname_args *args, struct jsonw *w)                              \
    {                                                                                              \
        const double *v = args->number;                                                            \
        const long *n = args->count;                                                               \
        (void)v;                                                                                   \
        (void)n;                                                                                   \
        write(w, expression);                                                                      \
    }

#define ARMS   ((struct difference_arms){n[0], n[1], n[2], n[3]})
#define PRIOR  ((struct mixture_prior){v[3], v[4]})
#define FISHER fisher_test(n[0], n[1], n[2], n[3])

ADAPTER(do_barnard, jsonw_double, unconditional_barnard(n[0], n[1], n[2], n[3]))
ADAPTER(do_bbmix_cs, interval, mixture_interval(n[0], n[1], v[2], PRIOR))
ADAPTER(do_bbmix_loge, jsonw_double, mixture_log_evidence(n[0], n[1], v[2], PRIOR))
ADAPTER(do_chi2_sf, jsonw_double, dist_chi2_sf(v[0], v[1]))
ADAPTER(do_clopper_noise, interval, rate_clopper_noise(n[0], n[1], v[2], v[3]))
ADAPTER(do_clopper_pearson, interval, rate_clopper_pearson(n[0], n[1], v[2]))
ADAPTER(do_detectable, interval, plan_detectable(v[0], v[1], v[2], v[3], v[4]))
ADAPTER(do_f_sf, jsonw_double, dist_f_sf(v[0], v[1], v[2]))
ADAPTER(do_fisher_midp, jsonw_double, FISHER.midp)
ADAPTER(do_fisher_midp_minlik, jsonw_double, FISHER.midp_minlik)
ADAPTER(do_fisher_two_sided, jsonw_double, FISHER.two_sided)
ADAPTER(do_ibeta, jsonw_double, beta_cdf(v[0], v[1], v[2]))
ADAPTER(do_ibeta_inv, jsonw_double, beta_quantile(v[0], v[1], v[2]))
ADAPTER(do_ibetac, jsonw_double, beta_sf(v[0], v[1], v[2]))
ADAPTER(do_jeffreys, interval, rate_jeffreys(n[0], n[1], v[2]))
ADAPTER(do_miettinen_nurminen, interval,
        difference_score(ARMS, v[4], v[5] != 0 ? VARIANCE_CORRECTED : VARIANCE_PLAIN))
ADAPTER(do_mn_ratio, interval, difference_ratio(ARMS, v[4]))
ADAPTER(do_newcombe_diff, interval, difference_newcombe(ARMS, v[4]))
ADAPTER(do_newcombe_noise, interval, difference_newcombe_noise(ARMS, v[4], v[5], v[6]))
ADAPTER(do_power_midp, jsonw_double, plan_power_midp(n[0], n[1], v[2], v[3], v[4]))
ADAPTER(do_power_two_prop, jsonw_double, plan_power(v[0], v[0], v[1], v[2], v[3]))
ADAPTER(do_qnorm, jsonw_double, dist_normal_quantile(v[0]))
ADAPTER(do_rate_true, jsonw_double, rate_true(v[0], v[1], v[2]))
ADAPTER(do_sample_size_equivalence, jsonw_double, plan_size_equivalence(v[0], v[1], v[2], v[3]))
ADAPTER(do_sample_size_midp, jsonw_double, plan_size_midp(v[0], v[1], v[2], v[3]))
ADAPTER(do_sample_size_two_prop, jsonw_double, plan_size(v[0], v[1], v[2], v[3]))
ADAPTER(do_t_quantile, jsonw_double, dist_t_quantile(v[0], v[1]))
ADAPTER(do_t_sf2, jsonw_double, dist_t_two_sided(v[0], v[1]))
ADAPTER(do_wilson, interval, rate_wilson(n[0], n[1], v[2]))
ADAPTER(do_zero_bound, jsonw_double, rate_zero_bound(n[0], v[1]))
ADAPTER(do_zero_failure_n, jsonw_double, rate_zero_failure_n(v[0], v[1]))

static void do_betabinom_lr(const struct byname_args *args, struct jsonw *w)
{
    struct betabinom fit = {NAN, NAN, NAN, NAN};
    if (args->list[0].rows == args->list[1].rows)
        fit = betabinom_fit(args->list[0].counts, args->list[1].counts, args->list[0].rows);
    jsonw_object(w);
    field(w, "mu", fit.mu);
    field(w, "rho", fit.rho);
    field(w, "lr", fit.lr);
    field(w, "p", fit.p);
    jsonw_end_object(w);
}

static void adjusted(const struct byname_args *args, struct jsonw *w,
                     void (*adjust)(const double *p, size_t count, double *out))
{
    adjust(args->list[0].values, args->list[0].rows, args->list[0].values);
    array(w, args->list[0].values, args->list[0].rows);
}

static void do_bh(const struct byname_args *args, struct jsonw *w)
{
    adjusted(args, w, multiple_bh);
}

static void do_holm(const struct byname_args *args, struct jsonw *w)
{
    adjusted(args, w, multiple_holm);
}

static void do_boschloo(const struct byname_args *args, struct jsonw *w)
{
    const long *n = args->count;
    double p = NAN;
    if (n[4] >= SIDE_LESS && n[4] <= SIDE_GREATER)
        p = unconditional_boschloo(n[0], n[1], n[2], n[3], (enum unconditional_side)n[4]);
    jsonw_double(w, p);
}

/* The list's rows as tables; the caller's. */
static struct strata_table *tables(const struct byname_list *list)
{
    struct strata_table *t = mem_zero(list->rows + 1, sizeof(*t));
    for (size_t i = 0; i < list->rows; i++) {
        const long *c = list->counts + 4 * i;
        t[i] = (struct strata_table){c[0], c[1], c[2], c[3]};
    }
    return t;
}

static void do_cmh(const struct byname_args *args, struct jsonw *w)
{
    struct strata_table *t = tables(&args->list[0]);
    struct strata_cmh r = strata_cmh_test(t, args->list[0].rows);
    free(t);
    jsonw_object(w);
    field(w, "chi2", r.chi2);
    field(w, "p", r.p);
    field(w, "chi2_cc", r.chi2_cc);
    field(w, "p_cc", r.p_cc);
    field(w, "or_mh", r.odds_ratio);
    field(w, "rd_mh", r.diff);
    field(w, "rd_se", r.diff_se);
    jsonw_end_object(w);
}

static void do_cmh_exact(const struct byname_args *args, struct jsonw *w)
{
    struct strata_table *t = tables(&args->list[0]);
    struct strata_exact r = strata_exact_test(t, args->list[0].rows);
    free(t);
    array(w, (const double[]){r.less, r.greater, r.midp}, 3);
}

static void do_logrank_rounds(const struct byname_args *args, struct jsonw *w)
{
    struct strata_table *t = tables(&args->list[0]);
    struct survival_logrank r = survival_logrank_test(t, args->list[0].rows);
    free(t);
    pair(w, r.chi2, r.p);
}

static void do_cochran_armitage(const struct byname_args *args, struct jsonw *w)
{
    const struct byname_list *x = &args->list[0], *n = &args->list[1], *score = &args->list[2];
    struct trend r = {NAN, NAN};
    if (x->rows == n->rows && x->rows == score->rows)
        r = trend_cochran_armitage(x->counts, n->counts, score->values, x->rows);
    pair(w, r.z, r.p);
}

static void do_dispersion_chi2(const struct byname_args *args, struct jsonw *w)
{
    const struct byname_list *x = &args->list[0], *n = &args->list[1];
    struct dispersion r = {NAN, NAN, NAN};
    if (x->rows == n->rows)
        r = dispersion_chi2(x->counts, n->counts, x->rows);
    pair(w, r.chi2, r.p);
}

static void do_dispersion_exact(const struct byname_args *args, struct jsonw *w)
{
    const struct byname_list *x = &args->list[0], *n = &args->list[1];
    jsonw_double(w, x->rows == n->rows ? dispersion_exact(x->counts, n->counts, x->rows) : NAN);
}

static void do_fisher_one_sided(const struct byname_args *args, struct jsonw *w)
{
    const long *n = args->count;
    struct fisher r = FISHER;
    pair(w, r.less, r.greater);
}

static void do_group_sequential_p(const struct byname_args *args, struct jsonw *w)
{
    double obf[LOOKS_MAX] = {0};
    long looks = args->count[0];
    looks_obrien_fleming(looks, args->number[1], obf);
    jsonw_object(w);
    field(w, "pocock", looks_pocock(looks, args->number[1]));
    jsonw_key(w, "obf");
    array(w, obf, looks < LOOKS_MAX ? (size_t)looks : LOOKS_MAX);
    jsonw_end_object(w);
}

static void do_kaplan_meier_rounds(const struct byname_args *args, struct jsonw *w)
{
    size_t count = args->list[0].rows;
    struct survival_round *rounds = mem_zero(count + 1, sizeof(*rounds));
    struct survival_point *points = mem_zero(count + 1, sizeof(*points));
    for (size_t i = 0; i < count; i++) {
        const long *c = args->list[0].counts + 2 * i;
        rounds[i] = (struct survival_round){c[0], c[1]};
    }
    survival_kaplan_meier(rounds, count, points);
    jsonw_array(w);
    for (size_t i = 0; i < count; i++)
        pair(w, points[i].clean, points[i].se);
    jsonw_end_array(w);
    free(rounds);
    free(points);
}

static void do_mann_whitney(const struct byname_args *args, struct jsonw *w)
{
    const struct byname_list *a = &args->list[0], *b = &args->list[1];
    struct rank_test r = rank_mann_whitney(a->values, a->rows, b->values, b->rows);
    jsonw_object(w);
    field(w, "u", r.u);
    field(w, "p_exact", r.p_exact);
    field(w, "p_normal", r.p_normal);
    jsonw_end_object(w);
}

static void do_quantile_ci_ranks(const struct byname_args *args, struct jsonw *w)
{
    struct rank_interval r =
        rank_quantile_interval(args->count[0], args->number[1], args->number[2]);
    jsonw_array(w);
    jsonw_long(w, r.low);
    jsonw_long(w, r.high);
    jsonw_end_array(w);
}

static void do_sprt(const struct byname_args *args, struct jsonw *w)
{
    const double *v = args->number;
    struct sprt s = sprt_start(&(struct sprt_rule){v[0], v[1], v[2], v[3], 0});
    jsonw_object(w);
    field(w, "upper", s.upper);
    field(w, "lower", s.lower);
    field(w, "llr_corrupt", s.llr_corrupt);
    field(w, "llr_clean", s.llr_clean);
    field(w, "clean_to_pass", s.clean_to_pass);
    jsonw_end_object(w);
}

static void do_sprt_oc(const struct byname_args *args, struct jsonw *w)
{
    const double *v = args->number;
    struct sprt_rule rule = {v[0], v[1], v[2], v[3], args->count[5]};
    struct sprt_oc oc = sprt_operating(&rule, v[4]);
    jsonw_object(w);
    field(w, "p_reject", oc.p_fail);
    field(w, "asn", oc.mean_n);
    field(w, "p_undecided", oc.p_undecided);
    jsonw_end_object(w);
}

/* The list's rows as runs; the caller's. */
static struct verdict_run *runs(const struct byname_list *list)
{
    struct verdict_run *r = mem_zero(list->rows + 1, sizeof(*r));
    for (size_t i = 0; i < list->rows; i++)
        r[i] = (struct verdict_run){list->counts[2 * i], list->counts[2 * i + 1], 0};
    return r;
}

static void do_verdict(const struct byname_args *args, struct jsonw *w)
{
    const double *v = args->number;
    struct verdict_run *a = runs(&args->list[0]), *b = runs(&args->list[1]);
    struct verdict_input in = {
        .a = {a, args->list[0].rows},
        .b = {b, args->list[1].rows},
        .margin = v[0],
        .paired_blocks = v[1] != 0,
        .prior = {.chi2 = v[2], .history_df = v[3], .df = v[4], .phi = v[5]},
        .alpha = v[6],
        .interleaved = true,
    };
    struct verdict_result r = verdict_decide(&in);
    free(a);
    free(b);
    jsonw_object(w);
    field(w, "diff", r.diff);
    field(w, "p_session", r.p_session);
    field(w, "phi", r.phi);
    field(w, "df", r.df);
    field(w, "p_run", r.p_run);
    field(w, "lo", r.ci95.low);
    field(w, "hi", r.ci95.high);
    field(w, "lo90", r.ci90.low);
    field(w, "hi90", r.ci90.high);
    jsonw_key(w, "verdict");
    jsonw_text(w, verdict_word(r.verdict));
    jsonw_end_object(w);
}

#define TWO_ARMS "x1:count n1:count x2:count n2:count"

struct row {
    struct byname_function is;
    void (*run)(const struct byname_args *args, struct jsonw *w);
};

/* clang-format off */
static const struct row table[] = {
    {{"barnard", TWO_ARMS,
      "Barnard's unconditional exact test, ordered by the pooled score; two-sided p"}, do_barnard},
    {{"bbmix_cs", "x:count n:count alpha:number a:number b:number",
      "anytime interval {p: beta-binomial mixture e-value < 1/alpha} (Ville)"}, do_bbmix_cs},
    {{"bbmix_loge", "x:count n:count p0:number a:number b:number",
      "log[B(a+x,b+n-x)/B(a,b)] - x log p0 - (n-x) log(1-p0)"}, do_bbmix_loge},
    {{"betabinom_lr", "x:[count] n:[count]",
      "beta-binomial maximum likelihood of repeats; p is half the chi2(1) tail"}, do_betabinom_lr},
    {{"bh", "p:[number]", "p-values adjusted by Benjamini and Hochberg 1995"}, do_bh},
    {{"boschloo", TWO_ARMS " side:whole",
      "Boschloo's unconditional exact test; side 1: arm 1 more, -1: less, 0: twice the smaller"},
     do_boschloo},
    {{"chi2_sf", "x:number df:number", "upper tail of chi-square (incomplete gamma)"}, do_chi2_sf},
    {{"clopper_noise", "x:count n:count phi:number conf:number",
      "Clopper-Pearson interval on x/phi of n/phi"}, do_clopper_noise},
    {{"clopper_pearson", "x:count n:count conf:number",
      "exact interval of a rate by beta quantiles (Clopper and Pearson 1934)"}, do_clopper_pearson},
    {{"cmh", "tables:[x1,n1,x2,n2]",
      "Cochran-Mantel-Haenszel test, odds ratio, risk difference (Greenland-Robins error)"}, do_cmh},
    {{"cmh_exact", "tables:[x1,n1,x2,n2]",
      "stratified exact test, convolved hypergeometrics: [P(<=), P(>=), central mid-p]"},
     do_cmh_exact},
    {{"cochran_armitage", "x:[count] n:[count] score:[number]",
      "trend of rates over scores: [z, two-sided normal p]"}, do_cochran_armitage},
    {{"detectable", "p1:number n1:number n2:number alpha:number power:number",
      "rates below and above p1 that power_two_prop would tell from it"}, do_detectable},
    {{"dispersion_chi2", "x:[count] n:[count]",
      "sum (x-nP)^2/(nPQ) over repeats: [chi2, p] with k-1 df"}, do_dispersion_chi2},
    {{"dispersion_exact", "x:[count] n:[count]",
      "p of dispersion_chi2 given the total (multivariate hypergeometric)"}, do_dispersion_exact},
    {{"f_sf", "f:number d1:number d2:number|null", "upper tail of the F distribution"}, do_f_sf},
    {{"fisher_midp", TWO_ARMS, "Fisher, central: min(1, 2 min(one-sided mid-p))"}, do_fisher_midp},
    {{"fisher_midp_minlik", TWO_ARMS,
      "Fisher's two-sided p less half the observed table's probability"}, do_fisher_midp_minlik},
    {{"fisher_one_sided", TWO_ARMS, "Fisher: [P(X1 <= x1), P(X1 >= x1)]"}, do_fisher_one_sided},
    {{"fisher_two_sided", TWO_ARMS, "Fisher, tables no likelier than the one seen"},
     do_fisher_two_sided},
    {{"group_sequential_p", "looks:count alpha:number",
      "nominal p per look: Pocock 1977, O'Brien and Fleming 1979"}, do_group_sequential_p},
    {{"holm", "p:[number]", "p-values adjusted by Holm 1979"}, do_holm},
    {{"ibeta", "a:number b:number x:number", "incomplete beta I_x(a,b) (DLMF 8.17.22)"}, do_ibeta},
    {{"ibeta_inv", "a:number b:number p:number", "the x with I_x(a,b) = p"}, do_ibeta_inv},
    {{"ibetac", "a:number b:number x:number", "upper tail 1 - I_x(a,b)"}, do_ibetac},
    {{"jeffreys", "x:count n:count conf:number",
      "Jeffreys interval of a rate, ends 0 and 1 at x = 0 and x = n"}, do_jeffreys},
    {{"kaplan_meier_rounds", "rounds:[corrupted,at_risk]",
      "share clean after each round and its Greenwood error"}, do_kaplan_meier_rounds},
    {{"logrank_rounds", "rounds:[x1,n1,x2,n2]",
      "log-rank test, one table per round: [chi2, p]"}, do_logrank_rounds},
    {{"mann_whitney", "a:[number] b:[number]",
      "rank test: u of a, exact p (-1: ties or too many), normal p"}, do_mann_whitney},
    {{"miettinen_nurminen", TWO_ARMS " conf:number correction:count",
      "score interval of p1 - p2; correction 1: variance times N/(N-1)"}, do_miettinen_nurminen},
    {{"mn_ratio", TWO_ARMS " conf:number",
      "score interval of p1/p2 (Miettinen and Nurminen 1985)"}, do_mn_ratio},
    {{"newcombe_diff", TWO_ARMS " conf:number",
      "interval of p1 - p2 from Wilson intervals (Newcombe 1998)"}, do_newcombe_diff},
    {{"newcombe_noise", TWO_ARMS " phi:number df:number|null conf:number",
      "newcombe_diff on counts divided by phi, t at df for z"}, do_newcombe_noise},
    {{"power_midp", "n1:count n2:count p1:number p2:number alpha:number",
      "exact power of fisher_midp <= alpha"}, do_power_midp},
    {{"power_two_prop", "n:number p1:number p2:number alpha:number",
      "power at n per arm, normal approximation"}, do_power_two_prop},
    {{"qnorm", "p:number", "normal quantile"}, do_qnorm},
    {{"quantile_ci_ranks", "n:count q:number conf:number",
      "ranks of the order statistics around quantile q; 0 and n+1: no end"}, do_quantile_ci_ranks},
    {{"rate_true", "observed:number false_alarm:number miss:number",
      "rate behind an imperfect detector's (Rogan and Gladen 1978)"}, do_rate_true},
    {{"sample_size_equivalence", "p:number margin:number alpha:number power:number",
      "n per arm to show equal rates equal within the margin (two one-sided tests)"},
     do_sample_size_equivalence},
    {{"sample_size_midp", "p1:number p2:number alpha:number power:number",
      "least n per arm with exact mid-p power, five n in a row"}, do_sample_size_midp},
    {{"sample_size_two_prop", "p1:number p2:number alpha:number power:number",
      "n per arm, normal approximation, not rounded"}, do_sample_size_two_prop},
    {{"sprt", "p0:number p1:number alpha:number beta:number",
      "Wald's sequential test: bounds, steps, clean sessions to pass"}, do_sprt},
    {{"sprt_oc", "p0:number p1:number alpha:number beta:number p:number nmax:count",
      "exact behaviour of the sequential test at a true rate p"}, do_sprt_oc},
    {{"t_quantile", "p:number df:number|null", "quantile of Student's t"}, do_t_quantile},
    {{"t_sf2", "t:number df:number|null", "both tails of Student's t"}, do_t_sf2},
    {{"verdict", "a:[x,n] b:[x,n] margin:number paired_blocks:flag history_chi2:number "
      "history_df:number prior_df:number prior_phi:number alpha:number",
      "what may be said of B against A, from sessions, repeats and the interval"}, do_verdict},
    {{"wilson", "x:count n:count conf:number", "Wilson's score interval of a rate"}, do_wilson},
    {{"zero_bound", "n:count conf:number", "1 - (1-conf)^(1/n): upper bound after n clean sessions"},
     do_zero_bound},
    {{"zero_failure_n", "p:number conf:number", "least n with (1-p)^n <= 1-conf"},
     do_zero_failure_n},
};
/* clang-format on */

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct byname_function *byname_at(size_t index)
{
    return index < ROWS ? &table[index].is : NULL;
}

static const struct row *find(const char *name, struct err *err)
{
    struct buf known = BUF_INIT;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(table[i].is.name, name) == 0) {
            buf_release(&known);
            return &table[i];
        }
        buf_addf(&known, "%s%s", i ? ", " : "", table[i].is.name);
    }
    err_set(err, STATUS_USAGE, "unknown function '%.60s': known are %s", name, buf_str(&known));
    buf_release(&known);
    return NULL;
}

char *byname_call(const char *name, const char *json_args, struct err *err)
{
    struct byname_args args = {0};
    struct buf out = BUF_INIT;
    struct json *object = NULL;
    const struct row *row = find(name, err);
    if (!row)
        return NULL;
    object = json_parse(span_of(json_args), err);
    if (!object || byname_args_read(object, row->is.args, &args, err) != 0) {
        err_prefix(err, "%s", name);
        goto out;
    }
    struct jsonw w = {.out = &out};
    row->run(&args, &w);
out:
    byname_args_release(&args);
    json_free(object);
    return out.data ? buf_take(&out) : NULL;
}
