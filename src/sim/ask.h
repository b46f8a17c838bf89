/* ask.h - one chat request as the simulated endpoint sees it. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

#define ASK_MAX_NAME 128 /* bytes of a scenario's, boot's or model's name, the NUL included */

struct ask {
    /* Who asks, from SIM_SESSION_HEADER. Unnamed: a client that is not toolstorm. */
    bool named;
    char scenario[ASK_MAX_NAME], boot[ASK_MAX_NAME];
    uint64_t seed;
    long session, sessions; /* sessions 0: not said */
    int round, rounds;
    bool replay; /* a round that was played before is sent again */
    long context;

    /* What is asked for. */
    char model[ASK_MAX_NAME]; /* "" if none was named */
    bool stream, include_usage;
    bool no_calls;      /* tool_choice is "none" */
    long max_tokens;    /* 0: not said */
    long prompt_tokens; /* an estimate from the body's size */
};

/* Reads the header (NULL: unnamed) and the body. Error: status 2, in the words of an API's 400. */
int ask_read(struct ask *a, const char *header, struct span body, struct err *err) MUST_CHECK;

#endif
