/* fill.c - values of a session, each from (seed, session, name, index) alone, so that the order in
 * which texts are written changes nothing but the slots of tokens. */
#include "fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "rng.h"
#include "template.h"
#include "value.h"

static struct rng stream(const struct fill *f, const struct value *v, long index)
{
    char purpose[160];
    snprintf(purpose, sizeof purpose, "value %.120s %ld", v->name, index);
    return rng_stream(f->seed, (uint64_t)f->session, purpose);
}

/* The look of a token without an owner. */
static void unowned_token(const struct fill *f, const struct value *v, long index,
                          char out[TOKEN_LEN + 1])
{
    struct rng r = stream(f, v, index);
    struct token_owner owner;
    do {
        for (int i = 0; i < TOKEN_LEN; i++)
            out[i] = i == 5 ? '-' : "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[rng_below(&r, 32)];
        out[TOKEN_LEN] = '\0';
    } while (token_read(f->key, out, &owner));
}

static void token(struct fill *f, size_t number, long index, char out[TOKEN_LEN + 1])
{
    int slot = 0;
    while (slot < f->n_slots && (f->slots[slot].value != number || f->slots[slot].index != index))
        slot++;
    if (slot == f->n_slots) {
        if (slot == TOKEN_SLOT_CANARY) {
            unowned_token(f, &f->values->list[number], index, out);
            return;
        }
        f->slots[f->n_slots++] = (struct fill_slot){number, index, f->round};
    }
    token_make(f->key, f->session, slot, out);
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps through the list with a stride that shares no factor with its length, so that no word
 * comes twice before all have come. */
static const char *word(const struct fill *f, const struct value *v, long index)
{
    struct rng r = stream(f, v, -1);
    size_t start = rng_below(&r, v->n_words), stride;
    do
        stride = 1 + rng_below(&r, v->n_words);
    while (common_divisor(stride, v->n_words) != 1);
    return v->words[(start + stride * (size_t)index) % v->n_words];
}

static void code(const struct fill *f, const struct value *v, long index, struct buf *out)
{
    struct rng r = stream(f, v, index);
    for (const char *p = v->form; *p; p++)
        buf_addc(out, *p == '#'   ? (char)('0' + rng_below(&r, 10))
                      : *p == '@' ? (char)('A' + rng_below(&r, 26))
                      : *p == '*' ? "0123456789abcdefghijklmnopqrstuvwxyz"[rng_below(&r, 36)]
                                  : *p);
}

static void number(const struct fill *f, const struct value *v, long index, struct buf *out)
{
    struct rng r = stream(f, v, index);
    uint64_t range = (uint64_t)v->to - (uint64_t)v->from + 1;
    uint64_t n = range ? rng_below(&r, range) : rng_u64(&r);
    buf_add_long(out, (long)((uint64_t)v->from + n));
}

static void value(struct fill *f, size_t which, long index, struct buf *out)
{
    const struct value *v = &f->values->list[which];
    char text[TOKEN_LEN + 1];
    long outer = f->i;
    switch (v->kind) {
    case VALUE_TOKEN:
        token(f, which, index, text);
        buf_adds(out, text);
        break;
    case VALUE_NUMBER: number(f, v, index, out); break;
    case VALUE_WORD: buf_adds(out, word(f, v, index)); break;
    case VALUE_CODE: code(f, v, index, out); break;
    case VALUE_TEXT:
        f->i = index;
        fill_text(f, &v->text, out);
        f->i = outer;
        break;
    }
}

static long index_of(struct fill *f, struct template_index x)
{
    long base = x.base == INDEX_I ? f->i : x.base == INDEX_LAST ? f->last : 0;
    if (base + x.offset < 0) {
        f->bad_index = true;
        return 0;
    }
    return base + x.offset;
}

static void reference(struct fill *f, const struct piece *p, struct buf *out)
{
    char canary[TOKEN_LEN + 1];
    switch (p->kind) {
    case PIECE_LITERAL: buf_add(out, p->literal, p->len); break;
    case PIECE_CANARY:
        token_make(f->key, f->session, TOKEN_SLOT_CANARY, canary);
        buf_adds(out, canary);
        break;
    case PIECE_CONTEXT:
        f->context_at = out->len;
        f->n_contexts++;
        buf_add(out, f->context.data, f->context.len);
        break;
    case PIECE_ROUND: buf_add_long(out, f->round); break;
    case PIECE_ROUNDS: buf_add_long(out, f->rounds); break;
    case PIECE_INDEX: buf_add_long(out, index_of(f, p->index)); break;
    case PIECE_VALUE: value(f, p->value, index_of(f, p->index), out); break;
    }
}

void fill_text(struct fill *f, const struct template *t, struct buf *out)
{
    for (size_t i = 0; i < t->n && !out->full; i++) {
        const struct piece *p = &t->pieces[i];
        if (!t->json || p->kind == PIECE_LITERAL) {
            reference(f, p, out);
            continue;
        }
        struct buf plain = {.cap = out->cap}, quoted = BUF_INIT;
        reference(f, p, &plain);
        if (plain.full)
            out->full = true;
        json_quote(&quoted, buf_span(&plain));
        buf_add(out, quoted.data + 1, quoted.len - 2);
        buf_release(&plain);
        buf_release(&quoted);
    }
}

char *fill_string(struct fill *f, const struct template *t)
{
    struct buf out = {.cap = FILL_MAX_BYTES};
    fill_text(f, t, &out);
    return buf_take(&out);
}
