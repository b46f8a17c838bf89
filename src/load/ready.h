/* ready.h - waits until an endpoint can do what a run needs: health, then a completion, then one
 * right tool call. */
#ifndef READY_H
#define READY_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct endpoint;

struct ready_request {
    const struct endpoint *endpoint;
    const char *model;  /* NULL: the first that the endpoint lists */
    int64_t limit_us;   /* give up after so long */
    int64_t period_us;  /* between two tries */
    bool tool_call;     /* demand a right tool call too */
    bool (*stop)(void); /* asked between tries: true gives up at once; may be NULL */
    void (*tell)(void *arg,
                 const char *what); /* one line when what is waited for changes; or NULL */
    void *arg;
};

/* 0 when ready, *model (if not NULL) being the name of the model, the caller's. Else -1 with an
 * error of status 3: the last failure in plain words, and how long was waited. */
int ready_wait(const struct ready_request *r, char **model, struct err *err);

#endif
