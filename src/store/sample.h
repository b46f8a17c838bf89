/* sample.h - numbers that are collected first and put in order once. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct jsonw;

/* A zeroed struct is empty. */
struct sample {
    double *values;
    size_t n, cap;
};

void sample_add(struct sample *s, double value);
void sample_release(struct sample *s); /* empty afterwards */

/* Puts the values in order, upwards. NaN is no value. */
void sample_sort(struct sample *s);

/* Adds `[q1, ..., n]` of a sorted sample: its quantiles, then how many values there are. */
void sample_write(const struct sample *s, const double *quantiles, size_t n, struct jsonw *w);

/* Sorts `n` numbers upwards by what is left of them above `shift` bits; equals keep their order. */
void sample_sort_bits(uint64_t *values, size_t n, int shift);

#endif
