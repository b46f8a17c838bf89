/* rng.h - random streams that depend on their seed and nothing else. */
#ifndef RNG_H
#define RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* xoshiro256** by Blackman and Vigna, seeded through splitmix64. */
struct rng {
    uint64_t s[4];
};

/* The stream of (seed, number, purpose): different purposes are independent streams. */
struct rng rng_stream(uint64_t seed, uint64_t number, const char *purpose);

uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* 0..n-1 without bias; n >= 1 */
double rng_unit(struct rng *r);                /* [0, 1) with 53 bits */
bool rng_chance(struct rng *r, double p);      /* true with probability p */
const char *rng_pick(struct rng *r, const char *const *words, size_t n);

/* A mix of 64 bits in which every input bit touches every output bit (splitmix64's finaliser). */
uint64_t rng_mix(uint64_t x);

#endif
