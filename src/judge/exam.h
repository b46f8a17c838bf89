/* exam.h - one reply under examination: what detectors read and where they put what they find. */
#ifndef EXAM_H
#define EXAM_H

#include <stdbool.h>
#include <stddef.h>

#include "fold.h"
#include "judge.h"
#include "rule.h"
#include "zone.h"

struct json;
struct pattern_scratch;
struct schema;

struct judge {
    bool strict;
    char *more; /* the text of further rules, for the self-check; or NULL */
    struct rules rules;
    struct rule_set plain; /* for no tools at all */
};

struct toolset {
    struct rule_set set;
    const struct judge *judge;
    size_t n;
    char **names;
    struct json **parameters; /* owns what the schemas borrow; NULL = any object will do */
    struct schema **schemas;
    bool *needs_args; /* the schema requires some parameter */
};

/* A text of the reply, with what was made of it so far. */
struct view {
    enum channel channel;
    int call;
    struct span raw;
    size_t plain; /* so many bytes at its start are ASCII, no backslash and no control bytes but
                   * blanks: most texts are nothing else, and are looked through once */
    struct fold fold;
    size_t lead; /* bytes at the start that are only context: no match starts there */
    bool zoned;
    struct zones zones;
};

/* Signs kept per reply; a runaway has thousands of one kind. */
#define MAX_SIGNS 100

/* Calls looked at per reply. */
#define MAX_CALLS 1000

/* How far a rule has come in the search whose number it bears. */
struct rule_state {
    unsigned search;
    unsigned tries;
    size_t next;               /* no match of the rule that is looked for starts before */
    size_t vain_from, vain_to; /* none starts from here up to, without, there */
};

struct exam {
    const struct judge *judge;
    const struct rule_set *set;
    const struct toolset *tools; /* NULL: no tools known */
    const struct expect *e;
    const struct reply *r;
    struct verdict *v;
    struct view *views;
    size_t n_views;
    /* Made when a rule is first tried. */
    struct pattern_scratch *scratch;
    struct rule_state *states; /* one per rule */
    unsigned n_searches;
    struct json **args; /* per call: the parsed object, or NULL */
    long *args_fault;   /* per call: what json_check() says of the arguments */
    size_t n_calls;
    bool failed;    /* the exchange failed, or broke off */
    bool capped;    /* it ran into max_tokens */
    bool open_call; /* a call was being written when it broke off or ran into the cap */
};

void exam_init(struct exam *x);
void exam_release(struct exam *x);

/* True if the reply may lack its end, for whatever reason. */
bool exam_unfinished(const struct exam *x);

/* The view's zones, read on first use. */
const struct zones *exam_zones(struct view *w);

/* What a sign says besides the place. */
struct charge {
    enum reason reason;
    enum sign_level level;
    const char *rule;
};

/* Adds a sign at `where`, a part of the view's raw text. Returns it, so that owners can be filled
 * in, or NULL if there are too many. */
struct sign *exam_sign(struct exam *x, struct charge charge, const struct view *w,
                       struct span where, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same for what has no text: a channel and a call (-1 = none). */
struct sign *exam_note(struct exam *x, enum reason reason, enum channel channel, int call,
                       const char *rule, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Part of the raw text of a view, by folded offsets. */
struct span exam_raw(const struct view *w, size_t start, size_t end);

#endif
