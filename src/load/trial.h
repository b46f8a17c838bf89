/* trial.h - one chat request at a time, waited for: for probes, not for load. */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>

#include "buf.h"
#include "err.h"

struct chat_request;
struct endpoint;
struct reply;

struct trial {
    struct span body;
    const char *header; /* one more "Name: value" line, or NULL */
    bool stream;
    bool (*stop)(void); /* asked while waiting: true cancels; may be NULL */
};

/* Sends it and waits for the answer, which comes to `r`: initialised here, released by the caller
 * after a failure too. Whatever the endpoint does is in the reply; an error is our own (status 5).
 */
int trial_send(const struct endpoint *ep, const struct trial *t, struct reply *r,
               struct err *err) MUST_CHECK;

/* Adds the body of a request in which the user says `text`; q->messages is set here. */
void trial_body(const struct endpoint *ep, struct chat_request *q, const char *text,
                struct buf *out);

/* 0 if the reply is a chat completion. Else an error of status 3 in plain words, the server's own
 * among them. */
int trial_explain(const struct endpoint *ep, const struct reply *r, struct err *err) MUST_CHECK;

/* The message inside an error body, in one short line without secrets. The caller's. */
char *trial_server_words(const struct endpoint *ep, struct span body);

#endif
