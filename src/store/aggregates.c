/* aggregates.c - SQL functions over many rows: quantiles, the sequential test, word counts. They
 * hold what they have seen in memory: one number a row, or one counter a word. */
#include "functions.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dispersion.h"
#include "json.h"
#include "mem.h"
#include "rank.h"
#include "sample.h"
#include "sprt.h"
#include "strata.h"
#include "trend.h"
#include "wordcount.h"

/* Quantiles asked for in one quantiles() call. */
#define MAX_QUANTILES 8

/* --- quantiles -------------------------------------------------------------------------------- */

struct quantiles {
    struct sample sample;
    double q[MAX_QUANTILES];
    int n_q;
};

static void quantile_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct quantiles *s = sqlite3_aggregate_context(c, sizeof *s);
    if (!s || n < 2 || n > MAX_QUANTILES + 1) {
        sqlite3_result_error(c, "quantiles(value, q, ...) takes 1 to 8 quantiles", -1);
        return;
    }
    for (s->n_q = 0; s->n_q < n - 1; s->n_q++)
        s->q[s->n_q] = sqlite3_value_double(v[s->n_q + 1]);
    int type = sqlite3_value_numeric_type(v[0]);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        sample_add(&s->sample, sqlite3_value_double(v[0]));
}

/* The sample sorted, or NULL if no row came. */
static struct quantiles *quantiles_sorted(sqlite3_context *c)
{
    struct quantiles *s = sqlite3_aggregate_context(c, 0);
    if (!s || !s->sample.n)
        return NULL;
    sample_sort(&s->sample);
    return s;
}

static void quantile_final(sqlite3_context *c)
{
    struct quantiles *s = quantiles_sorted(c);
    if (!s)
        return;
    double d = rank_quantile(s->sample.values, s->sample.n, s->q[0]);
    if (!isnan(d))
        sqlite3_result_double(c, d);
    sample_release(&s->sample);
}

static void quantiles_final(sqlite3_context *c)
{
    struct quantiles *s = quantiles_sorted(c);
    if (!s)
        return;
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    sample_write(&s->sample, s->q, (size_t)s->n_q, &w);
    sqlite3_result_text(c, buf_str(&out), (int)out.len, SQLITE_TRANSIENT);
    buf_release(&out);
    sample_release(&s->sample);
}

/* --- the sequential test ---------------------------------------------------------------------- */

struct outcome {
    int64_t order;
    bool corrupted;
};

struct outcomes {
    struct outcome *all;
    size_t n, cap;
    struct sprt_rule rule;
};

static int by_order(const void *a, const void *b)
{
    int64_t x = ((const struct outcome *)a)->order, y = ((const struct outcome *)b)->order;
    return (x > y) - (x < y);
}

static void sprt_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct outcomes *o = sqlite3_aggregate_context(c, sizeof *o);
    if (!o)
        return;
    o->rule = (struct sprt_rule){sqlite3_value_double(v[2]), sqlite3_value_double(v[3]),
                                 sqlite3_value_double(v[4]), sqlite3_value_double(v[5]), 0};
    if (sqlite3_value_type(v[1]) == SQLITE_NULL)
        return;
    o->all = mem_grow(o->all, &o->cap, o->n, sizeof *o->all);
    o->all[o->n++] = (struct outcome){sqlite3_value_int64(v[0]), sqlite3_value_int(v[1]) != 0};
}

static const char *state_word(enum sprt_state state)
{
    switch (state) {
    case SPRT_GO_ON: return "go on";
    case SPRT_PASS: return "pass";
    case SPRT_FAIL: return "fail";
    case SPRT_UNDECIDED: return "undecided";
    case SPRT_INVALID: break;
    }
    return NULL;
}

