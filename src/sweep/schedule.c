/* schedule.c - orders within blocks. Pure; it knows cells by their numbers only. */
#include "schedule.h"

#include <stdbool.h>
#include <stdlib.h>

#include "mem.h"
#include "rng.h"

static void shuffle(size_t *order, size_t n, struct rng *dice)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = rng_below(dice, i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

/* The Thue-Morse sequence: 0 1 1 0 1 0 0 1 ... */
static bool thue_morse(unsigned long n)
{
    bool odd = false;
    for (; n; n >>= 1)
        odd ^= n & 1;
    return odd;
}

size_t *schedule_new(size_t n_cells, long blocks, uint64_t seed)
{
    size_t *all = mem_zero(n_cells * (size_t)blocks, sizeof *all);
    size_t *pair = mem_zero(n_cells, sizeof *pair);
    for (long b = 0; b < blocks; b++) {
        if (b % 2 == 0) {
            struct rng dice = rng_stream(seed, (uint64_t)b, "schedule");
            for (size_t i = 0; i < n_cells; i++)
                pair[i] = i;
            if (n_cells > 2)
                shuffle(pair, n_cells, &dice);
        }
        bool mirrored = thue_morse((unsigned long)b);
        for (size_t i = 0; i < n_cells; i++)
            all[(size_t)b * n_cells + i] = pair[mirrored ? n_cells - 1 - i : i];
    }
    free(pair);
    return all;
}
