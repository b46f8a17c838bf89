/* token.h - planted identifiers that name their owner.
 *
 * A token looks like "K7QPM-2XD9R": ten symbols of Crockford's base 32 (no I, L, O, U) in two
 * groups. It is an encryption, under the run's key, of (session, slot, check bits), so that a token
 * found anywhere says whose it is without a table: constant time and memory however many sessions
 * there are. A text of that shape that nobody planted passes the check once in 262,144. */
#ifndef TOKEN_H
#define TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_LEN         11
#define TOKEN_MAX_SESSION 0xFFFFFFL /* 24 bits */
#define TOKEN_MAX_SLOT    0xFF
#define TOKEN_SLOT_CANARY 0xFF /* slots below are the scenario's, by order of first use */

struct span;

struct token_key {
    uint64_t k[4];
};

/* The key of a run; the same seed gives the same tokens. */
struct token_key token_key(uint64_t seed);

/* Writes the token of (session, slot) and a NUL. */
void token_make(const struct token_key *key, long session, int slot, char out[TOKEN_LEN + 1]);

struct token_owner {
    long session;
    int slot;
};

/* True if the TOKEN_LEN bytes at `text` are a token of this key. Case matters. */
bool token_read(const struct token_key *key, const char *text, struct token_owner *owner);

/* Offset of the first token of this key at or after `from`, standing alone (no letter, digit or '-'
 * glued to it), or -1. */
long token_find(const struct token_key *key, struct span text, size_t from,
                struct token_owner *owner);

#endif
