/* session.h - one conversation with the endpoint, as a state machine. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct dialect;
struct outcome;
struct play;
struct progress;
struct reply;
struct scenario;
struct session;
struct settings;

/* Conversation number `number` (from 1) of the scenario; its text depends on (seed, number) alone.
 * Borrows settings and progress for its whole life. */
struct session *session_new(const struct settings *s, struct progress *progress, long number,
                            long start_order);
void session_free(struct session *s);

/* The next request: its body, and the header that names the session. Borrowed until the next call
 * of session_advance(). */
struct span session_body(const struct session *s);
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

/* The header line that names a request to the simulated endpoint and to a gateway's log. The
 * caller's. */
struct session_place {
    const struct scenario *scenario;
    uint64_t seed;
    long session;
    int round, rounds;
    long context_tokens;
    bool twin, replay;
};
char *session_name(const struct session_place *p);

/* Adds the messages with which a session of the scenario begins, encoded, to the empty `history`.
 */
void session_open(const struct dialect *d, const struct scenario *sc, const struct play *p,
                  struct buf *history);

/* Adds the first request of session `number`, for people to read. */
void session_preview(const struct settings *s, long number, struct buf *out);

#endif
