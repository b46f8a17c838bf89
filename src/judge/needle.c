/* needle.c - the automaton of Aho and Corasick over a small alphabet: bytes that occur in no needle
 * share one class, so that the tables stay in cache. Where no needle can start, which is almost
 * everywhere, it does not run: a filter of three-byte beginnings is asked first. Knows nothing of
 * markup. */
#include "needle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* A beginning is three bytes, hashed to so many bits. */
#define START_BITS 12
#define START_MASK ((1u << START_BITS) - 1)

struct output {
    int tag;
    uint32_t len;
    uint32_t next; /* index + 1 of the next output of the same state; 0 = none */
};

struct needles {
    char **texts;
    int *tags;
    size_t n, cap, tags_cap;
    unsigned char class[256];
    unsigned n_classes;
    uint32_t *next;        /* [state * n_classes + class] */
    unsigned char *starts; /* by hash: may a needle begin so? NULL: a needle is one byte */
    uint32_t *first_output;
    uint32_t *shorter; /* the nearest suffix state that has outputs; 0 = none */
    size_t n_states;
    struct output *outputs;
    size_t n_outputs;
};

struct needles *needles_new(void)
{
    return mem_zero(1, sizeof(struct needles));
}

void needles_free(struct needles *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++)
        free(n->texts[i]);
    free(n->texts);
    free(n->tags);
    free(n->next);
    free(n->starts);
    free(n->first_output);
    free(n->shorter);
    free(n->outputs);
    free(n);
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

void needles_add(struct needles *n, struct span text, int tag)
{
    if (!text.len)
        return;
    n->texts = mem_grow(n->texts, &n->cap, n->n, sizeof(char *));
    n->tags = mem_grow(n->tags, &n->tags_cap, n->n, sizeof(int));
    n->texts[n->n] = mem_copy(text.data, text.len);
    for (char *p = n->texts[n->n]; *p; p++)
        *p = (char)lower((unsigned char)*p);
    n->tags[n->n++] = tag;
}

static void assign_classes(struct needles *n)
{
    n->n_classes = 1;
    for (size_t i = 0; i < n->n; i++)
        for (const char *p = n->texts[i]; *p; p++)
            if (!n->class[(unsigned char)*p])
                n->class[(unsigned char)*p] = (unsigned char)n->n_classes++;
    for (unsigned c = 'A'; c <= 'Z'; c++)
        n->class[c] = n->class[c + 32];
}

static void add_output(struct needles *n, uint32_t state, int tag, size_t len)
{
    n->outputs[n->n_outputs] = (struct output){tag, (uint32_t)len, n->first_output[state]};
    n->first_output[state] = (uint32_t)++n->n_outputs;
}

static void insert(struct needles *n, size_t i)
{
    uint32_t state = 0;
    size_t len = 0;
    for (const char *p = n->texts[i]; *p; p++, len++) {
        uint32_t *to = &n->next[state * n->n_classes + n->class[(unsigned char)*p]];
        if (!*to)
            *to = (uint32_t)n->n_states++;
        state = *to;
    }
    add_output(n, state, n->tags[i], len);
}

/* Breadth first: fills the gaps of each state from its longest proper suffix that is a state. */
static void link_states(struct needles *n)
{
    uint32_t *fail = mem_zero(n->n_states, sizeof *fail);
    uint32_t *queue = mem_zero(n->n_states, sizeof *queue);
    size_t head = 0, tail = 0;
    for (unsigned c = 0; c < n->n_classes; c++)
        if (n->next[c])
            queue[tail++] = n->next[c];
    while (head < tail) {
        uint32_t s = queue[head++];
        uint32_t f = fail[s];
        n->shorter[s] = n->first_output[f] ? f : n->shorter[f];
        for (unsigned c = 0; c < n->n_classes; c++) {
            uint32_t *to = &n->next[s * n->n_classes + c];
            uint32_t other = n->next[f * n->n_classes + c];
            if (*to) {
                fail[*to] = other;
                queue[tail++] = *to;
            } else {
                *to = other;
            }
        }
    }
    free(fail);
    free(queue);
}

