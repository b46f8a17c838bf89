/* token.c - a 50-bit Feistel network over (session 24, slot 8, check 18), spelt in base 32. */
#include "token.h"

#include <string.h>

#include "buf.h"
#include "rng.h"

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#define HALF      25
#define HALF_MASK ((1u << HALF) - 1)
#define CHECK     0x2A5C3u /* 18 bits that a forged or random text must hit */

struct token_key token_key(uint64_t seed)
{
    struct rng r = rng_stream(seed, 0, "token key");
    struct token_key key;
    for (int i = 0; i < 4; i++)
        key.k[i] = rng_u64(&r);
    return key;
}

static uint32_t scramble(uint64_t round_key, uint32_t half)
{
    return (uint32_t)(rng_mix(round_key ^ half) & HALF_MASK);
}

void token_make(const struct token_key *key, long session, int slot, char out[TOKEN_LEN + 1])
{
    uint64_t plain = ((uint64_t)(session & TOKEN_MAX_SESSION) << 26) |
                     ((uint64_t)(slot & TOKEN_MAX_SLOT) << 18) | CHECK;
    uint32_t left = (uint32_t)(plain >> HALF), right = (uint32_t)(plain & HALF_MASK);
    for (int i = 0; i < 4; i++) {
        uint32_t next = left ^ scramble(key->k[i], right);
        left = right;
        right = next;
    }
    uint64_t bits = ((uint64_t)left << HALF) | right;
    for (int i = TOKEN_LEN - 1; i >= 0; i--) {
        if (i == 5) {
            out[i] = '-';
            continue;
        }
        out[i] = alphabet[bits & 31];
        bits >>= 5;
    }
    out[TOKEN_LEN] = '\0';
}

static int symbol(char c)
{
    const char *p = c ? strchr(alphabet, c) : NULL;
    return p ? (int)(p - alphabet) : -1;
}

bool token_read(const struct token_key *key, const char *text, struct token_owner *owner)
{
    uint64_t bits = 0;
    for (int i = 0; i < TOKEN_LEN; i++) {
        if (i == 5) {
            if (text[i] != '-')
                return false;
            continue;
        }
        int s = symbol(text[i]);
        if (s < 0)
            return false;
        bits = bits << 5 | (unsigned)s;
    }
    uint32_t left = (uint32_t)(bits >> HALF), right = (uint32_t)(bits & HALF_MASK);
    for (int i = 3; i >= 0; i--) {
        uint32_t before = right ^ scramble(key->k[i], left);
        right = left;
        left = before;
    }
    uint64_t plain = ((uint64_t)left << HALF) | right;
    if ((plain & 0x3FFFF) != CHECK)
        return false;
    owner->session = (long)(plain >> 26);
    owner->slot = (int)((plain >> 18) & 0xFF);
    return true;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

long token_find(const struct token_key *key, struct span text, size_t from,
                struct token_owner *owner)
{
    while (text.len >= TOKEN_LEN && from + TOKEN_LEN <= text.len) {
        const char *dash = memchr(text.data + from + 5, '-', text.len - from - TOKEN_LEN + 6);
        if (!dash || (size_t)(dash - text.data) + 6 > text.len)
            return -1;
        size_t at = (size_t)(dash - text.data) - 5;
        bool alone = (at == 0 || !is_word(text.data[at - 1])) &&
                     (at + TOKEN_LEN >= text.len || !is_word(text.data[at + TOKEN_LEN]));
        if (alone && at + TOKEN_LEN <= text.len && token_read(key, text.data + at, owner))
            return (long)at;
        from = at + 1;
    }
    return -1;
}
