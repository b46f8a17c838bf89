/* functions.c - scalar SQL functions: one row each, thin over the statistics layer. No formula
 * stands here. */
#include "functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "byname.h"
#include "database.h"
#include "deflate.h"
#include "difference.h"
#include "dist.h"
#include "fisher.h"
#include "mem.h"
#include "mixture.h"
#include "plan.h"
#include "rate.h"
#include "rate_text.h"
#include "unconditional.h"

#define CONFIDENCE 0.95
#define MAX_ARGS   8

/* A count given as a number; what is no count becomes one that the statistics refuse. */
static long whole(double d)
{
    return d >= 0 && d <= 9e15 && d == floor(d) ? (long)d : -1;
}

static double real_rate_low(const double *a)
{
    return rate_clopper_pearson(whole(a[0]), whole(a[1]), CONFIDENCE).low;
}

static double real_rate_high(const double *a)
{
    return rate_clopper_pearson(whole(a[0]), whole(a[1]), CONFIDENCE).high;
}

static double real_rate_bound(const double *a)
{
    long x = whole(a[0]), n = whole(a[1]);
    return x == 0 ? rate_zero_bound(n, CONFIDENCE) : rate_clopper_pearson(x, n, CONFIDENCE).high;
}

static double real_wilson_low(const double *a)
{
    return rate_wilson(whole(a[0]), whole(a[1]), CONFIDENCE).low;
}

static double real_wilson_high(const double *a)
{
    return rate_wilson(whole(a[0]), whole(a[1]), CONFIDENCE).high;
}

static double real_noise_low(const double *a)
{
    return rate_clopper_noise(whole(a[0]), whole(a[1]), a[2], CONFIDENCE).low;
}

static double real_noise_high(const double *a)
{
    return rate_clopper_noise(whole(a[0]), whole(a[1]), a[2], CONFIDENCE).high;
}

static double real_fisher_midp(const double *a)
{
    return fisher_test(whole(a[0]), whole(a[1]), whole(a[2]), whole(a[3])).midp;
}

static double real_fisher_p(const double *a)
{
    return fisher_test(whole(a[0]), whole(a[1]), whole(a[2]), whole(a[3])).two_sided;
}

static double real_boschloo_p(const double *a)
{
    return unconditional_boschloo(whole(a[0]), whole(a[1]), whole(a[2]), whole(a[3]), SIDE_BOTH);
}

static struct difference_arms arms(const double *a)
{
    return (struct difference_arms){whole(a[0]), whole(a[1]), whole(a[2]), whole(a[3])};
}

static double real_newcombe_low(const double *a)
{
    return difference_newcombe(arms(a), CONFIDENCE).low;
}

static double real_newcombe_high(const double *a)
{
    return difference_newcombe(arms(a), CONFIDENCE).high;
}

static double real_ratio_low(const double *a)
{
    return difference_ratio(arms(a), CONFIDENCE).low;
}

static double real_ratio_high(const double *a)
{
    return difference_ratio(arms(a), CONFIDENCE).high;
}

static double real_watched_low(const double *a)
{
    const struct mixture_prior prior = {0.5, 10};
    return mixture_interval(whole(a[0]), whole(a[1]), 1 - CONFIDENCE, prior).low;
}

static double real_watched_high(const double *a)
{
    const struct mixture_prior prior = {0.5, 10};
    return mixture_interval(whole(a[0]), whole(a[1]), 1 - CONFIDENCE, prior).high;
}

static double real_power(const double *a)
{
    return plan_power_midp(whole(a[0]), whole(a[1]), a[2], a[3], 1 - CONFIDENCE);
}

static double real_sessions_to_tell(const double *a)
{
    double n = plan_size_midp(a[0], a[1], 1 - CONFIDENCE, a[2]);
    return isnan(n) ? ceil(plan_size(a[0], a[1], 1 - CONFIDENCE, a[2])) : n;
}

static double real_clean_sessions(const double *a)
{
    return rate_zero_failure_n(a[0], CONFIDENCE);
}

static double real_chi2_p(const double *a)
{
    return dist_chi2_sf(a[0], a[1]);
}

static double real_f_p(const double *a)
{
    return dist_f_sf(a[0], a[1], a[2]);
}

