/* cells.h - the cells of a plan as a growing table of levels. */
#ifndef CELLS_H
#define CELLS_H

#include <stddef.h>

#include "err.h"

struct planfile;

#define CELLS_ANY ((size_t)-1) /* in a pattern: any level */

/* The first cell that agrees with the pattern, or -1. */
long cells_find(const struct planfile *p, const size_t *pattern);

/* Adds a cell that is not there yet. */
void cells_add(struct planfile *p, const size_t *levels);

/* Takes out the cells that agree with the pattern. */
void cells_drop(struct planfile *p, const size_t *pattern);

/* In place of what is there: all combinations, the last factor changing fastest. Error: status 2 if
 * there are more than PLANFILE_MAX_CELLS. */
int cells_add_all(struct planfile *p, struct err *err) MUST_CHECK;

/* Adds every change of one factor of `baseline`. */
void cells_add_single_changes(struct planfile *p, const size_t *baseline);

#endif
