/* judge_input.h - files, directories and standard input, as replies to be judged. */
#ifndef JUDGE_INPUT_H
#define JUDGE_INPUT_H

#include <stdbool.h>

#include "err.h"
#include "paircase.h"

/* Where a reply comes from. */
struct judge_place {
    const char *file;
    long line;   /* 0 = the whole file */
    bool logged; /* a line of a log: what is wrong with it is nobody's fault here */
};

struct judge_input {
    struct pair_options pair;
    enum body_form form; /* BODY_AS_SEEN: a file's content says what it is */
    bool strict;         /* a line of a log that can't be used ends it all */
    /* Takes a reply; the case stays the reader's. */
    int (*take)(void *arg, struct casefile *c, const struct judge_place *at, struct err *err);
    /* Takes note of a line of a log that can't be used. */
    int (*skip)(void *arg, const struct judge_place *at, const char *why, struct err *err);
    void *arg;
};

/* Reads a file, "-" (standard input), or every file of a directory, in the order of their names,
 * hidden ones left out. A file is lines (cases, or a log's pairs) if it is called so or its first
 * line looks so, and else one body. Errors of status 2 name file and line. */
int judge_input_read(const struct judge_input *in, const char *path, struct err *err) MUST_CHECK;

#endif
