/* andset.h - which settings must come together for the damage: the best AND-set by likelihood.
 *
 * For every set S of settings (a level each for some factors) the cells that have all of S share
 * one rate, all others another, lower one; the set under which the counts are likeliest wins, the
 * smallest one on ties. A model of main effects misdescribes an AND, and separates completely. */
#ifndef ANDSET_H
#define ANDSET_H

#include <stdbool.h>
#include <stddef.h>

#define ANDSET_MAX_FACTORS 16
#define ANDSET_MOST_STEPS  50000000 /* sets times cells */
#define ANDSET_ANY         ((size_t)-1)

struct andset_data {
    size_t n_cells, n_factors;
    const size_t *levels;   /* the level of each factor, cell by cell */
    const size_t *n_levels; /* of each factor */
    const long *x, *n;      /* corrupted and judged, of each cell */
};

struct andset {
    bool valid;                        /* false: no counts, or too many sets */
    size_t levels[ANDSET_MAX_FACTORS]; /* ANDSET_ANY for factors that are not in the set */
    size_t size;                       /* factors in it; 0: one rate everywhere fits best */
    long x, n;                         /* corrupted and judged of the cells that have it */
    long x_elsewhere, n_elsewhere;     /* of all others */
    double log_likelihood;
    double lead; /* of it over the next best set; about 3 is 20 to 1 */
};

struct andset andset_best(const struct andset_data *d);

#endif
