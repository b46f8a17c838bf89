/* survival.c - Kaplan-Meier and log-rank where time is counted in rounds. */
#include "survival.h"

#include <math.h>

void survival_kaplan_meier(const struct survival_round *rounds, size_t count,
                           struct survival_point *out)
{
    double clean = 1, sum = 0;
    for (size_t i = 0; i < count; i++) {
        double d = (double)rounds[i].corrupted, r = (double)rounds[i].at_risk;
        if (d < 0 || d > r) {
            clean = NAN;
        } else if (r > 0) {
            clean *= 1 - d / r;
            sum += d / r / (r - d); /* 0/0 or infinite at d = r */
        }
        out[i].clean = clean;
        out[i].se = clean > 0 ? clean * sqrt(sum) : NAN;
    }
}

struct survival_logrank survival_logrank_test(const struct strata_table *rounds, size_t count)
{
    struct strata_cmh r = strata_cmh_test(rounds, count);
    return (struct survival_logrank){r.chi2, r.p};
}