static void give_text(sqlite3_context *c, const char *text)
{
    sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

static void sql_rate_text(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    char text[RATE_TEXT_SIZE];
    give_text(c, rate_text(text, sizeof text, whole(sqlite3_value_double(v[0])),
                           whole(sqlite3_value_double(v[1]))));
}

/* "5%", "12.5%": as few digits as say it, and never 0% or 100% for what is neither. */
static void sql_percent_text(sqlite3_context *c, int n_values, sqlite3_value **v)
{
    (void)n_values;
    long x = whole(sqlite3_value_double(v[0])), n = whole(sqlite3_value_double(v[1]));
    if (n < 1 || x < 0 || x > n) {
        give_text(c, "n/a");
        return;
    }
    char text[64];
    double percent = 100 * (double)x / (double)n;
    int places = n < 1000 ? 1 : n < 100000 ? 2 : 3;
    do {
        snprintf(text, sizeof text, "%.*f", places, percent);
        places++;
    } while (places < 18 &&
             ((x > 0 && strtod(text, NULL) == 0) || (x < n && strtod(text, NULL) >= 100)));
    size_t len = strlen(text);
    while (len > 1 && text[len - 1] == '0')
        len--;
    if (text[len - 1] == '.')
        len--;
    text[len] = '%';
    text[len + 1] = '\0';
    give_text(c, text);
}

static void sql_difference_text(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    double a[4];
    for (int i = 0; i < 4; i++)
        a[i] = sqlite3_value_double(v[i]);
    struct difference_arms both = arms(a);
    double diff = NAN;
    if (both.n1 > 0 && both.n2 > 0)
        diff = (double)both.x1 / (double)both.n1 - (double)both.x2 / (double)both.n2;
    char text[RATE_TEXT_SIZE];
    give_text(c,
              rate_text_difference(text, sizeof text, diff, difference_newcombe(both, CONFIDENCE),
                                   both.n1 < both.n2 ? both.n1 : both.n2));
}

static void sql_p_text(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    char text[RATE_TEXT_SIZE];
    bool none = sqlite3_value_type(v[0]) == SQLITE_NULL;
    give_text(c, rate_text_p(text, sizeof text, none ? NAN : sqlite3_value_double(v[0])));
}

/* Every function of the statistics layer by its name there. */
static void sql_stat(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *name = (const char *)sqlite3_value_text(v[0]);
    const char *args = (const char *)sqlite3_value_text(v[1]);
    if (!name || !args)
        return;
    struct err err = {0};
    char *result = byname_call(name, args, &err);
    if (result)
        give_text(c, result);
    else
        sqlite3_result_error(c, err.text, -1);
    free(result);
}

/* inflate(data) always inflates, inflate(data, deflated) only what is deflated. */
static void sql_inflate(sqlite3_context *c, int n, sqlite3_value **v)
{
    if (n < 1 || n > 2) {
        sqlite3_result_error(c, "inflate(data, deflated) takes one or two arguments", -1);
        return;
    }
    if (n == 2 && !sqlite3_value_int(v[1])) {
        sqlite3_result_value(c, v[0]);
        return;
    }
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    const void *data = sqlite3_value_blob(v[0]);
    struct span bytes = {data, (size_t)sqlite3_value_bytes(v[0])};
    struct buf out = BUF_INIT;
    if (deflate_undo(bytes, &out) < 0)
        sqlite3_result_error(c, "inflate: not a zlib stream", -1);
    else
        sqlite3_result_blob64(c, buf_str(&out), out.len, SQLITE_TRANSIENT);
    buf_release(&out);
}

#define REAL(name, n, args, fn, meaning)                                                           \
    {                                                                                              \
        {name, args, meaning}, n, fn, NULL, NULL, NULL                                             \
    }
#define SCALAR(name, n, args, fn, meaning)                                                         \
    {                                                                                              \
        {name, args, meaning}, n, NULL, fn, NULL, NULL                                             \
    }

static const struct sql_function scalar_functions[] = {
    REAL("rate_low", 2, "x, n", real_rate_low,
         "lower end of the 95 % Clopper-Pearson interval of x corrupted among n"),
    REAL("rate_high", 2, "x, n", real_rate_high, "upper end of the 95 % Clopper-Pearson interval"),
    REAL("rate_bound", 2, "x, n", real_rate_bound,
         "what reports print as the upper end: rate_high, or the one-sided 95 % bound if x = 0"),
    SCALAR("rate_text", 2, "x, n", sql_rate_text,
           "'2/40 = 5.0% [0.6, 17.0]': counts, rate and interval as every report prints them"),
    SCALAR("percent_text", 2, "x, n", sql_percent_text, "'12.5%': as few digits as say it"),
    REAL("rate_noise_low", 3, "x, n, phi", real_noise_low,
         "lower end on x/phi of n/phi: repeats that scatter phi times more than chance"),
    REAL("rate_noise_high", 3, "x, n, phi", real_noise_high, "its upper end"),
    REAL("wilson_low", 2, "x, n", real_wilson_low, "lower end of Wilson's 95 % interval"),
    REAL("wilson_high", 2, "x, n", real_wilson_high, "upper end of Wilson's 95 % interval"),
    REAL("watched_low", 2, "x, n", real_watched_low,
         "lower end of the 95 % confidence sequence: holds at every look at once"),
    REAL("watched_high", 2, "x, n", real_watched_high, "its upper end"),
    REAL("fisher_midp", 4, "x1, n1, x2, n2", real_fisher_midp,
         "p-value of two rates: Fisher's test, central mid-p, the one that verdicts use"),
    REAL("fisher_p", 4, "x1, n1, x2, n2", real_fisher_p,
         "Fisher's two-sided p-value, minimum likelihood (R's fisher.test)"),
    REAL("boschloo_p", 4, "x1, n1, x2, n2", real_boschloo_p,
         "Boschloo's unconditional two-sided p-value; NULL above 4000 sessions"),
    REAL("newcombe_low", 4, "x1, n1, x2, n2", real_newcombe_low,
         "lower end of the 95 % interval of x1/n1 - x2/n2"),
    REAL("newcombe_high", 4, "x1, n1, x2, n2", real_newcombe_high,
         "upper end of the 95 % interval of x1/n1 - x2/n2"),
    SCALAR("difference_text", 4, "x1, n1, x2, n2", sql_difference_text,
           "'-7.5 pp [-17.4, +2.2]': the difference of two rates in percentage points"),
    REAL("ratio_low", 4, "x1, n1, x2, n2", real_ratio_low,
         "lower end of the 95 % score interval of (x1/n1)/(x2/n2)"),
    REAL("ratio_high", 4, "x1, n1, x2, n2", real_ratio_high, "upper end of that interval"),
    SCALAR("p_text", 1, "p", sql_p_text, "'p=0.071', never zero"),
    REAL("chi2_p", 2, "chi2, df", real_chi2_p, "upper tail of the chi-square distribution"),
    REAL("f_p", 3, "f, df1, df2", real_f_p, "upper tail of the F distribution"),
    REAL("power", 4, "n1, n2, p1, p2", real_power,
         "exact chance that n1 and n2 sessions tell rate p1 from p2 at the 5 % level"),
    REAL("sessions_to_tell", 3, "p1, p2, power", real_sessions_to_tell,
         "sessions per arm that tell p1 from p2 with this chance at the 5 % level"),
    REAL("clean_sessions", 1, "p", real_clean_sessions,
         "so many sessions without corruption rule out the rate p (95 %)"),
    SCALAR("stat", 2, "name, json", sql_stat,
           "any statistic by its name, arguments and result as JSON: stat('wilson', "
           "'{\"x\":2,\"n\":40,\"conf\":0.95}'); 'toolstorm stat --functions' lists the names"),
    SCALAR("inflate", -1, "data[, deflated]", sql_inflate,
           "evidence.data as it was received: inflate(data, deflated)"),
    {{NULL, NULL, NULL}, 0, NULL, NULL, NULL, NULL},
};

/* Carries out a `real` row. */
static void call_real(sqlite3_context *c, int n, sqlite3_value **v)
{
    const struct sql_function *f = sqlite3_user_data(c);
    double args[MAX_ARGS];
    for (int i = 0; i < n && i < MAX_ARGS; i++) {
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return;
        args[i] = sqlite3_value_double(v[i]);
    }
    double d = f->real(args);
    if (!isnan(d))
        sqlite3_result_double(c, d);
}

/* The word function behind one SQL function; SQLite frees it with the connection. */
struct definition {
    const char *(*word)(const char *text);
    const char *(*counted)(const char *text, long n); /* the one that is set is called */
};

static void call_word(sqlite3_context *c, int n, sqlite3_value **v)
{
    const struct definition *d = sqlite3_user_data(c);
    const char *text = (const char *)sqlite3_value_text(v[0]);
    const char *answer = NULL;
    if (n == 2)
        answer = d->counted(text, (long)sqlite3_value_int64(v[1]));
    else if (text)
        answer = d->word(text);
    if (answer)
        give_text(c, answer);
}

static int define(struct store *s, const char *name, const struct definition *what, struct err *err)
{
    struct definition *d = mem_zero(1, sizeof *d);
    *d = *what;
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    if (sqlite3_create_function_v2(s->db, name, what->counted ? 2 : 1, flags, d, call_word, NULL,
                                   NULL, free) == SQLITE_OK)
        return 0;
    return database_fail(s, "prepare", err);
}

int store_define(struct store *s, const char *name, const char *(*word)(const char *text),
                 struct err *err)
{
    return define(s, name, &(struct definition){.word = word}, err);
}

int store_define_counted(struct store *s, const char *name,
                         const char *(*word)(const char *text, long n), struct err *err)
{
    return define(s, name, &(struct definition){.counted = word}, err);
}

static int register_table(sqlite3 *db, const struct sql_function *f)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = SQLITE_OK;
    for (; f->about.name && rc == SQLITE_OK; f++)
        rc = sqlite3_create_function_v2(db, f->about.name, f->n_args, flags, (void *)(size_t)f,
                                        f->real ? call_real : f->scalar, f->step, f->final, NULL);
    return rc;
}

int functions_register(sqlite3 *db)
{
    int rc = register_table(db, scalar_functions);
    return rc == SQLITE_OK ? register_table(db, aggregate_functions) : rc;
}

const struct store_function *store_function_at(size_t i)
{
    size_t n_scalar = sizeof scalar_functions / sizeof scalar_functions[0] - 1;
    const struct sql_function *f =
        i < n_scalar ? &scalar_functions[i] : &aggregate_functions[i - n_scalar];
    return f->about.name ? &f->about : NULL;
}
