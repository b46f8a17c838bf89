/* cell_options.h - one cell of a plan as options of `run`: what the plan says, what the cell's
 * levels say, what the sweep adds. */
#ifndef CELL_OPTIONS_H
#define CELL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "run_options.h"

struct planfile;

struct cell_options {
    char **words; /* the command line behind "toolstorm run" */
    size_t n_words, cap;
    struct run_options run; /* borrows from words */
};

struct cell_request {
    const struct planfile *plan;
    const size_t *levels;     /* one per factor */
    const char *const *words; /* further words, the last of their name counts */
    size_t n_words;
};

/* Builds and checks. Error: status 2. `o` is to be released in every case. */
int cell_options_init(struct cell_options *o, const struct cell_request *q,
                      struct err *err) MUST_CHECK;
void cell_options_release(struct cell_options *o);

/* Is the factor an option of `run`, rather than a setting of the server? */
bool cell_options_is_option(const char *factor);

/* All cells' options, and their scenarios, before anything is started. */
int cell_options_check(const struct planfile *plan, struct err *err) MUST_CHECK;

#endif
