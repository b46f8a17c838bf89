/* request.h - what a session sends: the messages so far, and the frame around them. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "http.h"

struct dialect;
struct message;
struct play;
struct scenario;
struct settings;

/* The history may be large: it is written once, and what is said next takes the place of what
 * stands behind the messages. */
struct request {
    const struct settings *settings;
    long session;
    struct span shared;  /* what comes first, if it is worth sharing */
    struct buf own;      /* the rest */
    size_t messages_end; /* in it */
    struct buf tails[2]; /* what follows the messages: in the asked form, in the twin's */
};

/* Opens the zeroed *q with what session `session`, whose play is `p`, begins with. `beginning` is
 * that of the run, or empty; borrowed, as are the settings. */
void request_open(struct request *q, const struct settings *s, const struct play *p, long session,
                  struct span beginning);
void request_release(struct request *q);

void request_say(struct request *q, const struct message *m);

/* Writes what follows the messages, for the asked form or for the twin's. */
void request_finish(struct request *q, bool twin);

/* After request_finish(). Borrowed until more is said. */
struct http_body request_body(const struct request *q);

/* Adds what the requests of sessions `a` and `b` both begin with, as far as it is worth keeping
 * once: a long context that the scenario shares, a captured conversation. Those of further sessions
 * need not begin with all of it. */
void request_beginning(const struct settings *s, long a, long b, struct buf *out);

/* The first request of session `number`, for people to read. */
void request_preview(const struct settings *s, long number, struct buf *out);

/* Adds the messages with which a session of the scenario begins, encoded, to the empty `history`.
 */
void request_history(const struct dialect *d, const struct scenario *sc, const struct play *p,
                     struct buf *history);

/* Session `number`'s copy of the scenario. Without the context it says the same in every round. */
struct play *request_play(const struct settings *s, long number, long context_tokens);

/* The header line that names a request to the simulated endpoint and to a gateway's log. The
 * caller's. */
struct request_place {
    const struct scenario *scenario;
    uint64_t seed;
    long session;
    int round, rounds;
    long context_tokens;
    bool twin, replay;
};
char *request_name(const struct request_place *p);

#endif
