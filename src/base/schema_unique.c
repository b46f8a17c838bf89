/* schema_unique.c - does an array hold an equal element twice: by hashes that equal values share,
 * so that a long array costs no more than its length. */
#include "schema_node.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "rng.h"

static uint64_t hash_bytes(uint64_t h, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)data[i]) * 0x100000001B3ull;
    return rng_mix(h);
}

/* Equal values (json_equal) have equal hashes: members count in any order, 1 is 1.0, -0 is 0. */
static uint64_t hash_value(const struct json *v)
{
    enum json_type t = json_type(v);
    uint64_t h = rng_mix((uint64_t)t);
    struct span s = json_span(v);
    double d = json_double(v, 0) + 0.0;
    if (t == JSON_BOOL)
        return rng_mix(h + json_bool(v, false));
    if (t == JSON_STRING)
        return hash_bytes(h, s.data, s.len);
    if (t == JSON_NUMBER)
        return hash_bytes(h, (const char *)&d, d == 0 ? 0 : sizeof d);
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        uint64_t member = hash_value(m);
        if (t == JSON_OBJECT)
            h += hash_bytes(member, json_key(m), strlen(json_key(m)));
        else
            h = rng_mix(h ^ member);
    }
    return h;
}

bool schema_repeats(const struct json *array)
{
    size_t n = json_count(array), size = 16;
    while (size < n * 2)
        size *= 2;
    const struct json **table = mem_zero(size, sizeof(struct json *));
    bool twice = false;
    for (const struct json *e = json_first(array); e && !twice; e = json_next(e)) {
        size_t slot = (size_t)hash_value(e) & (size - 1);
        for (; table[slot] && !twice; slot = (slot + 1) & (size - 1))
            twice = json_equal(table[slot], e);
        if (!twice)
            table[slot] = e;
    }
    free(table);
    return twice;
}
