/* opt.c - reads argv by a table of rows. It knows kinds of values, not a single option. */
#include "opt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

static void *field(const struct opt *o, void *target)
{
    return (char *)target + o->offset;
}

static bool bounded(const struct opt *o)
{
    return o->min != 0 || o->max != 0;
}

static int out_of_range(const struct opt *o, const char *text, const char *what, struct err *err)
{
    if (bounded(o))
        return err_set(err, STATUS_USAGE, "'--%s %s': expected %s from %.10g to %.10g", o->name,
                       text, what, o->min, o->max);
    return err_set(err, STATUS_USAGE, "'--%s %s': expected %s", o->name, text, what);
}

static bool in_range(const struct opt *o, double d)
{
    return bounded(o) ? d >= o->min && d <= o->max : d >= 0;
}

static int set_long(const struct opt *o, void *target, const char *text, struct err *err)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || !in_range(o, (double)n))
        return out_of_range(o, text, "a whole number", err);
    *(long *)field(o, target) = n;
    return 0;
}

static int set_double(const struct opt *o, void *target, const char *text, struct err *err)
{
    char *end;
    double d = strtod(text, &end);
    size_t percent = o->kind != OPT_RATE ? 0 : *end == '%' ? 1 : strcmp(end, "pp") == 0 ? 2 : 0;
    if (percent) {
        d /= 100;
        end += percent;
    }
    if (end == text || *end || !isfinite(d) ||
        !(o->kind == OPT_RATE ? d >= 0 && d <= 1 : in_range(o, d)))
        return out_of_range(o, text,
                            o->kind == OPT_RATE ? "a share such as 0.15 or 15%" : "a number", err);
    *(double *)field(o, target) = d;
    return 0;
}

static int set_duration(const struct opt *o, void *target, const char *text, struct err *err)
{
    static const struct {
        const char *suffix;
        double us;
    } units[] = {{"", 1e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"m", 60e6}, {"h", 3600e6}};
    char *end;
    double d = strtod(text, &end);
    double us = -1;
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].suffix) == 0)
            us = d * units[i].us;
    if (!(us >= 0) || us > 1e15 || !in_range(o, us / 1e6))
        return out_of_range(o, text, "a time such as 30s, 250ms or 2m,", err);
    *(int64_t *)field(o, target) = (int64_t)us;
    return 0;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strncmp(p, text, n) == 0 && (p[n] == '|' || !p[n]))
            return true;
    return false;
}

static int set_value(const struct opt *o, void *target, const char *text, struct err *err)
{
    struct opt_list *list;
    switch (o->kind) {
    case OPT_BOOL: *(bool *)field(o, target) = strcmp(text, "yes") == 0; return 0;
    case OPT_LONG: return set_long(o, target, text, err);
    case OPT_RATE:
    case OPT_DOUBLE: return set_double(o, target, text, err);
    case OPT_DURATION: return set_duration(o, target, text, err);
    case OPT_TEXT:
        if (o->choices && !is_choice(o->choices, text))
            return err_set(err, STATUS_USAGE, "'--%s %s': expected one of %s", o->name, text,
                           o->choices);
        *(const char **)field(o, target) = text;
        return 0;
    case OPT_LIST:
        list = field(o, target);
        list->items = mem_grow(list->items, &list->cap, list->n, sizeof *list->items);
        list->items[list->n++] = text;
        return 0;
    }
    return -1;
}

const char *opt_nearest(const char *word, const char *const *known, size_t n)
{
    const char *best = NULL;
    size_t best_distance = 3, len = strlen(word);
    if (len > 40)
        return NULL;
    for (size_t k = 0; k < n; k++) {
        size_t row[64], m = strlen(known[k]);
        if (m > 62)
            continue;
        for (size_t j = 0; j <= m; j++)
            row[j] = j;
        for (size_t i = 1; i <= len; i++) {
            size_t diagonal = row[0];
            row[0] = i;
            for (size_t j = 1; j <= m; j++) {
                size_t change = diagonal + (word[i - 1] != known[k][j - 1]);
                diagonal = row[j];
                size_t gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
                row[j] = change < gap ? change : gap;
            }
        }
        if (row[m] < best_distance && row[m] < m) {
            best_distance = row[m];
            best = known[k];
        }
    }
    return best;
}

