/* hook.h - runs the user's executable that starts, stops and describes a configuration. */
#ifndef HOOK_H
#define HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

/* Most bytes kept of what a hook prints; the first ones. */
#define HOOK_OUTPUT_BYTES (1u << 20)

struct hook_request {
    const char *path;
    const char *action;           /* "apply", "collect", "stop": its one argument */
    const char *const *variables; /* "NAME=VALUE", beside this program's own environment */
    size_t n_variables;
    int64_t limit_us;      /* then its whole process group is ended */
    bool (*stopped)(void); /* true ends it early; may be NULL */
};

struct hook_result {
    bool failed;
    char end[80];   /* "exit status 0", "killed by signal 9", "took longer than 60 s" */
    char tail[240]; /* the last line it printed, for messages */
    int64_t elapsed_us;
    struct buf output; /* standard output and error together */
};

/* Runs it in a process group of its own, standard input empty, output in a file without a name, so
 * that a server which it leaves behind can go on printing. The group is ended when the time is up
 * or the hook failed; what a hook that succeeded left behind stays. -1 if it can't be run at all;
 * `r` is to be released in every case. */
int hook_run(const struct hook_request *q, struct hook_result *r, struct err *err) MUST_CHECK;
void hook_release(struct hook_result *r);

/* The value of the last line "key=value" of that key, without blanks around it; empty with data
 * NULL if there is none. Borrowed. */
struct span hook_value(struct span output, const char *key);

#endif
