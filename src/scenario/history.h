/* history.h - captured conversations as a source of scenarios. */
#ifndef HISTORY_H
#define HISTORY_H

#include "buf.h"
#include "err.h"

/* Adds to `out` a scenario file's text: that of `scenario` (a good one), begun by the captured
 * conversation and with its tools on offer besides the scenario's own, named NAME.history.
 *
 * `captured` is what agents and proxies log: a request body, an array of messages, an object whose
 * member "request" is such a body, or lines of any of these, of which the one with the most
 * messages is taken. Messages and tools are kept byte for byte. At the end, calls without results
 * are left out, since servers refuse them. Error: status 2, naming what is wrong. */
int history_begin(struct span scenario, struct span captured, struct buf *out,
                  struct err *err) MUST_CHECK;

#endif
