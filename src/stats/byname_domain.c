/* byname_domain.c - why a result is null all over: which argument can't be. It computes nothing;
 * what can be and still has no estimate stays null. */
#include "byname_domain.h"

#include <math.h>
#include <string.h>

#include "json.h"

bool byname_domain_empty(const struct json *result)
{
    enum json_type type = json_type(result);
    if (type != JSON_ARRAY && type != JSON_OBJECT)
        return type == JSON_NULL;
    for (const struct json *v = json_first(result); v; v = json_next(v))
        if (!byname_domain_empty(v))
            return false;
    return json_count(result) > 0;
}

static int check_counts(const struct json *args, const char *x, const char *n, struct err *err)
{
    const struct json *hits = json_get(args, x), *trials = json_get(args, n);
    size_t rows = json_type(hits) == JSON_ARRAY ? json_count(hits) : 1;
    for (size_t i = 0; i < rows; i++) {
        bool list = json_type(hits) == JSON_ARRAY;
        double a = json_double(list ? json_at(hits, i) : hits, NAN);
        double b = json_double(list ? json_at(trials, i) : trials, NAN);
        if (a > b)
            return err_set(err, STATUS_USAGE, "argument '%s' is not usable: %.10g of '%s' %.10g", x,
                           a, n, b);
    }
    return 0;
}

/* Rows of x1, n1, x2, n2. */
static int check_tables(const struct json *tables, struct err *err)
{
    for (size_t i = 0; i < json_count(tables); i++) {
        const struct json *row = json_at(tables, i);
        for (size_t k = 0; k + 1 < json_count(row); k += 2) {
            double a = json_double(json_at(row, k), NAN), b = json_double(json_at(row, k + 1), NAN);
            if (a > b)
                return err_set(err, STATUS_USAGE,
                               "argument 'tables' is not usable: %.10g of %.10g in row %zu", a, b,
                               i + 1);
        }
    }
    return 0;
}

int byname_domain_check(const struct json *args, struct err *err)
{
    static const char *const counts[][2] = {{"x", "n"}, {"x1", "n1"}, {"x2", "n2"}};
    static const char *const levels[] = {"conf", "power", "p0",    "p1",  "p2",
                                         "p",    "q",     "alpha", "beta"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (check_counts(args, counts[i][0], counts[i][1], err) != 0)
            return -1;
    if (check_tables(json_get(args, "tables"), err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        double d = json_double(json_get(args, levels[i]), NAN);
        if (d <= 0 || d >= 1)
            return err_set(err, STATUS_USAGE,
                           "argument '%s' is not usable: expected a number between 0 and 1, not "
                           "%.10g",
                           levels[i], d);
    }
    for (size_t i = 0; i < 3; i++)
        if (json_double(json_get(args, counts[i][1]), NAN) == 0)
            return err_set(err, STATUS_USAGE, "argument '%s' is not usable: nothing was tried",
                           counts[i][1]);
    return 0;
}
