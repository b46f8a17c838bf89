/* planfile.h - a plan file: which configurations of a server are tried, and how. */
#ifndef PLANFILE_H
#define PLANFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct buf;

#define PLANFILE_MAX_BYTES   (1u << 20)
#define PLANFILE_MAX_CELLS   4096
#define PLANFILE_MAX_FACTORS 16

struct factor {
    char *name;
    char *variable; /* "TOOLSTORM_FACTOR_GRAPH" */
    char **levels;
    size_t n_levels, cap;
};

struct planfile {
    char *name;
    char *endpoint; /* or NULL */
    char *hook;     /* path of the executable, or NULL */
    struct factor *factors;
    size_t n_factors, factors_cap;
    size_t *cells; /* the level of each factor, cell by cell */
    size_t n_cells, cells_cap;
    size_t baseline; /* its cell */
    long blocks;
    uint64_t order_seed;
    char **run_words; /* options of `run` as words of a command line */
    size_t n_run_words, run_words_cap;
    int64_t apply_us, collect_us, stop_us, ready_us;
    bool go_on_after_failure, ready_tool_call;
    double margin, alpha, p0;
    long step_cap;
    char *text; /* the whole plan as compact JSON, without secrets */
};

/* Reads a file. `more` are words of options of `run` that join those of the file. Checks the schema
 * and the sense; whether options of `run` exist is the caller's to check. Error: status 2, naming
 * file and place. `p` is zeroed; release it after a failure too. */
int planfile_read(struct planfile *p, const char *path, const char *const *more, size_t n_more,
                  struct err *err) MUST_CHECK;
void planfile_release(struct planfile *p);

/* Adds "idxk=bf16,graph=on", for cells and for any levels. */
void planfile_cell_name(const struct planfile *p, const size_t *levels, struct buf *out);
const size_t *planfile_cell(const struct planfile *p, size_t cell);

/* Number of the factor, or -1. */
long planfile_factor(const struct planfile *p, const char *name);

#endif
