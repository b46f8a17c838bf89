/* cells.c - combinations of levels. Pure. */
#include "cells.h"

#include <stdbool.h>
#include <string.h>

#include "mem.h"
#include "planfile.h"

static bool agrees(const struct planfile *p, size_t cell, const size_t *pattern)
{
    const size_t *levels = planfile_cell(p, cell);
    for (size_t i = 0; i < p->n_factors; i++)
        if (pattern[i] != CELLS_ANY && pattern[i] != levels[i])
            return false;
    return true;
}

long cells_find(const struct planfile *p, const size_t *pattern)
{
    for (size_t c = 0; c < p->n_cells; c++)
        if (agrees(p, c, pattern))
            return (long)c;
    return -1;
}

void cells_add(struct planfile *p, const size_t *levels)
{
    if (cells_find(p, levels) >= 0)
        return;
    size_t base = p->n_cells++ * p->n_factors;
    for (size_t i = 0; i < p->n_factors; i++) {
        p->cells = mem_grow(p->cells, &p->cells_cap, base + i, sizeof *p->cells);
        p->cells[base + i] = levels[i];
    }
}

void cells_drop(struct planfile *p, const size_t *pattern)
{
    size_t kept = 0;
    for (size_t c = 0; c < p->n_cells; c++) {
        if (agrees(p, c, pattern))
            continue;
        memmove(p->cells + kept++ * p->n_factors, p->cells + c * p->n_factors,
                p->n_factors * sizeof *p->cells);
    }
    p->n_cells = kept;
}

int cells_add_all(struct planfile *p, struct err *err)
{
    size_t levels[PLANFILE_MAX_FACTORS] = {0}, total = 1;
    for (size_t i = 0; i < p->n_factors; i++) {
        total *= p->factors[i].n_levels;
        if (total > PLANFILE_MAX_CELLS)
            return err_set(
                err, STATUS_USAGE,
                "the full matrix has more than %d cells; \"cells\": \"one-at-a-time\" has "
                "fewer, and is all that isolate needs",
                PLANFILE_MAX_CELLS);
    }
    p->n_cells = 0;
    for (size_t n = 0; n < total; n++) {
        size_t rest = n;
        for (size_t i = p->n_factors; i-- > 0;) {
            levels[i] = rest % p->factors[i].n_levels;
            rest /= p->factors[i].n_levels;
        }
        cells_add(p, levels);
    }
    return 0;
}

void cells_add_single_changes(struct planfile *p, const size_t *baseline)
{
    size_t levels[PLANFILE_MAX_FACTORS];
    for (size_t i = 0; i < p->n_factors; i++)
        for (size_t k = 0; k < p->factors[i].n_levels; k++) {
            memcpy(levels, baseline, p->n_factors * sizeof *levels);
            levels[i] = k;
            cells_add(p, levels);
        }
}
