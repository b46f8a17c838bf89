/* vocab.h - the words and forms from which a context is written, read from data. */
#ifndef VOCAB_H
#define VOCAB_H

#include <stddef.h>

#include "err.h"
#include "estimate.h"

struct json;

enum vocab_kind {
    VOCAB_LITERAL,
    VOCAB_WORD,   /* {{list}}: a word of it */
    VOCAB_AGAIN,  /* {{=list}}: the word last taken from it */
    VOCAB_NUMBER, /* {{number 1 900}} */
    VOCAB_HEX,    /* {{hex 8}}: that many digits */
    VOCAB_CODE,   /* {{code BX-####}}: # digit, @ capital, * digit or small letter */
    VOCAB_DATE,   /* {{date}}: 2024-03-09; an entry is always later than the one before */
    VOCAB_TIME    /* {{time}}: 14:05:33 */
};

struct vocab_piece {
    enum vocab_kind kind;
    char *text; /* literal or form */
    size_t len, list;
    long from, to;
    struct estimate tokens; /* of a literal */
};

struct vocab_line {
    struct vocab_piece *pieces;
    size_t n, cap;
};

/* One kind of entry: its lines, then a row line repeated. */
struct vocab_form {
    char *kind;
    long weight;
    struct vocab_line *lines;
    size_t n_lines;
    struct vocab_line row;
    long min_rows, max_rows;
};

struct vocab_list {
    char *name;
    char **words;
    size_t *lengths;
    struct estimate *tokens; /* of each word */
    size_t n;
};

#define VOCAB_MAX_LISTS 64

struct vocab {
    struct vocab_list lists[VOCAB_MAX_LISTS];
    size_t n_lists;
    struct vocab_form *forms;
    size_t n_forms;
    long weights; /* their sum, above 0 */
};

/* Reads {"words": {...}, "forms": [...]}. Empty *v before. -1 with an error that names the place
 * below `path`; *v is to be released then, too. */
int vocab_read(struct vocab *v, const struct json *tree, const char *path,
               struct err *err) MUST_CHECK;
void vocab_release(struct vocab *v);

#endif
