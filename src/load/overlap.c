/* overlap.c - the count of requests in flight as a step function over request ordinals. It only
 * rises when a request enters, so the maximum over a request's life is the maximum over the entries
 * made from its own to the last one: a range maximum, kept in blocks of two sizes. No locks. */
#include "overlap.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mem.h"

#define BLOCK  64
#define LEVELS 3

struct overlap {
    atomic_int now, peak;
    atomic_long next;
    long size;
    atomic_int *max[LEVELS]; /* of single entries, of BLOCK of them, of BLOCK * BLOCK */
};

struct overlap *overlap_new(long max_requests)
{
    struct overlap *o = mem_zero(1, sizeof *o);
    o->size = max_requests;
    size_t n = (size_t)max_requests;
    for (int level = 0; level < LEVELS; level++) {
        o->max[level] = mem_zero(n + 1, sizeof *o->max[level]);
        n = n / BLOCK + 1;
    }
    return o;
}

void overlap_free(struct overlap *o)
{
    if (!o)
        return;
    for (int level = 0; level < LEVELS; level++)
        free(o->max[level]);
    free(o);
}

static void raise_to(atomic_int *cell, int value)
{
    int old = atomic_load_explicit(cell, memory_order_relaxed);
    while (old < value && !atomic_compare_exchange_weak(cell, &old, value))
        ;
}

struct overlap_mark overlap_enter(struct overlap *o)
{
    int now = atomic_fetch_add(&o->now, 1) + 1;
    struct overlap_mark mark = {.ordinal = atomic_fetch_add(&o->next, 1), .at_start = now};
    raise_to(&o->peak, now);
    long at = mark.ordinal < o->size ? mark.ordinal : o->size - 1;
    for (int level = 0; level < LEVELS; level++) {
        raise_to(&o->max[level][at], now);
        at /= BLOCK;
    }
    return mark;
}

int overlap_leave(struct overlap *o, struct overlap_mark mark)
{
    long from = mark.ordinal, to = atomic_load(&o->next);
    if (to > o->size)
        to = o->size;
    int most = mark.at_start;
    int level = 0;
    long width = 1;
    while (from < to) {
        /* Climb while `from` starts a block that ends before `to`; come down near the end. */
        while (level + 1 < LEVELS && from % (width * BLOCK) == 0 && from + width * BLOCK <= to) {
            level++;
            width *= BLOCK;
        }
        while (from + width > to) {
            level--;
            width /= BLOCK;
        }
        int value = atomic_load_explicit(&o->max[level][from / width], memory_order_relaxed);
        if (value > most)
            most = value;
        from += width;
    }
    atomic_fetch_sub(&o->now, 1);
    return most;
}

int overlap_now(const struct overlap *o)
{
    return atomic_load(&o->now);
}

int overlap_peak(const struct overlap *o)
{
    return atomic_load(&o->peak);
}

long overlap_requests(const struct overlap *o)
{
    return atomic_load(&o->next);
}
