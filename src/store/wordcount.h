/* wordcount.h - how often words occur in lists that spaces divide. */
#ifndef WORDCOUNT_H
#define WORDCOUNT_H

#include <stddef.h>

struct jsonw;

/* A zeroed struct is empty. */
struct wordcount {
    struct wordcount_word {
        char *text;
        long n;
    } * all;
    size_t n, cap;
    char *last;   /* the list before, counted once for all its repeats */
    long repeats; /* of it, not counted yet */
};

void wordcount_add(struct wordcount *w, const char *list);

/* Adds an object: each word and how often it came, in the order of first sight. */
void wordcount_write(struct wordcount *w, struct jsonw *out);

void wordcount_release(struct wordcount *w); /* empty afterwards */

#endif