static int unknown(const struct opt *table, const char *arg, struct err *err)
{
    const char *names[256];
    size_t n = 0;
    for (const struct opt *o = table; o->name && n < 256; o++)
        names[n++] = o->name;
    const char *name = arg + (arg[1] == '-' ? 2 : 1);
    char *word = mem_copy(name, strcspn(name, "="));
    const char *near = opt_nearest(word, names, n);
    free(word);
    if (near)
        return err_set(err, STATUS_USAGE, "unknown option '%s'; did you mean '--%s'?", arg, near);
    return err_set(err, STATUS_USAGE, "unknown option '%s'; --help lists them", arg);
}

static bool is_name(const struct opt *o, const char *name, size_t n)
{
    return (strlen(o->name) == n && strncmp(o->name, name, n) == 0) ||
           (o->alias && strlen(o->alias) == n && strncmp(o->alias, name, n) == 0);
}

/* The row that `arg` means, and how: *negated for --no-NAME, *value behind a '=' or NULL. */
static const struct opt *find(const struct opt *table, const char *arg, bool *negated,
                              const char **value)
{
    *negated = false;
    *value = NULL;
    for (const struct opt *o = table; o->name; o++)
        if (arg[1] != '-' && o->letter == arg[1] && !arg[2])
            return o;
    if (arg[1] != '-')
        return NULL;
    const char *name = arg + 2;
    size_t n = strcspn(name, "=");
    if (name[n])
        *value = name + n + 1;
    for (const struct opt *o = table; o->name; o++) {
        if (is_name(o, name, n))
            return o;
        if (o->kind == OPT_BOOL && n > 3 && strncmp(name, "no-", 3) == 0 &&
            is_name(o, name + 3, n - 3)) {
            *negated = true;
            return o;
        }
    }
    return NULL;
}

static int set_defaults(const struct opt *table, void *target, struct err *err)
{
    for (const struct opt *o = table; o->name; o++)
        if (o->initial && set_value(o, target, o->initial, err) != 0)
            return -1;
    return 0;
}

/* One option at argv[*i]; moves *i over its value. */
static int take(const struct opt *table, void *target, char **argv, int argc, int *i,
                struct err *err)
{
    const char *arg = argv[*i], *value;
    bool negated;
    const struct opt *o = find(table, arg, &negated, &value);
    if (!o)
        return unknown(table, arg, err);
    if (o->kind == OPT_BOOL) {
        if (value)
            return err_set(err, STATUS_USAGE, "'--%s' takes no value", o->name);
        return set_value(o, target, negated ? "no" : "yes", err);
    }
    if (!value) {
        if (*i + 1 >= argc)
            return err_set(err, STATUS_USAGE, "'%s' needs a value: %s", arg, o->value);
        value = argv[++*i];
    }
    return set_value(o, target, value, err);
}

int opt_parse(const struct opt *table, void *target, int argc, char **argv,
              struct opt_list *operands, bool *help, struct err *err)
{
    *help = false;
    if (set_defaults(table, target, err) != 0)
        return -1;
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            *help = true;
            return 0;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (take(table, target, argv, argc, &i, err) != 0)
                return -1;
        } else {
            operands->items =
                mem_grow(operands->items, &operands->cap, operands->n, sizeof *operands->items);
            operands->items[operands->n++] = argv[i];
        }
    }
    return 0;
}

void opt_release(const struct opt *table, void *target)
{
    for (const struct opt *o = table; o->name; o++)
        if (o->kind == OPT_LIST) {
            struct opt_list *list = field(o, target);
            free(list->items);
            *list = (struct opt_list){0};
        }
}
