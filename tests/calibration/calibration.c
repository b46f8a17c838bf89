/* calibration.c - does the verdict engine keep its promises? Simulates comparisons whose truth is
 * known, counts what the engine says, and holds the shares against the expected ones. Writes a
 * Markdown table; exits 1 if a share is off by more than chance allows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rate.h"
#include "rng.h"
#include "sprt.h"
#include "verdict.h"

#define N_RUNS    40 /* sessions of one run */
#define MOST_RUNS 12

static double normal(struct rng *r)
{
    return sqrt(-2 * log(1 - rng_unit(r))) * cos(2 * acos(-1.0) * rng_unit(r));
}

/* Gamma(shape, 1) by Marsaglia and Tsang 2000; shapes below 1 by the boost of the same paper. */
static double gamma_variate(struct rng *r, double shape)
{
    if (shape < 1)
        return gamma_variate(r, shape + 1) * pow(1 - rng_unit(r), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(r), v = pow(1 + c * x, 3);
        if (v > 0 && log(1 - rng_unit(r)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* One run's corrupted sessions: the run's own rate is beta distributed with intra-run correlation
 * icc around `rate`. */
static long corrupted(struct rng *r, double rate, double icc, long n)
{
    double p = rate;
    if (icc > 0 && rate > 0) {
        double size = 1 / icc - 1;
        double a = gamma_variate(r, rate * size), b = gamma_variate(r, (1 - rate) * size);
        p = a / (a + b);
    }
    long x = 0;
    for (long i = 0; i < n; i++)
        x += rng_chance(r, p);
    return x;
}

struct shares {
    double improved, regressed, equivalent, covered;
};

static struct shares simulate(struct rng *r, double pa, double pb, size_t runs, double icc,
                              long repeats)
{
    struct shares s = {0};
    for (long i = 0; i < repeats; i++) {
        struct verdict_run a[MOST_RUNS], b[MOST_RUNS];
        for (size_t k = 0; k < runs; k++) {
            a[k] = (struct verdict_run){.x = corrupted(r, pa, icc, N_RUNS), .n = N_RUNS};
            b[k] = (struct verdict_run){.x = corrupted(r, pb, icc, N_RUNS), .n = N_RUNS};
        }
        struct verdict_input in = {.a = {a, runs},
                                   .b = {b, runs},
                                   .margin = 0.05,
                                   .alpha = 0.05,
                                   .prior = {.df = 4, .phi = 1.25},
                                   .paired_blocks = true,
                                   .interleaved = true};
        struct verdict_result v = verdict_decide(&in);
        s.improved += v.verdict == VERDICT_IMPROVED;
        s.regressed += v.verdict == VERDICT_REGRESSED;
        s.equivalent += v.verdict == VERDICT_EQUIVALENT;
        s.covered += v.ci95.low <= pb - pa && pb - pa <= v.ci95.high;
    }
    double n = (double)repeats;
    return (struct shares){s.improved / n, s.regressed / n, s.equivalent / n, s.covered / n};
}

static int n_off;

/* Off if further from the expectation than four standard errors of both simulations (each of about
 * `repeats`) and half a point of rounding allow. */
static const char *hold(double got, double want, double repeats)
{
    double se = sqrt(2 * fmax(want * (1 - want), 0.002) / repeats);
    if (fabs(got - want) <= 4 * se + 0.005)
        return "";
    n_off++;
    return " **off**";
}

static void verdicts(FILE *out, struct rng *r, long repeats)
{
    /* Expected shares: simulated apart from this program, 2,000 to 4,000 comparisons a row. */
    static const struct {
        double pa, pb;
        size_t runs;
        double icc, improved, regressed, equivalent, covered;
    } rows[] = {
        {0.15, 0.15, 3, 0.00, 0.006, 0.006, 0.00, 0.988},
        {0.15, 0.15, 3, 0.02, 0.017, 0.024, 0.00, 0.959},
        {0.15, 0.15, 3, 0.05, 0.037, 0.036, 0.00, 0.927},
        {0.05, 0.05, 6, 0.00, 0.011, 0.007, 0.40, 0.982},
        {0.05, 0.05, 6, 0.02, 0.017, 0.020, 0.19, 0.963},
        {0.15, 0.03, 3, 0.00, 0.76, 0.000, 0.00, 0.989},
        {0.15, 0.03, 3, 0.02, 0.64, 0.000, 0.00, 0.972},
        {0.15, 0.03, 6, 0.00, 0.99, 0.000, 0.00, 0.976},
        {0.15, 0.00, 3, 0.00, 0.98, 0.000, 0.00, 0.990},
        {0.15, 0.075, 3, 0.00, 0.25, 0.000, 0.00, 0.989},
        {0.01, 0.01, 6, 0.00, 0.002, 0.001, 0.98, 0.997},
    };
    fprintf(out,
            "## Verdicts\n\nRuns of %d sessions, margin 5 pp, no history; %ld comparisons a "
            "row. In brackets what is expected.\n\n"
            "| truth | runs per arm | ICC | IMPROVED | REGRESSED | EQUIVALENT | 95 %% interval "
            "covers |\n|---|---|---|---|---|---|---|\n",
            N_RUNS, repeats);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct shares s = simulate(r, rows[i].pa, rows[i].pb, rows[i].runs, rows[i].icc, repeats);
        double got[] = {s.improved, s.regressed, s.equivalent, s.covered};
        double want[] = {rows[i].improved, rows[i].regressed, rows[i].equivalent, rows[i].covered};
        fprintf(out, "| %g %% to %g %% | %zu | %g ", rows[i].pa * 100, rows[i].pb * 100,
                rows[i].runs, rows[i].icc);
        for (int k = 0; k < 4; k++)
            fprintf(out, "| %.1f (%.1f)%s ", got[k] * 100, want[k] * 100,
                    hold(got[k], want[k], 2000));
        fprintf(out, "|\n");
    }
}

static void sequential(FILE *out, struct rng *r, long repeats)
{
    static const struct {
        double rate, p_fail, mean_n;
    } rows[] = {
        {0, 0, 31}, {0.01, 0.023, 40}, {0.03, 0.27, 52}, {0.10, 0.95, 24}, {0.15, 0.993, 15}};
    fprintf(out, "\n## Sequential test, 1 %% against 10 %%\n\n| true rate | fails | sessions |\n"
                 "|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sprt_rule rule = {.p0 = 0.01, .p1 = 0.10, .alpha = 0.05, .beta = 0.05};
        double fails = 0, sessions = 0;
        for (long k = 0; k < repeats; k++) {
            struct sprt s = sprt_start(&rule);
            while (s.state == SPRT_GO_ON)
                sprt_add(&s, rng_chance(r, rows[i].rate));
            fails += s.state == SPRT_FAIL;
            sessions += (double)s.n;
        }
        double p = fails / (double)repeats, n = sessions / (double)repeats;
        bool n_holds = fabs(n - rows[i].mean_n) <= 1 + 4 * rows[i].mean_n / sqrt((double)repeats);
        n_off += !n_holds;
        fprintf(out, "| %g %% | %.1f (%.1f)%s | %.0f (%.0f)%s |\n", rows[i].rate * 100, p * 100,
                rows[i].p_fail * 100, hold(p, rows[i].p_fail, (double)repeats), n, rows[i].mean_n,
                n_holds ? "" : " **off**");
    }
}

/* The printed interval of one rate must miss on each side in at most 2.5 % of runs, at any rate. */
static void coverage(FILE *out, struct rng *r, long repeats)
{
    static const double rates[] = {0.005, 0.01, 0.03, 0.05, 0.10, 0.15, 0.30};
    fprintf(out, "\n## The interval of one rate, 40 sessions\n\n| true rate | above the interval | "
                 "below |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        double above = 0, below = 0;
        for (long k = 0; k < repeats; k++) {
            struct interval c = rate_clopper_pearson(corrupted(r, rates[i], 0, 40), 40, 0.95);
            above += rates[i] > c.high;
            below += rates[i] < c.low;
        }
        double room = 0.025 + 4 * sqrt(0.025 * 0.975 / (double)repeats);
        above /= (double)repeats;
        below /= (double)repeats;
        n_off += (above > room) + (below > room);
        fprintf(out, "| %g %% | %.2f %% | %.2f %% |\n", rates[i] * 100, above * 100, below * 100);
    }
}

int main(int argc, char **argv)
{
    FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;
    long repeats = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    if (!out || repeats < 1) {
        fprintf(stderr, "usage: calibration [FILE [REPEATS]]\n");
        return 2;
    }
    struct rng r = rng_stream(2026, 1, "calibration");
    fprintf(out, "# Calibration\n\nWritten by the `calibration` target: comparisons with a known "
                 "truth, and what the verdict engine says of them. Shares in %%.\n\n");
    verdicts(out, &r, repeats);
    sequential(out, &r, repeats * 5);
    coverage(out, &r, repeats * 5);
    fprintf(out, "\n%d figures off\n", n_off);
    if (out != stdout && fclose(out) != 0)
        return 2;
    return n_off ? 1 : 0;
}
