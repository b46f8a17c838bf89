/* answer.h - what will be said to one request, and how the exchange will end. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdbool.h>

#include "buf.h"
#include "reply.h"

struct ask;

enum ending {
    ENDS_WELL,
    ENDS_RESET,   /* the connection closes before any byte */
    ENDS_CUT,     /* it closes inside the answer */
    ENDS_STALL,   /* it stays open and silent */
    ENDS_TRICKLE, /* words come for ever, slowly */
    ENDS_ENDLESS, /* one line that never ends */
    ENDS_TAIL,    /* `tail` comes, then a proper end of the stream */
    ENDS_TAIL_CUT /* `tail` comes, then the connection closes */
};

struct answer {
    struct reply said; /* content, reasoning, calls, finish, usage; the rest is not used */

    /* With `whole`, the answer is `body` as it stands, not a chat completion. */
    bool whole;
    int status;
    const char *content_type;
    long retry_after_s; /* header Retry-After; -1: none */
    struct buf body;

    enum ending ending;
    unsigned after_permille; /* how much of the text is said before the ending; 0: no byte */
    struct buf tail;
};

void answer_init(struct answer *a);
void answer_release(struct answer *a);

/* Sets the finish reason. */
void answer_finish(struct reply *said, const char *reason);

/* Fills in what the perfect reply leaves open: finish reason and usage. */
void answer_complete(struct answer *a, const struct ask *ask);

/* About how many tokens a text has: what the endpoint counts and how it cuts texts into chunks. */
long answer_tokens(const struct reply *said);
#define ANSWER_TOKEN_BYTES 4

/* Makes it a whole body of JSON in the form of an API error. */
void answer_error(struct answer *a, int status, const char *type, const char *code,
                  const char *message);

/* Adds that JSON object. `type` and `code` may be NULL. */
void answer_add_error(struct buf *out, const char *type, const char *code, const char *message);

#endif
