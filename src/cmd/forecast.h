/* forecast.h - what a cell will cost before it is played: tokens by playing a session in memory,
 * time by what the database remembers. */
#ifndef FORECAST_H
#define FORECAST_H

#include <stdbool.h>

#include "err.h"

struct run_options;
struct store;

struct forecast {
    double sessions, prompt_tokens, completion_tokens, seconds;
    bool measured; /* the seconds rest on earlier sessions of this scenario, not on a guess */
};

/* Adds `sessions` sessions by these options. `store` may be NULL. */
int forecast_add(struct forecast *f, const struct run_options *o, double sessions,
                 struct store *store, struct err *err) MUST_CHECK;

#endif
