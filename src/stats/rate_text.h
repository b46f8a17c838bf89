/* rate_text.h - counts, rates, differences and p-values as every report prints them.
 *
 * Each function writes into the caller's buffer of `size` bytes (RATE_TEXT_SIZE is always enough),
 * NUL-terminated, and returns the buffer. Counts come first, interval ends are rounded outward; one
 * decimal below n = 1000, two from there, three from 100000. */
#ifndef RATE_TEXT_H
#define RATE_TEXT_H

#include <stddef.h>

#include "rate.h"

#define RATE_TEXT_SIZE 128

/* "2/40 = 5.0% [0.6, 17.0]" with the 95% Clopper-Pearson interval; for x = 0 the one-sided bound:
 * "0/60: below 4.9% (95% upper bound)". Impossible counts: "x/n: no rate". */
char *rate_text(char *out, size_t size, long x, long n);

/* The same with an interval of the caller's (pooled repeats). For x = 0 `bounds.high` must be the
 * one-sided bound already. */
char *rate_text_with(char *out, size_t size, long x, long n, struct interval bounds);

/* "-7.5 pp [-17.4, +2.2]": a difference of rates with its interval, in percentage points. `n` is
 * the smaller arm. NaN: "n/a". */
char *rate_text_difference(char *out, size_t size, double diff, struct interval bounds, long n);

/* "15.0%", rounded to nearest; NaN: "n/a". */
char *rate_text_percent(char *out, size_t size, double rate, long n);

/* "p=0.071": two significant digits; "p<0.0001" below that, never zero; NaN: "p=n/a". */
char *rate_text_p(char *out, size_t size, double p);

#endif
