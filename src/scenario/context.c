/* context.c - writes entries of a vocabulary's forms until the wanted size is reached.
 *
 * Repeated filler makes even a sound server fail, so each line is compared (by hash) with all lines
 * before it. Times run forward within the text, from a start that is random and never today. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "estimate.h"
#include "mem.h"
#include "rng.h"
#include "vocab.h"

#define TRIES      20      /* at a line that was not there before, then a mark makes it so */
#define TOKENS_MAX 4000000 /* of one context */

struct writer {
    const struct vocab *vocab;
    struct rng rng;
    struct buf *out;
    long tokens;          /* so far, rounded line by line */
    struct estimate text; /* of the lines so far, without the last one's end */
    struct estimate line; /* of what is written of the next one */
    struct estimate end;  /* of a line's end */
    size_t n_lines;
    int64_t now; /* seconds since 1970 of the entry being written */
    size_t last_word[VOCAB_MAX_LISTS];
    uint64_t *seen; /* open addressing; 0 = free */
    size_t n_seen, seen_size;
    long n_marks;
};

static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = 0xCBF29CE484222325u ^ len, word;
    for (; len >= 8; text += 8, len -= 8) {
        memcpy(&word, text, 8);
        h = rng_mix(h ^ word);
    }
    word = 0;
    memcpy(&word, text, len);
    h = rng_mix(h ^ word);
    return h ? h : 1;
}

static bool insert(uint64_t *table, size_t size, uint64_t h)
{
    size_t at = h & (size - 1);
    for (; table[at]; at = (at + 1) & (size - 1))
        if (table[at] == h)
            return false;
    table[at] = h;
    return true;
}

/* True if the line was not there before; it is now. */
static bool is_new(struct writer *w, const char *text, size_t len)
{
    if (w->n_seen * 2 >= w->seen_size) {
        size_t size = w->seen_size ? w->seen_size * 4 : 256;
        uint64_t *table = mem_zero(size, sizeof *table);
        for (size_t i = 0; i < w->seen_size; i++)
            if (w->seen[i])
                insert(table, size, w->seen[i]);
        free(w->seen);
        w->seen = table;
        w->seen_size = size;
    }
    bool fresh = insert(w->seen, w->seen_size, hash(text, len));
    w->n_seen += fresh;
    return fresh;
}

static void cut(struct buf *b, size_t len)
{
    if (len < b->len) {
        b->len = len;
        b->data[len] = '\0';
    }
}

static void digits2(struct buf *out, int64_t n)
{
    buf_addc(out, (char)('0' + n / 10));
    buf_addc(out, (char)('0' + n % 10));
}

/* Civil date from days since 1970 by shifting the year's start to March, where leap days end it. */
static void date(struct buf *out, int64_t days)
{
    int64_t z = days + 719468, era = z / 146097, doe = z % 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t day = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
    int64_t year = yoe + era * 400 + (month <= 2);
    digits2(out, year / 100);
    digits2(out, year % 100);
    buf_addc(out, '-');
    digits2(out, month);
    buf_addc(out, '-');
    digits2(out, day);
}

static void time_of_day(struct buf *out, int64_t seconds)
{
    digits2(out, seconds / 3600);
    buf_addc(out, ':');
    digits2(out, seconds / 60 % 60);
    buf_addc(out, ':');
    digits2(out, seconds % 60);
}

static void code(struct writer *w, const struct vocab_piece *p)
{
    for (size_t i = 0; i < p->len; i++) {
        char c = p->text[i];
        buf_addc(w->out, c == '#'   ? (char)('0' + rng_below(&w->rng, 10))
                         : c == '@' ? (char)('A' + rng_below(&w->rng, 26))
                         : c == '*' ? "0123456789abcdefghijklmnopqrstuvwxyz"[rng_below(&w->rng, 36)]
                                    : c);
    }
}

static void write_word(struct writer *w, const struct vocab_list *list, size_t word)
{
    buf_add(w->out, list->words[word], list->lengths[word]);
    estimate_add(&w->line, &list->tokens[word]);
}

static void write_made(struct writer *w, const struct vocab_piece *p)
{
    switch (p->kind) {
    case VOCAB_NUMBER:
        buf_add_long(w->out, p->from + (long)rng_below(&w->rng, (uint64_t)(p->to - p->from) + 1));
        break;
    case VOCAB_HEX:
        for (long i = 0; i < p->to; i++)
            buf_addc(w->out, "0123456789abcdef"[rng_u64(&w->rng) >> 60]);
        break;
    case VOCAB_CODE: code(w, p); break;
    case VOCAB_DATE: date(w->out, w->now / 86400); break;
    case VOCAB_TIME: time_of_day(w->out, w->now % 86400); break;
    case VOCAB_LITERAL:
    case VOCAB_WORD:
    case VOCAB_AGAIN: break;
    }
}

