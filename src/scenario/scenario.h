/* scenario.h - what is said and what must come back, from data files.
 *
 * A `struct scenario` is read once and then constant: all threads share it. A `struct play` is one
 * session's copy of it: every literal filled in from (seed, session) alone. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct buf;
struct expect;
struct message;
struct play;
struct reply;
struct scenario;
struct span;
struct token_key;
struct tool;

/* By the name of a shipped scenario, or by path if the name holds a '/' or ends in ".json". Checks
 * the file against schemas/scenario.schema.json and then its sense (an unknown variable, a call to
 * a tool that is not offered). Error: status 2, naming file and field path. */
struct scenario *scenario_load(const char *name_or_path, struct err *err);
void scenario_free(struct scenario *sc);

/* The same from a file's text; `name` is what errors call it. */
struct scenario *scenario_parse(struct span text, const char *name, struct err *err);

const char *scenario_name(const struct scenario *sc);
const char *scenario_about(const struct scenario *sc);

/* The file's text, to be kept with the run. */
const char *scenario_text(const struct scenario *sc);

/* Adds one line "name  about" per shipped scenario. */
void scenario_list(struct buf *out);

/* The name of shipped scenario number i, or NULL behind the last. */
const char *scenario_shipped(size_t i);

/* Tools on offer; the same for every session. */
const struct tool *scenario_tools(const struct scenario *sc, size_t *n);

/* The "tools" array of a request as JSON text, spacing and key order as in the file. */
const char *scenario_tools_json(const struct scenario *sc);

/* What was said before the session begins: encoded messages, comma separated, as in the file; ""
 * for most scenarios. */
const char *scenario_history(const struct scenario *sc);

/* False if the scenario has no context that could grow: --context has no effect then. */
bool scenario_has_context(const struct scenario *sc);

/* Rounds if --rounds is not given. */
int scenario_default_rounds(const struct scenario *sc);

struct play_settings {
    uint64_t seed;
    int rounds;          /* requests per session at the most; 0 = the scenario's own number */
    long context_tokens; /* about so many tokens of context before the first question */
    long n_sessions;     /* how many sessions the run has; 0 = unknown */
};

/* Session number `session` (from 1) of sc, which is borrowed, as is `key`. */
struct play *play_new(const struct scenario *sc, const struct play_settings *settings,
                      const struct token_key *key, long session);
void play_free(struct play *p);

const char *play_canary(const struct play *p);

/* Requests this session will make if all goes well. */
int play_rounds(const struct play *p);

/* The messages of the first request. Borrowed. */
const struct message *play_opening(const struct play *p, size_t *n);

/* Frees those messages, which may hold a long context: for who has encoded them. */
void play_forget_opening(struct play *p);

/* What round `round` (from 1) must bring. Everything in *e is borrowed from the play. */
void play_expect(const struct play *p, int round, struct expect *e);

/* What the right answer to round `round` looks like: content, or calls with ids. `r` is initialised
 * and empty. This is what the simulated endpoint says. */
void play_perfect(const struct play *p, int round, struct reply *r);

/* The messages that follow the assistant's reply to round `round`: one tool result per call (or the
 * next user message), in the order of the calls. They are the caller's. *n is 0 if the session is
 * over after this round. */
struct message *play_answers(const struct play *p, int round, const struct reply *r, size_t *n);

/* True if a right answer to round `round` ends the session (ok.done); a session whose last asked
 * round is not final ends as ok.maxrounds. */
bool play_is_final(const struct play *p, int round);

/* The round in which the token of `slot` is first used: 0 = opening, or -1 if not known. */
int play_slot_round(const struct play *p, int slot);

#endif
