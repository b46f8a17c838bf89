/* rng.c - xoshiro256** and its seeding. No global state: a stream is a value. */
#include "rng.h"

uint64_t rng_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct rng rng_stream(uint64_t seed, uint64_t number, const char *purpose)
{
    uint64_t x = rng_mix(seed) ^ rng_mix(~number);
    for (const char *p = purpose; *p; p++)
        x = rng_mix(x ^ (unsigned char)*p);
    struct rng r;
    for (int i = 0; i < 4; i++)
        r.s[i] = x = rng_mix(x);
    return r;
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t result = rotate(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate(r->s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    for (;;) {
        uint64_t x = rng_u64(r);
        if (x >= n || x >= (0 - n) % n) /* the lowest 2^64 % n < n would favour some results */
            return x % n;
    }
}

double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1.0p-53;
}

bool rng_chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

const char *rng_pick(struct rng *r, const char *const *words, size_t n)
{
    return words[rng_below(r, n)];
}