static void sprt_final(sqlite3_context *c)
{
    struct outcomes *o = sqlite3_aggregate_context(c, 0);
    if (!o)
        return;
    if (o->n)
        qsort(o->all, o->n, sizeof *o->all, by_order);
    struct sprt s = sprt_start(&o->rule);
    for (size_t i = 0; i < o->n; i++)
        sprt_add(&s, o->all[i].corrupted);
    const char *word = state_word(s.state);
    if (word)
        sqlite3_result_text(c, word, -1, SQLITE_STATIC);
    else
        sqlite3_result_error(c, "sprt_state: 0 < p0 < p1 < 1, 0 < alpha + beta < 1", -1);
    free(o->all);
}

/* --- tables of counts --------------------------------------------------------------------------
 */

/* What the rows of a small table brought, each kind in the form that its test takes. */
struct counts {
    struct strata_table *tables;
    long *x, *n;
    double *score;
    size_t rows, tables_cap, x_cap, n_cap, score_cap;
};

static bool has_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return true;
    return false;
}

static void blocks_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct counts *t = sqlite3_aggregate_context(c, sizeof *t);
    if (!t || has_null(n, v))
        return;
    t->tables = mem_grow(t->tables, &t->tables_cap, t->rows, sizeof *t->tables);
    t->tables[t->rows++] =
        (struct strata_table){sqlite3_value_int64(v[0]), sqlite3_value_int64(v[1]),
                              sqlite3_value_int64(v[2]), sqlite3_value_int64(v[3])};
}

/* x, n and, where there is a third argument, a score. */
static void counts_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct counts *t = sqlite3_aggregate_context(c, sizeof *t);
    if (!t || has_null(n, v))
        return;
    t->x = mem_grow(t->x, &t->x_cap, t->rows, sizeof *t->x);
    t->n = mem_grow(t->n, &t->n_cap, t->rows, sizeof *t->n);
    t->score = mem_grow(t->score, &t->score_cap, t->rows, sizeof *t->score);
    t->x[t->rows] = sqlite3_value_int64(v[0]);
    t->n[t->rows] = sqlite3_value_int64(v[1]);
    t->score[t->rows++] = n > 2 ? sqlite3_value_double(v[2]) : 0;
}

static void counts_end(sqlite3_context *c, struct counts *t, double result)
{
    if (!isnan(result))
        sqlite3_result_double(c, result);
    free(t->tables);
    free(t->x);
    free(t->n);
    free(t->score);
}

static void blocks_midp_final(sqlite3_context *c)
{
    struct counts *t = sqlite3_aggregate_context(c, 0);
    if (t)
        counts_end(c, t, strata_exact_test(t->tables, t->rows).midp);
}

static void blocks_chi2_final(sqlite3_context *c)
{
    struct counts *t = sqlite3_aggregate_context(c, 0);
    if (t)
        counts_end(c, t, strata_cmh_test(t->tables, t->rows).chi2);
}

static void dispersion_final(sqlite3_context *c)
{
    struct counts *t = sqlite3_aggregate_context(c, 0);
    if (t)
        counts_end(c, t, dispersion_exact(t->x, t->n, t->rows));
}

static void trend_final(sqlite3_context *c)
{
    struct counts *t = sqlite3_aggregate_context(c, 0);
    if (t)
        counts_end(c, t, trend_cochran_armitage(t->x, t->n, t->score, t->rows).p);
}

/* --- word counts ------------------------------------------------------------------------------ */

static void words_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct wordcount *w = sqlite3_aggregate_context(c, sizeof *w);
    const char *text = (const char *)sqlite3_value_text(v[0]);
    if (w && text)
        wordcount_add(w, text);
}

static void words_final(sqlite3_context *c)
{
    struct wordcount none = {0}, *w = sqlite3_aggregate_context(c, 0);
    struct buf out = BUF_INIT;
    struct jsonw json = {.out = &out};
    wordcount_write(w ? w : &none, &json);
    if (w)
        wordcount_release(w);
    sqlite3_result_text(c, buf_str(&out), (int)out.len, SQLITE_TRANSIENT);
    buf_release(&out);
}

