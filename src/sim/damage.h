/* damage.h - every way in which a right answer can be spoilt: one row per reason. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stdbool.h>

#include "words.h"

struct answer;
struct buf;
struct expect;
struct fault_hit;
struct scene;
struct server;

/* Can the endpoint produce this reason at all? Not over plain HTTP: error.tls. */
bool damage_can(enum reason reason);

/* Does it come in the markup of a family? */
bool damage_has_family(enum reason reason);

/* Can the family of this name show it? And the names of all that can, comma separated. */
bool damage_takes_family(enum reason reason, const char *name);
void damage_families(enum reason reason, struct buf *out);

/* When it can be done: "a call is due"; NULL if always. For the help. */
const char *damage_when(enum reason reason);

/* Can this request's answer be spoilt so, if *e is what it must bring? */
bool damage_fits(enum reason reason, const struct scene *scene, const struct expect *e);

/* Spoils the complete, right answer. Returns the name of the family used, or NULL; it lives as long
 * as the server. */
const char *damage_apply(const struct fault_hit *hit, const struct scene *scene,
                         struct answer *answer);

#endif
