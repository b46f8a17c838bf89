/* tally.h - what one client did and what that cost it, as a line of JSON. */
#ifndef TALLY_H
#define TALLY_H

#include <stdint.h>

#define TALLY_LATE_US 4096000 /* lateness above this counts as this */

/* The start lasts until each of the first streams has begun. */
enum tally_phase { TALLY_STARTING, TALLY_RUNNING, N_TALLY_PHASES };

struct lateness {
    uint32_t *events; /* how many were late by so many thousands of a second / 8 */
    long n;
    int64_t max_us;
};

struct tally {
    long requests, failed;
    int64_t start_us, spare_us; /* CPU time that the measuring itself took, not counted */
    int64_t running_us;         /* when the start was over; 0 = not yet */
    int64_t streams_us;         /* from first to last event, added up over `streams` */
    long streams;
    struct lateness late[N_TALLY_PHASES];
};

void tally_begin(struct tally *t);

/* An event that was written at `sent_us` was handled at `now_us`. The first event of a stream is
 * not to be counted: nobody waits for it on a stream that runs. */
void tally_late(struct tally *t, enum tally_phase phase, int64_t sent_us, int64_t now_us);

/* A stream's first event was handled at `first_us`, its last at `last_us`. */
void tally_stream(struct tally *t, int64_t first_us, int64_t last_us);

/* Takes the counters of `from` in; frees its memory. */
void tally_join(struct tally *t, struct tally *from);

/* Prints the line and frees. */
void tally_print(struct tally *t, const char *mode);

#endif
