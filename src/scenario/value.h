/* value.h - the values that a scenario file declares: how each session's own are made. */
#ifndef VALUE_H
#define VALUE_H

#include <stddef.h>

#include "err.h"
#include "template.h"

struct json;

enum value_kind {
    VALUE_TOKEN,  /* an identifier that names its owner (token.h) */
    VALUE_NUMBER, /* a whole number of a range */
    VALUE_WORD,   /* one of a list; neighbouring indexes differ */
    VALUE_CODE,   /* a form such as "BX-####": # digit, @ capital, * digit or small letter */
    VALUE_TEXT    /* lines that may refer to values declared before */
};

struct value {
    char *name;
    enum value_kind kind;
    long from, to;
    char **words;
    size_t n_words;
    char *form;
    struct template text;
};

struct values {
    struct value *list;
    size_t n, cap;
};

/* Reads the member "values" of a scenario file; NULL gives none. */
int values_read(struct values *vs, const struct json *v, struct err *err) MUST_CHECK;
void values_release(struct values *vs);

/* The number of the value of that name, or -1. */
long values_find(const struct values *vs, struct span name);
enum value_kind values_kind(const struct values *vs, size_t number);

/* Adds ", NAME" for each. */
void values_names(const struct values *vs, struct buf *out);

#endif
