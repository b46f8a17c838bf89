/* markup.h - tool-call markup, chat-template tokens and think text, by the rules. */
#ifndef MARKUP_H
#define MARKUP_H

struct exam;
struct view;

/* Every text of the reply, and the place where reasoning and content meet. */
void markup_detect(struct exam *x);

/* One text. */
void markup_search(struct exam *x, struct view *w);

#endif
