/* step.h - reads the steps of a scenario file. */
#ifndef STEP_H
#define STEP_H

#include "buf.h"
#include "err.h"

struct json;
struct script;

/* Reads the list "steps" (raw text and tree) into *s, whose values and tools are there already. */
int step_read_all(struct script *s, struct span raw, const struct json *list,
                  struct err *err) MUST_CHECK;
void step_release_all(struct script *s);

#endif
