/* ledger.h - who was damaged, in which round and how: what the endpoint did, to be held against
 * what a client saw. */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "words.h"

struct buf;
struct ledger;

struct ledger_line {
    const char *scenario; /* NULL: the client did not say who it is; session is the ordinal then */
    uint64_t seed;
    long session;
    int round;
    enum reason reason;
    const char *rule, *family, *boot; /* family may be NULL */
    int inflight;
    long request;
};

/* `path` is appended to; NULL: memory only. Error: status 5. All functions may be called from any
 * thread. */
struct ledger *ledger_new(const char *path, struct err *err);
void ledger_free(struct ledger *l);

/* Adds a line, and marks its session as damaged. A file has it before this returns. */
void ledger_add(struct ledger *l, const struct ledger_line *line);

/* A session may be damaged once. True if it has been; a session that begins again is innocent. */
bool ledger_has(struct ledger *l, uint64_t session_key);
void ledger_forget(struct ledger *l, uint64_t session_key);

/* The key of a session, from scenario, seed and number. */
uint64_t ledger_key(const char *scenario, uint64_t seed, long session);

void ledger_copy(struct ledger *l, struct buf *out);
long ledger_count(struct ledger *l, enum reason r);

#endif