/* The hashes of the beginnings at six neighbouring bytes, one per byte of the result: from the low
 * five bits of each byte, in which letters of both cases are alike. The first byte is the lowest.
 */
static uint64_t start_hashes(uint64_t bytes)
{
    bytes &= UINT64_C(0x1F1F1F1F1F1F1F1F);
    return bytes ^ bytes >> 4 ^ bytes >> 11;
}

static void mark_start(struct needles *n, const char *text, unsigned third)
{
    uint64_t bytes = (unsigned char)text[0] | (uint64_t)(unsigned char)text[1] << 8;
    n->starts[start_hashes(bytes | (uint64_t)third << 16) & START_MASK] = 1;
}

static void mark_starts(struct needles *n)
{
    for (size_t i = 0; i < n->n; i++)
        if (!n->texts[i][1])
            return;
    n->starts = mem_zero(1u << START_BITS, 1);
    for (size_t i = 0; i < n->n; i++) {
        const char *t = n->texts[i];
        if (t[2])
            mark_start(n, t, (unsigned char)t[2]);
        for (unsigned third = 0; !t[2] && third < 32; third++)
            mark_start(n, t, third);
    }
}

void needles_build(struct needles *n)
{
    size_t most = 1;
    for (size_t i = 0; i < n->n; i++)
        most += strlen(n->texts[i]);
    assign_classes(n);
    n->next = mem_zero(most * n->n_classes, sizeof *n->next);
    n->first_output = mem_zero(most, sizeof *n->first_output);
    n->shorter = mem_zero(most, sizeof *n->shorter);
    n->outputs = mem_zero(n->n + 1, sizeof *n->outputs);
    n->n_states = 1;
    for (size_t i = 0; i < n->n; i++)
        insert(n, i);
    link_states(n);
    mark_starts(n);
}

static uint64_t load_bytes(const char *p)
{
    uint64_t bytes = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&bytes, p, 8);
#else
    for (int i = 0; i < 8; i++)
        bytes |= (uint64_t)(unsigned char)p[i] << 8 * i;
#endif
    return bytes;
}

/* The first place at or behind `at` where a needle may begin; anywhere among the last bytes. */
static size_t next_start(const unsigned char *starts, struct span text, size_t at)
{
    const char *p = text.data + at, *end = text.data + text.len;
    for (; end - p >= 8; p += 6) {
        uint64_t h = start_hashes(load_bytes(p));
        unsigned any = starts[h & START_MASK] | starts[h >> 8 & START_MASK] |
                       starts[h >> 16 & START_MASK] | starts[h >> 24 & START_MASK] |
                       starts[h >> 32 & START_MASK] | starts[h >> 40 & START_MASK];
        if (!any)
            continue;
        for (; !starts[h & START_MASK]; h >>= 8)
            p++;
        break;
    }
    return (size_t)(p - text.data);
}

static void report(const struct needles *n, uint32_t state, size_t end, needles_found *found,
                   void *arg)
{
    for (uint32_t s = state; s; s = n->shorter[s])
        for (uint32_t o = n->first_output[s]; o; o = n->outputs[o - 1].next)
            found(arg, n->outputs[o - 1].tag, end - n->outputs[o - 1].len, end);
}

void needles_scan(const struct needles *n, struct span text, needles_found *found, void *arg)
{
    for (size_t i = 0; i < text.len;) {
        uint32_t state = 0;
        i = n->starts ? next_start(n->starts, text, i) : i;
        do { /* until nothing that began is open any more */
            state = n->next[state * n->n_classes + n->class[(unsigned char)text.data[i++]]];
            if (n->first_output[state] || n->shorter[state])
                report(n, state, i, found, arg);
        } while (state && i < text.len);
    }
}
