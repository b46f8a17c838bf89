/* scene.h - the part that the endpoint plays for one request: what is due in each round, and the
 * right reply. */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "expect.h"
#include "reply.h"
#include "token.h"

struct ask;
struct play;
struct scenario;
struct server;
struct span;

struct scene {
    const struct server *server;
    const struct ask *ask;
    uint64_t ordinal;
    const struct scenario *scenario; /* NULL: a client that names no session */
    struct token_key key;
    struct play *play;
    int round, rounds;
    struct reply perfect;
};

/* Error: status 2 for a scenario that is not known here. `ask` is borrowed. */
int scene_open(struct scene *s, const struct server *server, const struct ask *ask,
               struct span body, uint64_t ordinal, struct err *err) MUST_CHECK;
void scene_close(struct scene *s);

/* What `round` must bring; borrowed from the scene. */
void scene_expect(const struct scene *s, int round, struct expect *e);

/* Copies the right reply into the empty `to`. */
void scene_say(const struct scene *s, struct reply *to);

#endif
