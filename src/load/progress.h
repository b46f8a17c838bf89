/* progress.h - what is shared and changes while workers run: counters for the progress line and
 * for the refilling. Never the source of a printed result. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdatomic.h>

#include "words.h"

struct overlap;

struct progress {
    atomic_long next; /* the next session to start: its place in the order of this process */
    atomic_long started, finished, sessions_in_flight;
    atomic_long tokens; /* completion tokens, or token events where the server says nothing */
    atomic_long by_class[N_CLASSES];
    _Atomic long long full_us;       /* when all asked sessions were first in flight; 0 = not yet */
    _Atomic long long last_start_us; /* when the last session started; 0 = not yet */
    atomic_int stop;                 /* workers cancel what is in flight and end */
    struct overlap *overlap;
    long long start_us; /* of the run on the clock of clock_mono_us(); constant */
};

#endif
