/* hunt.c - the search as a state machine over outcomes. It knows neither servers nor sessions: what
 * a step showed is the caller's sequential test's to say. */
#include "hunt.h"

#include <assert.h>

#define CONTROL_EVERY 3

static unsigned all_flags(int n)
{
    return (1u << n) - 1;
}

static void plan(struct hunt *h, enum hunt_kind kind, int flag, unsigned on)
{
    h->next = (struct hunt_step){kind, flag, on, h->n_causes};
}

struct hunt hunt_start(int n_flags)
{
    assert(n_flags >= 1 && n_flags <= HUNT_MAX_FLAGS);
    struct hunt h = {.n_flags = n_flags, .suspects = all_flags(n_flags), .on = all_flags(n_flags)};
    plan(&h, HUNT_BASELINE, -1, h.on);
    return h;
}

/* The next flag to try, a control that is due, or the confirmation. */
static void plan_search(struct hunt *h)
{
    while (h->tested < h->n_flags && !(h->suspects >> h->tested & 1))
        h->tested++;
    bool over = h->tested == h->n_flags;
    if (h->since_control >= CONTROL_EVERY || (over && h->since_control > 0))
        plan(h, HUNT_CONTROL, -1, h->suspects);
    else if (!over)
        plan(h, HUNT_WITHOUT, h->tested, h->on & ~(1u << h->tested));
    else if (h->needed == 0)
        h->end = HUNT_NEEDS_NONE;
    else
        plan(h, HUNT_CONFIRM, -1, h->needed);
}

static void settle_flag(struct hunt *h, bool corrupts)
{
    unsigned flag = 1u << h->next.flag;
    if (corrupts)
        h->on &= ~flag;
    else
        h->needed |= flag;
    h->tested++;
    h->since_control++;
    plan_search(h);
}

/* The set is a cause; what remains may hold another. */
static void settle_cause(struct hunt *h)
{
    h->causes[h->n_causes++] = h->needed;
    unsigned rest = h->suspects & ~h->needed;
    if (rest)
        plan(h, HUNT_REST, -1, rest);
    else
        h->end = HUNT_FOUND;
}

static void hunt_again(struct hunt *h)
{
    h->suspects = h->on = h->next.on;
    h->needed = 0;
    h->tested = 0;
    h->since_control = 0;
    plan_search(h);
}

void hunt_add(struct hunt *h, enum hunt_outcome outcome)
{
    assert(h->end == HUNT_GOES_ON);
    bool corrupts = outcome == HUNT_CORRUPT;
    if (outcome == HUNT_UNDECIDED) {
        h->end = HUNT_STEP_UNDECIDED;
        return;
    }
    switch (h->next.kind) {
    case HUNT_BASELINE:
        if (corrupts)
            plan_search(h);
        else
            h->end = HUNT_NO_BASELINE;
        break;
    case HUNT_WITHOUT: settle_flag(h, corrupts); break;
    case HUNT_CONTROL:
        h->since_control = 0;
        if (corrupts)
            plan_search(h);
        else
            h->end = HUNT_LOST;
        break;
    case HUNT_CONFIRM:
        if (corrupts)
            settle_cause(h);
        else
            h->end = HUNT_NOT_CONFIRMED;
        break;
    case HUNT_REST:
        if (corrupts)
            hunt_again(h);
        else
            h->end = HUNT_FOUND;
        break;
    }
}

int hunt_most_steps(int n_flags)
{
    return 1 + n_flags + (n_flags + CONTROL_EVERY - 1) / CONTROL_EVERY + 2;
}
