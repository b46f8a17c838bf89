/* arm.h - one side of a comparison: which runs it has, and what its server starts came to. */
#ifndef ARM_H
#define ARM_H

#include <stddef.h>

#include "err.h"
#include "figures.h"
#include "verdict.h"

struct buf;

struct arm {
    char *name;                 /* as the user typed it */
    char *runs;                 /* their numbers as a JSON list */
    struct figures figures;     /* reports/arm.sql */
    struct verdict_run *starts; /* in the order of the section "starts" */
    size_t n_starts;
    long corrupt, judged, errors;
    long unfinished; /* runs that did not finish */
};

/* `operand` is a label, run numbers ("3" or "3,4,7"), or tags that all must hold ("idxk=bf16,
 * graph=on"). Error: status 2 if no run is meant, naming what there is. */
int arm_read(struct arm *a, struct store *s, const char *operand, struct err *err) MUST_CHECK;
void arm_release(struct arm *a);

/* Adds the numbers of the runs that an operand means, comma separated. */
int arm_find(struct store *s, const char *operand, struct buf *list, struct err *err) MUST_CHECK;

/* Sessions of the arm with this reason. */
long arm_reason(const struct arm *a, const char *reason);

#endif
