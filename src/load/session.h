/* session.h - one conversation with the endpoint, as a state machine. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

struct outcome;
struct progress;
struct reply;
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

/* Judges what came into session_reply(), which is emptied. True when another request should be
 * sent. */
bool session_advance(struct session *s);

/* What became of it, after session_advance() said false. The caller's. */
struct outcome *session_outcome(struct session *s);

/* Adds the first request of session `number`, for people to read. */
void session_preview(const struct settings *s, long number, struct buf *out);

#endif
