/* effects.h - what each factor of a crossed sweep does to the rate. */
#ifndef EFFECTS_H
#define EFFECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "andset.h"
#include "dispersion.h"
#include "rate.h"
#include "verdict.h"

struct matrix;

/* A level against the baseline's level of the same factor, within each setting of the other factors
 * (one stratum per setting): exact conditional mid-p, Mantel-Haenszel difference, Holm over all
 * effects; p_starts is the same difference against the noise between server starts. */
struct effect {
    size_t factor, level;
    size_t n_strata;      /* settings of the others that have both levels */
    double diff;          /* level less baseline's level */
    struct interval ci95; /* of diff, widened by the noise */
    double p, p_holm, p_starts;
    enum verdict verdict; /* REGRESSED, IMPROVED, SUGGESTIVE, INCONCLUSIVE, NOTHING REPRODUCED */
};

/* Does the rate rise with a factor whose levels are numbers of sessions in flight? Cochran and
 * Armitage over log2(level), and 1 against more than 1; Holm over the two. Pooled over the settings
 * of the other factors that have every level. */
struct load_trend {
    bool valid;
    size_t factor;
    double z, p_holm, p_starts;         /* over log2(level) */
    bool has_contrast;                  /* a level is 1, and there are two more */
    double contrast_z, contrast_p_holm; /* more than 1 against 1 */
};

struct effects {
    struct effect *list;
    size_t n;
    double phi, df; /* noise between server starts, and the df behind it */
    struct load_trend trend;
    struct andset set;
};

/* Over the cells that were judged. The caller's, to be freed by effects_free(). */
struct effects *effects_new(const struct matrix *m, const struct dispersion_prior *prior);
void effects_free(struct effects *e);

#endif
