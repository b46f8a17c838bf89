/* turn.h - the reply as one turn of a conversation: did the exchange hold, did what was due come?
 */
#ifndef TURN_H
#define TURN_H

struct exam;

/* Fills x->failed and x->capped, before anything else looks. */
void turn_begin(struct exam *x);

void transport_detect(struct exam *x);
void no_tool_detect(struct exam *x);
void answer_detect(struct exam *x);
void foreign_detect(struct exam *x);

#endif
