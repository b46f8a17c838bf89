/* multiple.h - p-values of several comparisons in one report, adjusted.
 *
 * `out` receives `count` adjusted values in the order of `p`; it may be `p` itself. If one of them
 * is not in [0, 1], all results are NaN. */
#ifndef MULTIPLE_H
#define MULTIPLE_H

#include <stddef.h>

/* Holm 1979, for verdicts: bounds the chance of any false one. */
void multiple_holm(const double *p, size_t count, double *out);

/* Benjamini and Hochberg 1995, for screening lists: bounds the share of false ones. */
void multiple_bh(const double *p, size_t count, double *out);

#endif
