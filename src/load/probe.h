/* probe.h - what the endpoint is, before any load. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

#include "err.h"

struct buf;
struct endpoint;

/* Asks the routes that say what a server is (/models, /version, ...), a few seconds at the most.
 * Adds one JSON object, route to answer, to *facts; routes that do not exist or are slow are left
 * out. *model, if NULL, becomes the first model's name (the caller's); if that can't be learnt, the
 * error, of status 3, says what came instead. With a model nothing here is an error. */
int probe_facts(const struct endpoint *ep, struct buf *facts, char **model, struct err *err);

/* The first step of that alone, for who asks again and again: no connection and a refused key are
 * errors with a model, too. *status is the HTTP status of /models, 0 if there was no answer. */
int probe_model(const struct endpoint *ep, char **model, int *status, struct err *err);

/* One tiny completion, so that a wrong path, model or key shows before the load does. `stop`, which
 * may be NULL, is asked while waiting: true gives up. Error: status 3 with the server's own words.
 */
int probe_completion(const struct endpoint *ep, const char *model, bool (*stop)(void),
                     struct err *err);

#endif
