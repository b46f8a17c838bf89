/* rehearse.h - does a scenario keep its own word? */
#ifndef REHEARSE_H
#define REHEARSE_H

#include "err.h"

struct scenario;

/* Plays short sessions in memory and looks for what no session could get right: texts without end,
 * indexes below 0, a demanded token that the model was never told, arguments that break the tool's
 * own schema, a right answer that lacks what it must hold. -1 with an error naming the field. */
int rehearse_scenario(const struct scenario *sc, struct err *err) MUST_CHECK;

#endif
