/* needle.c - the automaton of Aho and Corasick over a small alphabet: bytes that occur in no needle
 * share one class, so that the tables stay in cache. Knows nothing of markup. */
#include "needle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

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
    uint32_t *next; /* [state * n_classes + class] */
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
}

void needles_scan(const struct needles *n, struct span text, needles_found *found, void *arg)
{
    uint32_t state = 0;
    for (size_t i = 0; i < text.len; i++) {
        state = n->next[state * n->n_classes + n->class[(unsigned char)text.data[i]]];
        if (!n->first_output[state] && !n->shorter[state])
            continue;
        for (uint32_t s = state; s; s = n->shorter[s])
            for (uint32_t o = n->first_output[s]; o; o = n->outputs[o - 1].next)
                found(arg, n->outputs[o - 1].tag, i + 1 - n->outputs[o - 1].len, i + 1);
    }
}
