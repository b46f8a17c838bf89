/* quality.h - how well the judge judges: figures, not examples. Part of the quality target only. */
#ifndef QUALITY_H
#define QUALITY_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct judge;
struct toolset;
struct verdict;

/* What every measurement judges with: one judge, two tools on offer. */
struct bench {
    struct judge *judge;
    struct toolset *tools;
    int failures; /* figures that were missed */
};

/* Judges `text` as the content of a complete answer in which no call was due. */
void bench_text(const struct bench *b, struct span text, struct verdict *v);

/* The same text as the one argument of a right call. */
void bench_args(const struct bench *b, struct span text, struct verdict *v);

/* Judges and forgets: true if it is called a leak. */
bool bench_leaks(const struct bench *b, struct span text);

/* Prints a line; a figure above its limit is marked and counted. */
void bench_figure(struct bench *b, const char *what, double got, double limit, const char *unit);

void measure_families(struct bench *b); /* family.c */
void measure_cases(struct bench *b);    /* corpus.c */
void measure_splits(struct bench *b);   /* corpus.c */
void measure_honest(struct bench *b);   /* honest.c */
void measure_time(struct bench *b);     /* quality.c */

#endif
