/* search.h - the hits of the rules in one text, between finding and weighing them. Shared by
 * markup.c and weigh.c, and by nothing else. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "judge.h"

struct exam;
struct rule;
struct view;

/* Hits kept per text. */
#define MAX_HITS 400

struct hit {
    const struct rule *rule;
    size_t start, end, group, group_end; /* folded */
    enum sign_level level;
    bool dropped;
    const char *why; /* not lowered, or lowered */
};

struct search {
    struct exam *x;
    struct view *w;
    struct hit hits[MAX_HITS];
    size_t n;
    size_t off; /* zones mean nothing from here on: the text has begun to be a call */
};

/* Gives every hit its level and its why, or drops it: shown in code or quotes, mentioned in a
 * sentence, paired, cut off, or said. The hits are in the order of their places. */
void weigh_hits(struct search *s);

#endif
