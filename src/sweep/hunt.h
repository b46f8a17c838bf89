/* hunt.h - which minimal set of flags is needed for the damage: greedy dropping, a flag at a time.
 *
 * A baseline with every flag on must corrupt. Then each flag in turn is switched off: if the rest
 * still corrupts it stays off, if it comes out clean the flag is needed and is switched on again.
 * After every third such step, and after the last, the baseline is played once more: a clean result
 * on a server where the damage no longer shows proves nothing. What is left on is confirmed alone.
 * At last the flags outside the set are played without it, for a second, independent cause; if they
 * corrupt, the hunt goes on among them.
 *
 * It rests on one assumption: switching a flag on never hides the damage. */
#ifndef HUNT_H
#define HUNT_H

#include <stdbool.h>
#include <stddef.h>

#define HUNT_MAX_FLAGS 16

enum hunt_kind { HUNT_BASELINE, HUNT_WITHOUT, HUNT_CONTROL, HUNT_CONFIRM, HUNT_REST };

/* What a step showed. */
enum hunt_outcome { HUNT_CORRUPT, HUNT_CLEAN, HUNT_UNDECIDED };

enum hunt_end {
    HUNT_GOES_ON,
    HUNT_FOUND,          /* causes[] are minimal sets; the rest came out clean */
    HUNT_NO_BASELINE,    /* the damage does not show with every flag on */
    HUNT_LOST,           /* a control came out clean: the damage no longer shows */
    HUNT_NOT_CONFIRMED,  /* the set alone came out clean on a fresh start */
    HUNT_NEEDS_NONE,     /* it corrupts with every flag off */
    HUNT_STEP_UNDECIDED, /* a step reached its cap */
};

struct hunt_step {
    enum hunt_kind kind;
    int flag;    /* of HUNT_WITHOUT */
    unsigned on; /* the flags that are on, a bit each */
    int cause;   /* which cause is hunted, from 0 */
};

struct hunt {
    int n_flags;
    enum hunt_end end;
    struct hunt_step next; /* valid while the end is HUNT_GOES_ON */
    unsigned suspects; /* flags of the cause that is hunted now: all, then those that are left */
    unsigned on;       /* still on */
    unsigned needed;   /* shown to be needed so far */
    int tested;        /* flags below this number are settled */
    int since_control; /* steps without a flag since the last control */
    unsigned causes[HUNT_MAX_FLAGS];
    int n_causes;
};

/* 1 to HUNT_MAX_FLAGS flags, numbered in the order in which they are tried. */
struct hunt hunt_start(int n_flags);

/* The outcome of h->next, which then names the next step or h->end says how it ended. */
void hunt_add(struct hunt *h, enum hunt_outcome outcome);

/* How many steps it takes at the most, with one cause. */
int hunt_most_steps(int n_flags);

#endif
