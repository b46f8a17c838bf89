/* matrix.h - the result of a sweep: its cells against the baseline, what each factor does, and
 * which settings must come together. */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct buf;
struct compare;
struct comparison;
struct effects;
struct figures;
struct jsonw;
struct report_style;
struct store;

#define MATRIX_MAX_FACTORS 16

struct matrix_cell {
    const char *name, *reasons; /* reasons: "leak.markup 4, no_tool.prose 1" */
    bool baseline;
    long corrupt, judged, errors;
    size_t n_starts;
    long *x, *n; /* of each start, in the order of the schedule */
    size_t levels[MATRIX_MAX_FACTORS];
    const struct comparison
        *against; /* the baseline; NULL for itself, and without judged sessions */
};

struct matrix_factor {
    char *name;
    char **levels;
    size_t n_levels, cap;
    size_t reference; /* the baseline's level */
};

struct matrix {
    struct figures *figures; /* reports/sweep.sql */
    double margin, alpha;
    bool one_server;           /* no hook restarted it: all is said of the server that ran */
    char *not_compared;        /* why the cells could not be compared; or NULL */
    long n_planned, n_missing; /* starts */
    struct matrix_factor *factors;
    size_t n_factors, factors_cap;
    struct matrix_cell *cells;
    size_t n_cells;
    const struct matrix_cell *baseline; /* NULL if none */
    struct compare *compare;            /* NULL if there is nothing to compare */
    struct effects *effects;
};

/* Reads and decides. `n_planned` starts were planned. `m` is zeroed; release it after a failure
 * too. */
int matrix_read(struct matrix *m, struct store *s, long sweep, long n_planned,
                struct err *err) MUST_CHECK;
void matrix_release(struct matrix *m);

/* True if no session of any cell was corrupted. */
bool matrix_is_clean(const struct matrix *m);

/* True if some cell corrupts more than the baseline. */
bool matrix_has_regression(const struct matrix *m);

/* matrix_text.c, matrix_json.c: for people, for an issue, for programs. */
void matrix_write_text(const struct matrix *m, const struct report_style *style, struct buf *out);
void matrix_write_md(const struct matrix *m, struct buf *out);
void matrix_write_json(const struct matrix *m, struct jsonw *w);

#endif
