/* fill.h - what a scenario's references stand for in one session. */
#ifndef FILL_H
#define FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "token.h"

struct template;
struct values;

/* A token in use: slot number = place in the list. */
struct fill_slot {
    size_t value;
    long index;
    int round; /* of first use */
};

/* Made with the first members set and the rest zero; nothing in it needs freeing. */
struct fill {
    const struct values *values;
    const struct token_key *key;
    uint64_t seed;
    long session;
    struct span context; /* what {{context}} stands for */
    size_t context_at;   /* where in its text that was last put, and how often it was */
    int n_contexts;
    long i, last; /* of the step that is being written */
    int round, rounds;
    struct fill_slot slots[TOKEN_MAX_SLOT];
    int n_slots;
    bool bad_index; /* some index was below 0 */
};

/* The most bytes that one text of a file may grow to without its context. */
#define FILL_MAX_BYTES (1u << 20)

/* Adds the filled text to `out`. Tokens get the next free slot on their first use; when all slots
 * are in use, further ones have the same look but name no owner. */
void fill_text(struct fill *f, const struct template *t, struct buf *out);

/* The same as a string of the caller's. */
char *fill_string(struct fill *f, const struct template *t);

#endif
