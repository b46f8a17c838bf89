// layers: store stats base
/* test_functions.c - the statistics as SQL sees them. */
#include "buf.h"
#include "check.h"
#include "store.h"

/* The single value of a query, as text. */
static const char *value(struct store *s, const char *sql)
{
    static char text[2048];
    struct err err = {0};
    struct query *q = store_query(s, sql, &err);
    if (!q || query_step(q, &err) != 1)
        snprintf(text, sizeof text, "failed: %s", err.text);
    else
        snprintf(text, sizeof text, "%s", query_is_null(q, 0) ? "NULL" : query_text(q, 0));
    query_free(q);
    return text;
}

static void test_functions(void)
{
    static const struct {
        const char *sql, *want;
    } cases[] = {
        {"SELECT rate_text(2, 40)", "2/40 = 5.0% [0.6, 17.0]"},
        {"SELECT rate_text(0, 60)", "0/60: below 4.9% (95% upper bound)"},
        {"SELECT rate_text(1.5, 60)", "-1/60: no rate"},
        {"SELECT printf('%.4f', rate_low(2, 40))", "0.0061"},
        {"SELECT printf('%.4f', rate_high(2, 40))", "0.1692"},
        {"SELECT printf('%.4f', rate_bound(0, 60))", "0.0487"},
        {"SELECT rate_low(2, 0)", "NULL"},
        {"SELECT rate_low(NULL, 4)", "NULL"},
        {"SELECT percent_text(2, 40)", "5%"},
        {"SELECT percent_text(5, 40)", "12.5%"},
        {"SELECT percent_text(1, 3)", "33.3%"},
        {"SELECT percent_text(0, 40)", "0%"},
        {"SELECT percent_text(40, 40)", "100%"},
        {"SELECT percent_text(1, 999999)", "0.0001%"},
        {"SELECT percent_text(9999999, 10000000)", "99.99999%"},
        {"SELECT percent_text(0, 0)", "n/a"},
        {"SELECT printf('%.3f', fisher_midp(6, 40, 2, 40))", "0.160"},
        {"SELECT printf('%.4f', boschloo_p(6, 40, 0, 40))", "0.0183"},
        {"SELECT difference_text(9, 120, 18, 120)", "-7.5 pp [-15.8, +0.7]"},
        {"SELECT p_text(fisher_midp(9, 120, 18, 120))", "p=0.070"},
        {"SELECT clean_sessions(0.01)", "299.0"},
        {"SELECT sessions_to_tell(0.15, 0.03, 0.9)", "111.0"},
        {"WITH t(v) AS (VALUES (3), (1), (2), (NULL), ('x')) SELECT quantile(v, 0.5) FROM t",
         "2.0"},
        {"WITH t(v) AS (VALUES (3), (1), (2)) SELECT quantiles(v, 0, 0.25, 1) FROM t",
         "[1,1.5,3,3]"},
        {"SELECT quantile(1, 0.5) FROM runs", "NULL"},
        {"WITH t(v) AS (VALUES (-1e9), (1e-9), (0.0), (7e300), (-0.5), (2), (-1e300))"
         " SELECT quantiles(v, 0, 0.5, 1) FROM t",
         "[-1e+300,0,7e+300,7]"},
        /* 1000 values in an order of their own: the ranks come out. */
        {"WITH RECURSIVE t(n, v) AS (VALUES (1, 1) UNION ALL SELECT n + 1, v * 11 % 1009 FROM t"
         " WHERE n < 1008) SELECT quantiles(v * 1000.5, 0, 0.25, 0.5, 1) FROM t",
         "[1000.5,252876.375,504752.25,1008504,1008]"},
        {"WITH t(w) AS (VALUES ('a b'), (''), ('b  c'), (NULL)) SELECT word_counts(w) FROM t",
         "{\"a\":1,\"b\":2,\"c\":1}"},
        {"WITH t(k, w) AS (VALUES (7, 'a b'), (7, 'a b'), (7, NULL), (9, ''), (8, 'c'))"
         " SELECT word_counts_by(k, w) FROM t",
         "[[7,3,{\"a\":2,\"b\":2}],[9,1,{}],[8,1,{\"c\":1}]]"},
        {"SELECT word_counts_by(1, 'a') FROM runs", "NULL"},
        /* Two runs; the first one's rounds were sent in another order than they stand in, and those
         * sent at once keep theirs; 79 us last 40 slices of 2 us. */
        {"WITH t(r, s, d, j, b, f, x, y, z) AS (VALUES (1, 70, 79, 1, 1, 2, 5, NULL, 9), (1, 0, 3, "
         "1, "
         "0, 1, 7, NULL, 9), (1, 0, 1, 0, 0, 2, NULL, NULL, NULL), (2, 0, 0, 1, 0, 4, 6, 0.5, 9)) "
         "SELECT json_extract(p, '$.ttft') || json_extract(p, '$.itl') || json_extract(p, "
         "'$.in_flight') || json_extract(p, '$.runs[0].run', '$.runs[0].rounds', "
         "'$.runs[0].damaged', '$.runs[0].width_us', '$.runs[0].order', '$.runs[0].slices[0]', "
         "'$.runs[0].slices[1]', '$.runs[0].slices[35]', '$.runs[0].slices[39]', "
         "'$.runs[1].order', "
         "'$.runs[1].width_us', '$.runs[2]') "
         "FROM (SELECT round_profile(r, s, d, j, b, f, x, y, z) AS p FROM t)",
         "[5,5.1,5.5,6,6.5,6.9,6.98,7,3][0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,1][[1,0,1],[2,1,1],[4,0,1]"
         "]"
         "[1,3,1,2,\"oed\",[2,1,0,1],[0,1,0,0],[1,0,0,0],[0,1,1,0],\"o\",1,null]"},
        {"SELECT round_profile(1, 2, 3, 4, 5, 6, 7, 8, 9) FROM runs", "NULL"},
        /* 31 clean sessions pass; fed in any order, start order decides. */
        {"WITH RECURSIVE t(n) AS (VALUES (31) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, 0, 0.01, 0.1, 0.05, 0.05) FROM t",
         "pass"},
        {"WITH RECURSIVE t(n) AS (VALUES (30) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, 0, 0.01, 0.1, 0.05, 0.05) FROM t",
         "go on"},
        {"WITH RECURSIVE t(n) AS (VALUES (60) UNION ALL SELECT n - 1 FROM t WHERE n > 1)"
         " SELECT sprt_state(n, n <= 2, 0.01, 0.1, 0.05, 0.05) FROM t",
         "fail"},
        {"WITH t(a, n, b, m) AS (VALUES (2, 40, 6, 40), (2, 40, 6, 40), (5, 40, 6, 40))"
         " SELECT printf('%.6f %.6f', blocks_midp(a, n, b, m), blocks_chi2(a, n, b, m)) FROM t",
         "0.070876 3.348509"},
        {"WITH t(x, n) AS (VALUES (6, 40), (7, 40), (5, 40))"
         " SELECT printf('%.6f', dispersion_p(x, n)) FROM t",
         "0.947963"},
        {"WITH t(x, n, s) AS (VALUES (0, 40, 0), (1, 40, 1), (2, 40, 2), (5, 40, 3))"
         " SELECT printf('%.6f', trend_p(x, n, s)) FROM t",
         "0.009444"},
        {"SELECT trend_p(1, 2, 3) FROM runs", "NULL"},
        {"SELECT stat('zero_failure_n', '{\"p\":0.05,\"conf\":0.95}')", "59"},
        {"SELECT json_extract(stat('fisher_midp', json_object('x1', 6, 'n1', 40, 'x2', 2, 'n2', "
         "40)),"
         " '$') = fisher_midp(6, 40, 2, 40)",
         "1"},
    };
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(value(s, cases[i].sql), cases[i].want);
    CHECK(strstr(value(s, "SELECT inflate('xyz')"), "zlib") != NULL);
    CHECK(strstr(value(s, "SELECT stat('nosuch', '{}')"), "nosuch") != NULL);
    CHECK(strstr(value(s, "SELECT quantiles(1)"), "quantiles") != NULL);
    /* What --functions lists is what there is. */
    size_t n = 0;
    for (const struct store_function *f; (f = store_function_at(n)); n++) {
        struct buf sql = BUF_INIT;
        buf_addf(&sql, "SELECT count(*) > 0 FROM pragma_function_list WHERE name = '%s'", f->name);
        CHECK_STR(value(s, buf_str(&sql)), "1");
        CHECK(f->meaning[0] != '\0');
        buf_release(&sql);
    }
    CHECK(n > 20);
    store_close(s);
}

int main(void)
{
    test_functions();
    return check_end();
}
