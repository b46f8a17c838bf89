/* sample.c - collecting and sorting; reports of millions of rounds wait for it. What a quantile is,
 * the statistics layer knows. */
#include "sample.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "rank.h"

#define DIGIT_BITS 11
#define BUCKETS    (1u << DIGIT_BITS)

void sample_add(struct sample *s, double value)
{
    s->values = mem_grow(s->values, &s->cap, s->n, sizeof *s->values);
    s->values[s->n++] = value;
}

void sample_release(struct sample *s)
{
    free(s->values);
    *s = (struct sample){0};
}

/* Sorts by the digit above `shift` bits from `from` to `to`, keeping the order of equals; false if
 * all values have the same digit, and nothing was moved. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t n, int shift)
{
    size_t start[BUCKETS] = {0}, next = 0;
    for (size_t i = 0; i < n; i++)
        start[from[i] >> shift & (BUCKETS - 1)]++;
    if (start[from[0] >> shift & (BUCKETS - 1)] == n)
        return false;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = start[b];
        start[b] = next;
        next += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
    return true;
}

/* A radix sort from the lowest digit up. */
void sample_sort_bits(uint64_t *values, size_t n, int shift)
{
    if (n < 2)
        return;
    uint64_t *from = values, *to = mem_zero(n, sizeof *to), *other = to;
    for (; shift < 64; shift += DIGIT_BITS) {
        if (!sort_digit(from, to, n, shift))
            continue;
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != values)
        memcpy(values, from, n * sizeof *values);
    free(other);
}

/* A number whose order as bits is its order as a value, and back. */
static uint64_t to_key(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static double of_key(uint64_t key)
{
    uint64_t bits = key >> 63 ? key ^ 1ull << 63 : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void sample_sort(struct sample *s)
{
    /* The keys take the values' place: memcpy() makes the memory theirs. */
    for (size_t i = 0; i < s->n; i++) {
        uint64_t key = to_key(s->values[i]);
        memcpy(&s->values[i], &key, sizeof key);
    }
    uint64_t *keys = (void *)s->values;
    sample_sort_bits(keys, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        double value = of_key(keys[i]);
        memcpy(&keys[i], &value, sizeof value);
    }
}

void sample_write(const struct sample *s, const double *quantiles, size_t n, struct jsonw *w)
{
    jsonw_array(w);
    for (size_t i = 0; i < n; i++)
        jsonw_double(w, rank_quantile(s->values, s->n, quantiles[i]));
    jsonw_long(w, (long long)s->n);
    jsonw_end_array(w);
}
