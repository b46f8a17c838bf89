/* tally.h - what one client did and what that cost it, as a line of JSON. */
#ifndef TALLY_H
#define TALLY_H

#include <stdint.h>

#define TALLY_LATE_US 4096000 /* lateness above this counts as this */

struct tally {
    long requests, events, failed;
    int64_t start_us, spare_us; /* CPU time that the measuring itself took, not counted */
    uint32_t *late;             /* how many events were late by so many thousands of a second / 8 */
    long n_late;
};

void tally_begin(struct tally *t);

/* An event that was written at `sent_us` was handled at `now_us`. */
void tally_late(struct tally *t, int64_t sent_us, int64_t now_us);

/* Takes the counters of `from` in; frees its memory. */
void tally_join(struct tally *t, struct tally *from);

/* Prints the line and frees. */
void tally_print(struct tally *t, const char *mode);

#endif