static void write_piece(struct writer *w, const struct vocab_piece *p)
{
    const struct vocab_list *list = &w->vocab->lists[p->list];
    size_t from = w->out->len;
    switch (p->kind) {
    case VOCAB_LITERAL:
        buf_add(w->out, p->text, p->len);
        estimate_add(&w->line, &p->tokens);
        return;
    case VOCAB_WORD: w->last_word[p->list] = rng_below(&w->rng, list->n); /* fall through */
    case VOCAB_AGAIN: write_word(w, list, w->last_word[p->list]); return;
    case VOCAB_NUMBER:
    case VOCAB_HEX:
    case VOCAB_CODE:
    case VOCAB_DATE:
    case VOCAB_TIME: break;
    }
    write_made(w, p);
    struct estimate made = estimate_of((struct span){w->out->data + from, w->out->len - from});
    estimate_add(&w->line, &made);
}

static void finish_line(struct writer *w)
{
    if (w->n_lines++)
        estimate_add(&w->text, &w->end);
    estimate_add(&w->text, &w->line);
    estimate_add(&w->line, &w->end);
    w->tokens += estimate_total(&w->line);
    w->line = (struct estimate){0};
    buf_addc(w->out, '\n');
}

static void write_line(struct writer *w, const struct vocab_line *line)
{
    size_t from = w->out->len;
    for (int i = 0; i < TRIES; i++) {
        cut(w->out, from);
        w->line = (struct estimate){0};
        for (size_t p = 0; p < line->n; p++)
            write_piece(w, &line->pieces[p]);
        if (w->out->len == from)
            return;
        if (is_new(w, w->out->data + from, w->out->len - from)) {
            finish_line(w);
            return;
        }
    }
    do
        buf_addf(w->out, " (%ld)", ++w->n_marks);
    while (!is_new(w, w->out->data + from, w->out->len - from));
    w->line = estimate_of((struct span){w->out->data + from, w->out->len - from});
    finish_line(w);
}

static void write_entry(struct writer *w)
{
    long pick = (long)rng_below(&w->rng, (uint64_t)w->vocab->weights);
    const struct vocab_form *f = w->vocab->forms;
    while (pick >= f->weight)
        pick -= f++->weight;
    w->now += 1 + (int64_t)rng_below(&w->rng, 900);
    for (size_t i = 0; i < f->n_lines; i++)
        write_line(w, &f->lines[i]);
    long rows = f->min_rows + (long)rng_below(&w->rng, (uint64_t)(f->max_rows - f->min_rows) + 1);
    for (long i = 0; i < rows; i++) {
        w->now += (int64_t)rng_below(&w->rng, 30);
        write_line(w, &f->row);
    }
}

static void write_plant(struct writer *w, const char *line)
{
    size_t from = w->out->len;
    buf_adds(w->out, line);
    is_new(w, w->out->data + from, w->out->len - from);
    w->line = estimate_of(span_of(line));
    finish_line(w);
}

/* The next plant that is due when `share` of the text is written, in the order of their places. */
static const struct context_plant *next_plant(const struct context_order *o, bool *done,
                                              double share)
{
    size_t best = o->n_plants;
    for (size_t i = 0; i < o->n_plants; i++)
        if (!done[i] && o->plants[i].at <= share &&
            (best == o->n_plants || o->plants[i].at < o->plants[best].at))
            best = i;
    if (best == o->n_plants)
        return NULL;
    done[best] = true;
    return &o->plants[best];
}

struct estimate context_write(const struct context_order *order, struct buf *out)
{
    struct writer w = {.vocab = order->vocab,
                       .rng = rng_stream(order->seed, order->number, "context"),
                       .end = estimate_of(span_of("\n")),
                       .out = out};
    long wanted = order->tokens < TOKENS_MAX ? order->tokens : TOKENS_MAX;
    bool *done = mem_zero(order->n_plants + 1, sizeof *done);
    const struct context_plant *plant;
    size_t start = out->len;
    for (size_t i = 0; i < order->n_plants; i++) {
        struct span line = span_of(order->plants[i].line);
        wanted -= estimate_tokens(line) + 1;
    }
    w.now = 1500000000 + (int64_t)rng_below(&w.rng, 150000000);
    buf_reserve(out, wanted > 0 ? (size_t)wanted * 4 : 0);
    long planted = 0;
    while (w.tokens - planted < wanted) {
        double share = (double)(w.tokens - planted) / (double)wanted;
        if ((plant = next_plant(order, done, share))) {
            long before = w.tokens;
            write_plant(&w, plant->line);
            planted += w.tokens - before;
        } else {
            write_entry(&w);
        }
    }
    while ((plant = next_plant(order, done, 2)))
        write_plant(&w, plant->line);
    if (out->len > start)
        cut(out, out->len - 1);
    free(w.seen);
    free(done);
    return w.text;
}
