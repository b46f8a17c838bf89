/* outcome.h - a finished session on its way from the worker to the store. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "words.h"

struct http_body;
struct redactor;
struct reply;
struct settings;
struct verdict;
struct session_row;
struct outcome;

/* What is added to it is kept without the secrets of `redactor`, which outlives it. */
struct outcome *outcome_new(const struct redactor *redactor, long session, long start_order,
                            const char *canary);
void outcome_free(struct outcome *o);

/* What a round adds besides the reply and its verdict. Times are clock_mono_us(). */
struct round_facts {
    int round;
    int in_flight_start, in_flight_max;
    int64_t run_start_us;
    int overload_retries; /* times that it was sent again after 429 or 503 */
    bool twin;            /* the answer to the same request in the other form */
    bool keep;            /* evidence */
};

/* Adds a round: copies what the rows need, and takes the raw bytes out of `r` if they are kept. */
void outcome_add_round(struct outcome *o, const struct round_facts *facts, struct http_body request,
                       struct reply *r, const struct verdict *v);

/* The round in which another session's token is first used, for findings that name an owner. */
void outcome_name_owner(struct outcome *o, long owner_session, int owner_slot, int owner_round);

/* Ends it. Times are since the run's start, microseconds. */
struct outcome_end {
    enum reason reason;
    int first_bad_round; /* 0 = none */
    int64_t start_us, end_us;
    bool ramp, warmup;
};
void outcome_end(struct outcome *o, const struct outcome_end *end);

enum reason outcome_reason(const struct outcome *o);

/* Bytes of evidence in it. */
size_t outcome_evidence(const struct outcome *o);

/* Takes the evidence out of its rows; returns the number of exchanges that had some. */
long outcome_drop_evidence(struct outcome *o);

/* The rows, borrowed from the outcome. */
const struct session_row *outcome_row(const struct outcome *o);

#endif