/* Word counts of one key after the other. */
struct keyed_words {
    int64_t key;
    long rows; /* of the key */
    struct wordcount words;
    struct buf before; /* elements of a JSON array: the keys before */
};

static void end_key(struct keyed_words *k)
{
    if (!k->rows)
        return;
    if (k->before.len)
        buf_addc(&k->before, ',');
    struct jsonw w = {.out = &k->before};
    jsonw_array(&w);
    jsonw_long(&w, k->key);
    jsonw_long(&w, k->rows);
    wordcount_write(&k->words, &w);
    jsonw_end_array(&w);
    wordcount_release(&k->words);
    k->rows = 0;
}

static void keyed_words_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct keyed_words *k = sqlite3_aggregate_context(c, sizeof *k);
    const char *text = (const char *)sqlite3_value_text(v[1]);
    if (!k)
        return;
    if (sqlite3_value_int64(v[0]) != k->key)
        end_key(k);
    k->key = sqlite3_value_int64(v[0]);
    k->rows++;
    if (text)
        wordcount_add(&k->words, text);
}

static void keyed_words_final(sqlite3_context *c)
{
    struct keyed_words *k = sqlite3_aggregate_context(c, 0);
    if (!k)
        return;
    struct buf out = BUF_INIT;
    end_key(k);
    buf_addf(&out, "[%s]", buf_str(&k->before));
    sqlite3_result_text64(c, buf_str(&out), out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    buf_release(&out);
    buf_release(&k->before);
}

#define AGGREGATE(name, n, args, step, final, meaning)                                             \
    {                                                                                              \
        {name, args, meaning}, n, NULL, NULL, step, final                                          \
    }

const struct sql_function aggregate_functions[] = {
    AGGREGATE("quantile", 2, "value, q", quantile_step, quantile_final,
              "aggregate: quantile q of the values, linear between neighbours"),
    AGGREGATE(
        "quantiles", -1, "value, q, ...", quantile_step, quantiles_final,
        "aggregate: several quantiles in one pass and how many values there were, as a JSON array"),
    AGGREGATE("sprt_state", 6, "start_order, corrupted, p0, p1, alpha, beta", sprt_step, sprt_final,
              "aggregate: 'pass', 'fail' or 'go on': Wald's sequential test in start order"),
    AGGREGATE("blocks_midp", 4, "x1, n1, x2, n2", blocks_step, blocks_midp_final,
              "aggregate: p-value of two rates over blocks, exact conditional mid-p"),
    AGGREGATE("blocks_chi2", 4, "x1, n1, x2, n2", blocks_step, blocks_chi2_final,
              "aggregate: Cochran-Mantel-Haenszel chi-square over blocks"),
    AGGREGATE("dispersion_p", 2, "x, n", counts_step, dispersion_final,
              "aggregate: do repeats of one rate agree, exact p-value"),
    AGGREGATE("trend_p", 3, "x, n, score", counts_step, trend_final,
              "aggregate: does the rate rise with the score, Cochran-Armitage p-value"),
    AGGREGATE("word_counts", 1, "text", words_step, words_final,
              "aggregate: how often each word of space-separated lists occurs, as a JSON object"),
    AGGREGATE("word_counts_by", 2, "number, text", keyed_words_step, keyed_words_final,
              "aggregate: [number, rows, word_counts] of each run of rows with the same number, as "
              "a JSON array"),
    AGGREGATE("round_profile", 9,
              "run, sent_us, done_us, judged, damaged, in_flight, ttft_us, itl_us, whole_us",
              round_profile_step, round_profile_final,
              "aggregate over rounds in the order of their keys, as a JSON object: quantiles(0, "
              "0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1) of the judged ones' three times; in_flight: "
              "[in flight, damaged, judged]; of each run how many rounds, how many damaged, 40 "
              "slices of width_us with [requests, replies, damaged, errors], and the rounds in the "
              "order of sending: o (right), d (damaged), e (error)"),
    {{NULL, NULL, NULL}, 0, NULL, NULL, NULL, NULL},
};
