/* trend.h - does the rate rise with a level (of load, say). */
#ifndef TREND_H
#define TREND_H

#include <stddef.h>

struct trend {
    double z; /* positive: the rate rises with the score */
    double p; /* two-sided, normal */
};

/* Cochran and Armitage: x[i] corrupted of n[i] at score[i]; variance PQ (sum n s^2 - (sum n s)^2/N)
 * without N/(N - 1). For in-flight levels score with log2(level). No spread in scores or outcomes:
 * z = 0, p = 1. Impossible counts or no sessions: NaN. */
struct trend trend_cochran_armitage(const long *x, const long *n, const double *score,
                                    size_t count);

#endif
