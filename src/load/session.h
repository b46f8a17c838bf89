/* session.h - one conversation with the endpoint, as a state machine. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct http_body;
struct outcome;
struct progress;
struct reply;
struct session;
struct settings;

/* Conversation number `number` (from 1) of the scenario; its text depends on (seed, number) alone.
 * Borrows settings, progress and the run's `beginning` (request_beginning(), or empty) for its
 * whole life. */
struct session *session_new(const struct settings *s, struct progress *progress,
                            struct span beginning, long number, long start_order);
void session_free(struct session *s);

/* The next request: its body, and the header that names the session. Borrowed until the next call
 * of session_advance(). */
struct http_body session_body(const struct session *s);
const char *session_header(const struct session *s);

/* Where the answer goes; initialised and empty. */
struct reply *session_reply(struct session *s);

/* Call when the request is handed to the wire. */
void session_sent(struct session *s);

/* What became of the request whose answer is in session_reply(). */
enum session_step {
    SESSION_OVER,  /* ask for session_outcome() */
    SESSION_SEND,  /* send the next request: session_body() */
    SESSION_RESEND /* the endpoint was overloaded: send session_body() again after *wait_us */
};

/* Takes in what came into session_reply(), which is emptied, and judges it. A twin, the same
 * request in the other form, follows each request if the settings want it: it is judged by the same
 * expectations and stored, and changes neither the session's class nor its history. */
enum session_step session_advance(struct session *s, int64_t *wait_us);

/* What became of it, after SESSION_OVER. The caller's. */
struct outcome *session_outcome(struct session *s);

#endif
