/* play.h - a session's copy of a scenario, as the files of this layer see it. */
#ifndef PLAY_H
#define PLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "expect.h"
#include "message.h"
#include "token.h"

struct fill_slot;
struct scenario;
struct script_step;

struct play_round {
    const struct script_step *step;
    size_t first, n_calls;  /* its calls within the session's */
    const char *say;        /* text of the right reply; NULL if none */
    const char *final_text; /* NULL for calls */
    const char *user_after; /* what the user says next; NULL if nothing */
    bool repeats_call;      /* it demands a call that was made before */
    bool untold;            /* it demands a token that nothing before it holds */
    long tokens_before;     /* estimate of the request's size */
};

struct play {
    const struct scenario *sc;
    const struct token_key *key;
    uint64_t seed;
    long session, n_sessions, context_tokens;
    char canary[TOKEN_LEN + 1];
    struct message opening[2];
    size_t n_opening;
    long opening_tokens; /* estimated */
    struct play_round *plan;
    int n_rounds;
    bool whole; /* the last round is the scenario's last step */
    /* The calls of all rounds, in order; arrays apart because struct expect wants them so. */
    struct expect_call *calls;
    const char **args;    /* whole arguments of the right call */
    const char **results; /* what the tool says to it */
    size_t n_calls;
    struct expect_literal *literals;
    size_t n_literals;
    const char *wrong_call, *missing_call;
    char **owned; /* every text above */
    size_t n_owned, owned_cap;
    struct fill_slot *slots;
    int n_slots;
    bool bad_index, too_long;
};

#endif
