/* noise.h - how much rates scatter from one server start to the next, by all that is stored. */
#ifndef NOISE_H
#define NOISE_H

#include "dispersion.h"
#include "err.h"

struct store;

/* The weak prior (4 df at 1.25) and the database's history: the dispersion of every group of
 * repeats of one configuration, newest first, up to 60 df. Runs of the JSON list `without` are left
 * out. */
int noise_read(struct store *s, const char *without, struct dispersion_prior *prior,
               struct err *err) MUST_CHECK;

#endif
