/* run_record.h - the run's own row: everything that was asked, nothing that is secret. */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "err.h"

struct run_setup;
struct store;

/* The command line as text, with header values and keys replaced. The caller's. */
char *run_record_command(const struct run_setup *s, int argc, char **argv);

/* Stores the run; returns its number or -1. */
long run_record_begin(struct store *store, const struct run_setup *s, const char *command,
                      struct err *err);

/* Whether this setup is the one that `run` was begun with: its options, tags, scenario, model and
 * judge. If not, an error of status 2 names what differs. */
int run_record_check(struct store *store, long run, const struct run_setup *s,
                     struct err *err) MUST_CHECK;

#endif
