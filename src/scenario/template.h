/* template.h - texts with {{references}}, compiled once and constant afterwards. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct json;
struct values;

enum piece_kind {
    PIECE_LITERAL,
    PIECE_CANARY,
    PIECE_CONTEXT,
    PIECE_ROUND,
    PIECE_ROUNDS,
    PIECE_INDEX, /* the index itself as a number */
    PIECE_VALUE  /* a declared value at an index */
};

/* "3", "i", "i+1", "last-2": which one of a value. */
struct template_index {
    enum { INDEX_CONST, INDEX_I, INDEX_LAST } base;
    long offset;
};

struct piece {
    enum piece_kind kind;
    char *literal;
    size_t len;
    size_t value; /* number of the declared value */
    struct template_index index;
    bool bare; /* in JSON: a whole string that is one number; its quotes are gone */
};

/* A zeroed template is valid and empty. */
struct template
{
    struct piece *pieces;
    size_t n, cap;
    bool json; /* a JSON text: what is filled in is escaped for a string */
};

/* What a text may refer to. */
struct template_scope {
    const struct values *values;
    bool context; /* {{context}} is allowed here */
};

/* Cuts plain text at its references: true and *ref false for a literal stretch, *ref true for the
 * inside of a reference (without blanks at its ends). *at starts at 0. False at the end. A
 * reference that is never closed comes as a stretch with *ref true and data NULL. */
bool template_cut(struct span source, size_t *at, struct span *piece, bool *ref);

/* Adds `source` to *t. -1 with an error that starts with the quoted path. */
int template_add(struct template *t, struct span source, const struct template_scope *scope,
                 const char *path, struct err *err) MUST_CHECK;

/* Reads a string, or a list of strings as lines joined by line breaks, from the file's tree. A
 * `v` of another type gives an empty text. */
int template_read(struct template *t, const struct json *v, const struct template_scope *scope,
                  const char *path, struct err *err) MUST_CHECK;

/* Reads a stretch of JSON text, every byte kept. */
int template_read_json(struct template *t, struct span raw, const struct template_scope *scope,
                       const char *path, struct err *err) MUST_CHECK;

void template_release(struct template *t);

#endif
