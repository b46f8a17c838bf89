/* restage.h - a stored run's conversations and judge, made again from what was kept of it. */
#ifndef RESTAGE_H
#define RESTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"
#include "figures.h"
#include "token.h"

struct expect;
struct judge;
struct play;
struct scenario;
struct store;
struct toolset;

struct restage {
    struct figures figures; /* reports/restage.sql */
    struct scenario *scenario;
    struct judge *judge;
    struct toolset *toolset;
    struct token_key key;
    /* the rules in force */
    const char *rules_file; /* of further rules; "" = none */
    struct buf rules;       /* their text */
    bool strict;
};

/* Rules to judge by instead of the run's own. */
struct restage_rules {
    const char *file; /* further rules; "" = none; NULL = the run's */
    int strict;       /* -1 = as the run */
};

/* Error of status 2 if there is no such run, or its scenario or rules can't be used any more. `r`
 * is zeroed; release it after a failure too. */
int restage_init(struct restage *r, struct store *s, long run, struct err *err) MUST_CHECK;
int restage_init_with(struct restage *r, struct store *s, long run,
                      const struct restage_rules *rules, struct err *err) MUST_CHECK;
void restage_release(struct restage *r);

/* The run's row. */
const struct section *restage_run(const struct restage *r);

/* Session number `session` as the run played it; the caller's. NULL with an error of status 2 if
 * this program makes another conversation of it, which the stored canary shows. */
struct play *restage_play(const struct restage *r, struct store *s, long session, struct err *err);

/* What its round had to bring. Borrowed from the play. */
void restage_expect(const struct restage *r, const struct play *p, int round, struct expect *e);

#endif
