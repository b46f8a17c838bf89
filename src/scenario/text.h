/* text.h - texts with {{references}}, compiled once and constant afterwards. */
#ifndef TEXT_H
#define TEXT_H

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
struct text_index {
    enum { INDEX_CONST, INDEX_I, INDEX_LAST } base;
    long offset;
};

struct piece {
    enum piece_kind kind;
    char *literal;
    size_t len;
    size_t value; /* number of the declared value */
    struct text_index index;
    bool bare; /* in JSON: a whole string that is one number; its quotes are gone */
};

/* A zeroed text is valid and empty. */
struct text {
    struct piece *pieces;
    size_t n, cap;
    bool json; /* a JSON text: what is filled in is escaped for a string */
};

/* What a text may refer to. */
struct text_scope {
    const struct values *values;
    bool context; /* {{context}} is allowed here */
};

/* Cuts plain text at its references: true and *ref false for a literal stretch, *ref true for the
 * inside of a reference (without blanks at its ends). *at starts at 0. False at the end. A
 * reference that is never closed comes as a stretch with *ref true and data NULL. */
bool text_cut(struct span source, size_t *at, struct span *piece, bool *ref);

/* Adds `source` to *t. -1 with an error that starts with the quoted path. */
int text_add(struct text *t, struct span source, const struct text_scope *scope, const char *path,
             struct err *err) MUST_CHECK;

/* Reads a string, or a list of strings as lines joined by line breaks, from the file's tree. A
 * `v` of another type gives an empty text. */
int text_read(struct text *t, const struct json *v, const struct text_scope *scope,
              const char *path, struct err *err) MUST_CHECK;

/* Reads a stretch of JSON text, every byte kept. */
int text_read_json(struct text *t, struct span raw, const struct text_scope *scope,
                   const char *path, struct err *err) MUST_CHECK;

void text_release(struct text *t);

#endif
