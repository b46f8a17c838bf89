/* engine.h - the product's engine without sessions, judge and store: wire alone. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>

#include "err.h"

struct tally;

struct engine_job {
    const char *url; /* base URL of the endpoint */
    long sessions, requests, body_bytes;
    int threads;
    bool paced; /* events carry the moment at which they were written */
    bool trees; /* a tree for each event: the decoder without its short cut */
    bool insecure;
};

int engine_run(const struct engine_job *job, struct tally *t, struct err *err) MUST_CHECK;

#endif
