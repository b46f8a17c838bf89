// layers: base
/* Option tables: parsing, messages, help, settings. */
#include <stddef.h>
#include <stdlib.h>

#include "check.h"
#include "opt.h"

struct target {
    bool yes, no;
    long n;
    double rate, d;
    int64_t us;
    const char *text, *word;
    struct opt_list list;
};

#define AT(field) offsetof(struct target, field)
static const struct opt table[] = {
    {"yes", NULL, 'y', OPT_BOOL, AT(yes), NULL, "yes", 0, 0, NULL, "First", "a switch"},
    {"no", NULL, 0, OPT_BOOL, AT(no), NULL, "no", 0, 0, NULL, NULL, "another"},
    {"number", "num", 'n', OPT_LONG, AT(n), "N", "5", 1, 100, NULL, NULL, "how many"},
    {"rate", NULL, 0, OPT_RATE, AT(rate), "RATE", NULL, 0, 0, NULL, "Second", "a share"},
    {"d", NULL, 0, OPT_DOUBLE, AT(d), "D", "0.5", -1, 1, NULL, NULL, "a number"},
    {"time", NULL, 0, OPT_DURATION, AT(us), "TIME", "10s", 0, 100, NULL, NULL, "a time"},
    {"text", NULL, 0, OPT_TEXT, AT(text), "TEXT", NULL, 0, 0, NULL, NULL, "any text"},
    {"word", NULL, 0, OPT_TEXT, AT(word), NULL, "stop", 0, 0, "stop|keep", NULL, "a choice"},
    {"list", NULL, 0, OPT_LIST, AT(list), "ITEM", NULL, 0, 0, NULL, NULL, "many"},
    {0},
};

/* Splits at blanks; good enough for the rows below. */
static int parse(const char *line, struct target *t, struct opt_list *rest, bool *help,
                 struct err *err)
{
    static char copy[256];
    char *argv[32];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        argv[argc++] = p;
    return opt_parse(table, t, argc, argv, rest, help, err);
}

static void test_good(void)
{
    struct target t = {.rate = -1};
    struct opt_list rest = {0};
    struct err e = {0};
    bool help;
    CHECK_INT(parse("--no-yes --no -n 7 --rate=15% --d -0.25 --time 250ms --list a --list=b x "
                    "--word keep -- --text",
                    &t, &rest, &help, &e),
              0);
    CHECK(!t.yes && t.no && !help);
    CHECK_INT(t.n, 7);
    CHECK_NEAR(t.rate, 0.15, 1e-12);
    CHECK_NEAR(t.d, -0.25, 1e-12);
    CHECK_INT(t.us, 250000);
    CHECK_STR(t.word, "keep");
    CHECK_INT(t.list.n, 2);
    CHECK_STR(t.list.items[1], "b");
    CHECK_INT(rest.n, 2);
    CHECK_STR(rest.items[1], "--text");
    CHECK(t.text == NULL);
    free(rest.items);
    opt_release(table, &t);
}

static void test_bad(void)
{
    static const char *const rows[][2] = {
        {"--numbr 3", "unknown option '--numbr'; did you mean '--number'?"},
        {"--zzzzzzzz", "unknown option '--zzzzzzzz'; --help lists them"},
        {"-q", "unknown option '-q'; --help lists them"},
        {"--number x", "'--number x': expected a whole number from 1 to 100"},
        {"--number 0", "'--number 0': expected a whole number from 1 to 100"},
        {"--number 99999999999999999999",
         "'--number 99999999999999999999': expected a whole number "
         "from 1 to 100"},
        {"--num", "'--num' needs a value: N"},
        {"--rate 150%", "'--rate 150%': expected a share such as 0.15 or 15%"},
        {"--d nan", "'--d nan': expected a number from -1 to 1"},
        {"--time 5x", "'--time 5x': expected a time such as 30s, 250ms or 2m, from 0 to 100"},
        {"--time 101", "'--time 101': expected a time such as 30s, 250ms or 2m, from 0 to 100"},
        {"--word go", "'--word go': expected one of stop|keep"},
        {"--word sto", "'--word sto': expected one of stop|keep"},
        {"--yes=1", "'--yes' takes no value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct target t = {0};
        struct opt_list rest = {0};
        struct err e = {0};
        bool help;
        CHECK_INT(parse(rows[i][0], &t, &rest, &help, &e), -1);
        CHECK_INT(e.status, STATUS_USAGE);
        CHECK_STR(e.text, rows[i][1]);
        free(rest.items);
        opt_release(table, &t);
    }
}

static void add_line(void *arg, const char *name, const char *value)
{
    buf_addf(arg, "%s=%s;", name, value);
}

static void test_help(void)
{
    struct target t = {.rate = NAN};
    struct opt_list rest = {0};
    bool help;
    CHECK_INT(parse("x --help --bogus", &t, &rest, &help, NULL), 0);
    CHECK(help);
    struct buf b = BUF_INIT;
    opt_help(table, &b);
    CHECK(strstr(buf_str(&b), "First:\n  --no-yes                    a switch\n") != NULL);
    CHECK(strstr(buf_str(&b), "how many (default: 5) (also --num)") != NULL);
    CHECK(strstr(buf_str(&b), "\nSecond:\n") != NULL);
    buf_clear(&b);
    opt_each(table, &t, add_line, &b);
    CHECK_STR(buf_str(&b), "yes=yes;no=no;number=5;d=0.5;time=10s;word=stop;");
    buf_release(&b);
    free(rest.items);
    opt_release(table, &t);
}

int main(void)
{
    test_good();
    test_bad();
    test_help();
    return check_end();
}
