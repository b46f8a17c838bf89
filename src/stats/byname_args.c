/* byname_args.c - JSON values to numbers and lists of numbers, each checked against its kind. */
#include "byname_args.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"

#define WORD_SIZE 48
#define MOST_ROWS 1000000

struct word {
    char name[WORD_SIZE], kind[WORD_SIZE];
};

static const struct {
    const char *kind, *expected;
} kinds[] = {
    {"count", "a whole number of 0 or more"},
    {"whole", "a whole number"},
    {"number", "a number"},
    {"number|null", "a number, or null for infinite"},
    {"flag", "true or false"},
    {"[number]", "a list of numbers"},
    {"[count]", "a list of whole numbers of 0 or more"},
};

/* The next "name:kind" of the description; false at its end. */
static bool next_word(const char **at, struct word *w)
{
    const char *p = *at + strspn(*at, " ");
    size_t name = strcspn(p, ":"), all = strcspn(p, " ");
    if (all == 0 || name >= WORD_SIZE || all - name > WORD_SIZE)
        return false;
    memcpy(w->name, p, name);
    w->name[name] = '\0';
    memcpy(w->kind, p + name + 1, all - name - 1);
    w->kind[all - name - 1] = '\0';
    *at = p + all;
    return true;
}

static int refuse(const struct word *w, const struct json *value, struct err *err)
{
    const char *state = json_type(value) == JSON_ABSENT ? "missing" : "not usable";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].kind, w->kind) == 0)
            return err_set(err, STATUS_USAGE, "argument '%s' is %s: expected %s", w->name, state,
                           kinds[i].expected);
    }
    return err_set(err, STATUS_USAGE,
                   "argument '%s' is %s: expected a list of lists %s of whole numbers of 0 or more",
                   w->name, state, w->kind);
}

static bool is_whole(const struct json *v, double least)
{
    double d = json_double(v, NAN);
    return d >= least && d <= 9e15 && d == floor(d);
}

/* One scalar of its kind; false if the value is not of it. */
static bool read_scalar(const struct json *v, const char *kind, double *number)
{
    if (strcmp(kind, "flag") == 0) {
        *number = json_bool(v, false);
        return json_type(v) == JSON_BOOL;
    }
    if (strcmp(kind, "number|null") == 0 && json_type(v) == JSON_NULL) {
        *number = INFINITY;
        return true;
    }
    *number = json_double(v, NAN);
    if (strcmp(kind, "count") == 0)
        return is_whole(v, 0);
    if (strcmp(kind, "whole") == 0)
        return is_whole(v, -9e15);
    return json_type(v) == JSON_NUMBER;
}

/* Columns of a list's rows; 1 for a plain list. */
static size_t width_of(const char *kind)
{
    size_t width = 1;
    for (const char *p = kind; *p; p++)
        width += *p == ',';
    return width;
}

static bool read_row(const struct json *row, const char *kind, size_t width, double *out)
{
    const char *element = strcmp(kind, "[number]") == 0 ? "number" : "count";
    if (width == 1)
        return read_scalar(row, element, out);
    const struct json *v = json_first(row);
    if (json_type(row) != JSON_ARRAY || json_count(row) != width)
        return false;
    for (size_t i = 0; i < width; i++, v = json_next(v)) {
        if (!read_scalar(v, element, &out[i]))
            return false;
    }
    return true;
}

static bool read_list(const struct json *v, const char *kind, struct byname_list *out)
{
    size_t rows = json_count(v), width = width_of(kind), i = 0;
    if (json_type(v) != JSON_ARRAY || rows > MOST_ROWS)
        return false;
    out->rows = rows;
    out->values = mem_zero(rows * width + 1, sizeof(*out->values));
    for (const struct json *row = json_first(v); row; row = json_next(row), i++) {
        if (!read_row(row, kind, width, out->values + i * width))
            return false;
    }
    if (strcmp(kind, "[number]") == 0)
        return true;
    out->counts = mem_zero(rows * width + 1, sizeof(*out->counts));
    for (i = 0; i < rows * width; i++)
        out->counts[i] = (long)out->values[i];
    return true;
}

/* Every key must be one that the description names. */
static int check_keys(const struct json *object, const char *description, struct err *err)
{
    for (const struct json *m = json_first(object); m; m = json_next(m)) {
        const char *at = description;
        struct word w;
        bool known = false;
        while (!known && next_word(&at, &w))
            known = strcmp(w.name, json_key(m)) == 0;
        if (!known)
            return err_set(err, STATUS_USAGE, "no argument '%s': expected %s", json_key(m),
                           description);
    }
    return 0;
}

int byname_args_read(const struct json *object, const char *description, struct byname_args *out,
                     struct err *err)
{
    size_t numbers = 0, lists = 0;
    const char *at = description;
    struct word w;
    *out = (struct byname_args){0};
    if (json_type(object) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "arguments must be one JSON object: %s", description);
    while (next_word(&at, &w)) {
        const struct json *v = json_get(object, w.name);
        bool ok;
        if (w.kind[0] == '[') {
            ok = lists < BYNAME_MAX_LISTS && read_list(v, w.kind, &out->list[lists++]);
        } else {
            ok = numbers < BYNAME_MAX_NUMBERS && read_scalar(v, w.kind, &out->number[numbers]);
            if (ok && fabs(out->number[numbers]) <= 9e15)
                out->count[numbers] = (long)out->number[numbers];
            numbers++;
        }
        if (!ok)
            return refuse(&w, v, err);
    }
    return check_keys(object, description, err);
}

void byname_args_release(struct byname_args *a)
{
    for (size_t i = 0; i < BYNAME_MAX_LISTS; i++) {
        free(a->list[i].values);
        free(a->list[i].counts);
    }
    *a = (struct byname_args){0};
}
