/* overlap.h - how many requests really were in flight, seen by each of them. */
#ifndef OVERLAP_H
#define OVERLAP_H

struct overlap;

/* For at most `max_requests` requests. All other functions may be called from any thread. */
struct overlap *overlap_new(long max_requests);
void overlap_free(struct overlap *o);

struct overlap_mark {
    long ordinal;
    int at_start; /* requests in flight, this one included */
};

struct overlap_mark overlap_enter(struct overlap *o);

/* The request is over: the most that were in flight at any time of its life. */
int overlap_leave(struct overlap *o, struct overlap_mark mark);

int overlap_now(const struct overlap *o);
int overlap_peak(const struct overlap *o);
long overlap_requests(const struct overlap *o);

#endif
