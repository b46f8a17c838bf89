/* looks.h - p-value thresholds for looking at a comparison after each of K equal blocks. */
#ifndef LOOKS_H
#define LOOKS_H

#define LOOKS_MAX 20

/* Both find their constant by recursive numerical integration (Armitage, McPherson and Rowe 1969)
 * over equally informative, two-sided looks, to about 1e-6. looks from 1 to LOOKS_MAX, alpha in
 * (0, 1/2); outside: NaN. */

/* Pocock 1977: the same nominal p at each look. */
double looks_pocock(long looks, double alpha);

/* O'Brien and Fleming 1979: the nominal p of each look, strict at first. Writes `looks` values, as
 * far as looks <= LOOKS_MAX. */
void looks_obrien_fleming(long looks, double alpha, double *out);

#endif
