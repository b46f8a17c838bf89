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

#endif
