/* trend.c - linear trend of rates. Scores are centred first, so that large ones cost no digits. */
#include "trend.h"

#include <math.h>

#include "dist.h"

struct trend trend_cochran_armitage(const long *x, const long *n, const double *score, size_t count)
{
    const struct trend none = {NAN, NAN};
    double hit = 0, all = 0, mean = 0;
    for (size_t i = 0; i < count; i++) {
        if (x[i] < 0 || x[i] > n[i] || !isfinite(score[i]))
            return none;
        hit += (double)x[i];
        all += (double)n[i];
        mean += (double)n[i] * score[i];
    }
    if (all == 0)
        return none;
    mean /= all;
    double p = hit / all, up = 0, spread = 0;
    for (size_t i = 0; i < count; i++) {
        double s = score[i] - mean;
        up += s * ((double)x[i] - (double)n[i] * p);
        spread += (double)n[i] * s * s;
    }
    double variance = p * (1 - p) * spread;
    struct trend r = {variance > 0 ? up / sqrt(variance) : 0, 1};
    r.p = 2 * dist_normal_sf(fabs(r.z));
    return r;
}
