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
#include "sprt.h"
#include "strata.h"
#include "trend.h"

/* Quantiles asked for in one quantiles() call. */
#define MAX_QUANTILES 8

/* Different words that word_counts() tells apart; further ones are counted under "other". */
#define MAX_WORDS 200

/* --- quantiles -------------------------------------------------------------------------------- */

struct sample {
    double *values;
    size_t n, cap;
    double q[MAX_QUANTILES];
    int n_q;
};

#define DIGIT_BITS 11
#define DIGITS     6 /* 66 bits */
#define BUCKETS    (1u << DIGIT_BITS)

/* A number whose order as bits is its order as a value. */
static uint64_t sort_key(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static size_t digit_of(double d, int digit)
{
    return sort_key(d) >> (digit * DIGIT_BITS) & (BUCKETS - 1);
}

/* Sorts by one digit from `from` to `to`, keeping the order of equals; false if all values have the
 * same digit, and nothing was moved. */
static bool sort_digit(const double *from, double *to, size_t n, int digit)
{
    size_t start[BUCKETS] = {0}, next = 0;
    for (size_t i = 0; i < n; i++)
        start[digit_of(from[i], digit)]++;
    if (start[digit_of(from[0], digit)] == n)
        return false;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = start[b];
        start[b] = next;
        next += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[digit_of(from[i], digit)]++] = from[i];
    return true;
}

/* A radix sort: summaries of millions of rounds wait for it. */
static void sort_values(struct sample *s)
{
    double *other = mem_zero(s->n, sizeof *other);
    for (int digit = 0; digit < DIGITS; digit++) {
        if (!sort_digit(s->values, other, s->n, digit))
            continue;
        double *sorted = other;
        other = s->values;
        s->values = sorted;
    }
    free(other);
}

static void quantile_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct sample *s = sqlite3_aggregate_context(c, sizeof *s);
    if (!s || n < 2 || n > MAX_QUANTILES + 1) {
        sqlite3_result_error(c, "quantiles(value, q, ...) takes 1 to 8 quantiles", -1);
        return;
    }
    for (s->n_q = 0; s->n_q < n - 1; s->n_q++)
        s->q[s->n_q] = sqlite3_value_double(v[s->n_q + 1]);
    int type = sqlite3_value_numeric_type(v[0]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return;
    s->values = mem_grow(s->values, &s->cap, s->n, sizeof *s->values);
    s->values[s->n++] = sqlite3_value_double(v[0]);
}

/* The sample sorted, or NULL if no row came. */
static struct sample *sample_sorted(sqlite3_context *c)
{
    struct sample *s = sqlite3_aggregate_context(c, 0);
    if (s && s->n)
        sort_values(s);
    return s;
}

static void quantile_final(sqlite3_context *c)
{
    struct sample *s = sample_sorted(c);
    if (!s)
        return;
    double d = rank_quantile(s->values, s->n, s->q[0]);
    if (!isnan(d))
        sqlite3_result_double(c, d);
    free(s->values);
}

static void quantiles_final(sqlite3_context *c)
{
    struct sample *s = sample_sorted(c);
    if (!s)
        return;
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    jsonw_array(&w);
    for (int i = 0; i < s->n_q; i++)
        jsonw_double(&w, rank_quantile(s->values, s->n, s->q[i]));
    jsonw_long(&w, (long long)s->n);
    jsonw_end_array(&w);
    sqlite3_result_text(c, buf_str(&out), (int)out.len, SQLITE_TRANSIENT);
    buf_release(&out);
    free(s->values);
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

struct word {
    char *text;
    long n;
};

struct words {
    struct word *all;
    size_t n, cap;
};

static void count_word(struct words *w, const char *text, size_t len)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strlen(w->all[i].text) == len && memcmp(w->all[i].text, text, len) == 0) {
            w->all[i].n++;
            return;
        }
    }
    if (w->n >= MAX_WORDS && !(len == 5 && memcmp(text, "other", 5) == 0)) {
        count_word(w, "other", 5);
        return;
    }
    w->all = mem_grow(w->all, &w->cap, w->n, sizeof *w->all);
    w->all[w->n++] = (struct word){mem_copy(text, len), 1};
}

static void words_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    struct words *w = sqlite3_aggregate_context(c, sizeof *w);
    const char *text = (const char *)sqlite3_value_text(v[0]);
    if (!w || !text)
        return;
    while (*text) {
        size_t len = strcspn(text, " ");
        if (len)
            count_word(w, text, len);
        text += len;
        text += strspn(text, " ");
    }
}

static void words_final(sqlite3_context *c)
{
    struct words *w = sqlite3_aggregate_context(c, 0);
    struct buf out = BUF_INIT;
    struct jsonw json = {.out = &out};
    jsonw_object(&json);
    for (size_t i = 0; w && i < w->n; i++) {
        jsonw_key(&json, w->all[i].text);
        jsonw_long(&json, w->all[i].n);
        free(w->all[i].text);
    }
    jsonw_end_object(&json);
    if (w)
        free(w->all);
    sqlite3_result_text(c, buf_str(&out), (int)out.len, SQLITE_TRANSIENT);
    buf_release(&out);
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
    {{NULL, NULL, NULL}, 0, NULL, NULL, NULL, NULL},
};
