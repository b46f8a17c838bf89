/* noise.c - groups earlier runs by configuration and adds up their dispersion. */
#include "noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "mem.h"

#define PRIOR_DF        4
#define PRIOR_PHI       1.25
#define MOST_HISTORY_DF 60

int noise_read(struct store *s, const char *without, struct dispersion_prior *prior,
               struct err *err)
{
    *prior = (struct dispersion_prior){.df = PRIOR_DF, .phi = PRIOR_PHI};
    struct figures f = {0};
    struct binding b = {.name = "runs", .text = without};
    if (figures_read(&f, s, "reports/history.sql", &b, 1, err) != 0) {
        figures_release(&f);
        return -1;
    }
    const struct section *starts = figures_get(&f, "starts");
    long *x = mem_zero(starts->n_rows, sizeof *x), *n = mem_zero(starts->n_rows, sizeof *n);
    for (size_t from = 0, to; from < starts->n_rows && prior->history_df < MOST_HISTORY_DF;
         from = to) {
        const char *config = figures_text(starts, from, "config");
        for (to = from;
             to < starts->n_rows && strcmp(figures_text(starts, to, "config"), config) == 0; to++) {
            x[to - from] = figures_long(starts, to, "corrupt");
            n[to - from] = figures_long(starts, to, "judged");
        }
        struct dispersion d = dispersion_chi2(x, n, to - from);
        if (!isnan(d.chi2)) {
            prior->chi2 += d.chi2;
            prior->history_df += d.df;
        }
    }
    free(x);
    free(n);
    figures_release(&f);
    return 0;
}
