/* replay.h - stored requests sent again: one is watched, others may keep the endpoint busy. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct endpoint;
struct expect;
struct judge;
struct toolset;

/* Everything in it is borrowed. */
struct replay_request {
    struct span body;
    const char *header; /* one more "Name: value" line, or NULL */
};

struct replay {
    const struct endpoint *endpoint;
    const struct judge *judge;
    const struct toolset *toolset;
    const struct expect *expect; /* of the watched request */
    /* Sent one after the other. */
    const struct replay_request *watched;
    size_t times;
    /* Sent over and over while the others are watched, `crowd_in_flight` at a time; their answers
     * are thrown away. */
    const struct replay_request *crowd;
    size_t n_crowd, crowd_in_flight;
    bool stream;
    bool (*stop)(void); /* asked while waiting: true cancels; may be NULL */
};

struct replayed {
    long corrupt, judged, errors; /* of the watched ones */
    char error[160];              /* what the first error was; "" if there was none */
};

/* Plays it to its end on a loop of its own. Whatever the endpoint does is in the counts; an error
 * is our own (status 5). */
int replay_play(const struct replay *r, struct replayed *result, struct err *err) MUST_CHECK;

#endif
