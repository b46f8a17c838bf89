/* difference.h - intervals of the difference and the ratio of two rates.
 *
 * x1 of n1 and x2 of n2, 0 <= x <= n, n >= 1, conf in (0, 1); anything else gives NaN ends. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "rate.h"

struct difference_arms {
    long x1, n1;
    long x2, n2;
};

/* p1 - p2, Newcombe 1998 (method 10): Wilson intervals of the arms joined. */
struct interval difference_newcombe(struct difference_arms arms, double conf);

/* The same on x/phi and n/phi with Student's t at `df` in place of z (infinite: z); phi > 0. For
 * arms whose server starts scatter phi times more than one rate alone would make them. */
struct interval difference_newcombe_noise(struct difference_arms arms, double phi, double df,
                                          double conf);

enum difference_variance {
    VARIANCE_PLAIN,     /* Mee 1984 */
    VARIANCE_CORRECTED, /* times N/(N - 1): Miettinen and Nurminen 1985 */
};

/* p1 - p2, by inverting the score test with the rates constrained to the tested difference. */
struct interval difference_score(struct difference_arms arms, double conf,
                                 enum difference_variance variance);

/* p1/p2, Miettinen and Nurminen's score with N/(N - 1). x1 = 0: low is 0; x2 = 0: high is
 * infinite. */
struct interval difference_ratio(struct difference_arms arms, double conf);

#endif
