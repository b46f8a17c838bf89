// layers: report store chat stats base
/* test_query.c - results of statements as table, CSV and JSON. */
#include "figures.h"
#include "report_fixture.h"

static const char *asked(struct store *s, const struct report_query *request)
{
    static char text[4000];
    struct buf out = BUF_INIT;
    struct err err = {0};
    if (report_query(s, request, &plain, &out, &err) != 0)
        snprintf(text, sizeof text, "%s", err.text);
    else
        snprintf(text, sizeof text, "%s", buf_str(&out));
    buf_release(&out);
    return text;
}

static void test_query(void)
{
    struct err err = {0};
    struct store *s = store_open(":memory:", STORE_WRITE, &err);
    long run = add_run(s, &(struct fixture){"baseline", 40, 10, 2, 0, 0});
    const struct binding bindings[] = {{.name = "run", .number = run}};
    const char *sql = "SELECT 1 AS n, 'a,\"b\"' AS t, NULL AS x, 0.5 AS d UNION ALL "
                      "SELECT 20, char(27) || '[2J', 3, 1e9";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}),
              "n,t,x,d\n1,\"a,\"\"b\"\"\",,0.5\n20,\x1b[2J,3,1000000000\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}),
              "[{\"n\":1,\"t\":\"a,\\\"b\\\"\",\"x\":null,\"d\":0.5},\n"
              "{\"n\":20,\"t\":\"\\u001b[2J\",\"x\":3,\"d\":1000000000}]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql}), " n  t        x      d\n"
                                                            " 1  a,\"b\"    -    0.5\n"
                                                            "20  \\x1b[2J  3  1e+09\n");
    sql = "SELECT session FROM sessions WHERE 0";
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_CSV}), "session\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = sql, .form = QUERY_JSON}), "[]\n");
    CHECK_STR(asked(s, &(struct report_query){.sql = "SELECT reason_meaning('leak.utf8') AS m"}),
              "m\nU+FFFD or invalid UTF-8\n");
    CHECK(strstr(asked(s, &(struct report_query){.sql = "SELECT nosuch()"}), "nosuch") != NULL);
    CHECK_STR(asked(s, &(struct report_query){.report = "summary",
                                              .section = "damaged",
                                              .bindings = bindings,
                                              .n_bindings = 1,
                                              .form = QUERY_CSV}),
              "session,reason,round\n7,leak.markup,2\n17,no_tool.cap,3\n");
    CHECK(strstr(asked(s, &(struct report_query){.report = "nosuch"}), "there are") != NULL);
    CHECK(strstr(asked(s, &(struct report_query){.report = "summary",
                                                 .section = "nosuch",
                                                 .bindings = bindings,
                                                 .n_bindings = 1}),
                 "latency") != NULL);
    /* Every shipped section prints as a table. */
    const char *tables = asked(
        s, &(struct report_query){.report = "summary", .bindings = bindings, .n_bindings = 1});
    CHECK(strstr(tables, "counts\n") && strstr(tables, "percent"));
    store_close(s);
}

int main(void)
{
    test_query();
    return check_end();
}
