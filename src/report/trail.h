/* trail.h - the steps of `toolstorm isolate`, read back from the store: what each showed, what
 * comes next, what was found. */
#ifndef TRAIL_H
#define TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "hunt.h"
#include "rate.h"
#include "sprt.h"

struct buf;
struct jsonw;
struct report_style;
struct store;

/* Server starts that a baseline may take until its rate is surely above twice p0. */
#define TRAIL_BASELINES 4

/* What the plan says; borrowed. */
struct trail_rule {
    const char *name;      /* of the plan */
    const char *const *on; /* "idxk=bf16", flag by flag in the order in which they are tried */
    const char *const *off;
    int n_flags;
    double p0;
    long cap; /* sessions of one step */
};

struct trail_step {
    struct hunt_step step;
    enum hunt_outcome outcome;
    bool settled;      /* false: a baseline that takes another start */
    long x, n, errors; /* corrupted, judged, failed: until the test had decided */
    long run;
};

struct trail {
    const struct trail_rule *rule;
    struct hunt hunt;
    struct trail_step *steps;
    size_t n_steps, steps_cap;
    long base_x, base_n;   /* all baselines together */
    int n_baselines;       /* starts */
    struct sprt_rule test; /* of every step after the baseline; p1 is half its rate */
    long sessions;         /* judged in all steps */
};

/* Reads the finished starts of the sweep in their order. `t` is zeroed; release it after a failure
 * too. Error: status 5 if the rows are not those of such a search. */
int trail_read(struct trail *t, struct store *s, long sweep, const struct trail_rule *rule,
               struct err *err) MUST_CHECK;
void trail_release(struct trail *t);

/* Adds "without graph=on": what a step is, as it stands in its row. */
void trail_step_name(const struct trail_rule *rule, const struct hunt_step *step, struct buf *out);

/* Adds "clean: graph=on is needed": what a step showed. */
void trail_step_result(const struct trail_rule *rule, const struct trail_step *step,
                       struct buf *out);

/* trail_text.c: for people, for an issue, for programs. */
void trail_write_text(const struct trail *t, const struct report_style *style, struct buf *out);
void trail_write_md(const struct trail *t, struct buf *out);
void trail_write_json(const struct trail *t, struct jsonw *w);

#endif
