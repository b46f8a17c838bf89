/* markup.c - the rules run over the texts of a reply. Needles say where a rule is worth trying, so
 * that most texts cost one pass; what a hit weighs is weigh.c's business, what a rule means the
 * data's. */
#include "markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exam.h"
#include "mem.h"
#include "needle.h"
#include "pattern.h"
#include "reply.h"
#include "search.h"

/* Times one rule is tried on one text: bounds texts made of nothing but needles. */
#define MAX_TRIES 6000

static void add_hit(struct search *s, const struct rule *rule, const struct pattern_hit *h)
{
    if (s->n == MAX_HITS)
        return;
    /* A line's indentation belongs to the line, not to what stands before it. */
    size_t start = h->start;
    while (start + 1 < h->end && strchr(" \t\r\n", s->w->fold.text.data[start]))
        start++;
    s->hits[s->n++] = (struct hit){.rule = rule,
                                   .start = start,
                                   .end = h->end,
                                   .group = h->group_start,
                                   .group_end = h->group_end,
                                   .level = LEVEL_DAMAGE};
}

/* Where reasoning and content meet only markers count: plain calls need a line of their own. */
static bool holds_in(const struct rule *rule, enum channel channel)
{
    if (channel != CHANNEL_boundary)
        return rule->channels & 1u << channel;
    return rule->channels & 1u << CHANNEL_content &&
           (rule->role == RULE_OPEN || rule->role == RULE_CLOSE || rule->role == RULE_INNER);
}

/* The rule's state in this search, which begins anew with every text. */
static struct rule_state *state_of(struct search *s, size_t i)
{
    struct exam *x = s->x;
    if (!x->states) {
        x->states = mem_zero(x->set->rules->n, sizeof *x->states);
        x->scratch = pattern_scratch_new();
    }
    struct rule_state *state = &x->states[i];
    if (state->search != x->n_searches)
        *state = (struct rule_state){.search = x->n_searches, .next = s->w->lead};
    return state;
}

/* No match starts in [from, to). One range is remembered: places mostly come in their order. */
static void note_vain(struct rule_state *state, size_t from, size_t to)
{
    bool apart = from > state->vain_to || to < state->vain_from;
    if (apart || from < state->vain_from)
        state->vain_from = from;
    if (apart || to > state->vain_to)
        state->vain_to = to;
}

static void try_rule(struct search *s, size_t i, size_t back, size_t at)
{
    const struct rule *rule = &s->x->set->rules->rules[i];
    if (!holds_in(rule, s->w->channel))
        return;
    struct rule_state *state = state_of(s, i);
    if (at < state->next || state->tries++ > MAX_TRIES)
        return;
    size_t from = at > back ? at - back : 0;
    if (from < state->next)
        from = state->next;
    if (from >= state->vain_from && from < state->vain_to)
        from = state->vain_to;
    if (from > at)
        return;
    struct pattern_hit h;
    switch (
        pattern_find_within(s->x->set->patterns[i], s->x->scratch, s->w->fold.text, from, at, &h)) {
    case PATTERN_NO: note_vain(state, from, at + 1); break;
    case PATTERN_YES:
        state->next = h.end > h.start ? h.end : h.start + 1;
        add_hit(s, rule, &h);
        break;
    case PATTERN_GAVE_UP: break;
    }
}

static void found_needle(void *arg, int tag, size_t start, size_t end)
{
    struct search *s = arg;
    (void)end;
    try_rule(s, (size_t)tag, s->x->set->rules->rules[tag].back, start);
}

static void found_tool(void *arg, int tag, size_t start, size_t end)
{
    struct search *s = arg;
    const struct rules *rules = s->x->set->rules;
    (void)tag;
    (void)end;
    for (size_t i = 0; i < rules->n_at_tool; i++)
        try_rule(s, rules->at_tool[i], RULE_BACK_TOOL, start);
}

static void try_ends(struct search *s)
{
    const struct rules *rules = s->x->set->rules;
    size_t len = s->w->fold.text.len;
    for (size_t k = 0; k < rules->n_at_ends; k++) {
        size_t i = rules->at_ends[k];
        if (rules->rules[i].at_start)
            try_rule(s, i, 0, 0);
        if (rules->rules[i].at_end)
            try_rule(s, i, RULE_END_BYTES, len);
    }
}

/* By place; of two at one place the longer first, then the weightier role. */
static int by_place(const struct hit *a, const struct hit *b)
{
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (int)a->rule->role - (int)b->rule->role;
}

static void sort_hits(struct search *s)
{
    for (size_t i = 1; i < s->n; i++) {
        struct hit h = s->hits[i];
        size_t j = i;
        for (; j > 0 && by_place(&h, &s->hits[j - 1]) < 0; j--)
            s->hits[j] = s->hits[j - 1];
        s->hits[j] = h;
    }
}

static enum reason reason_of(const struct view *w, enum rule_role role)
{
    if (w->channel == CHANNEL_name)
        return REASON_markup_name;
    if (w->channel == CHANNEL_args)
        return REASON_markup_args;
    if (w->channel == CHANNEL_error)
        return REASON_server_parse;
    if (role == RULE_SPECIAL)
        return REASON_special_token;
    if (role == RULE_THINK || role == RULE_THINK_END)
        return REASON_reasoning_text;
    return w->channel == CHANNEL_reasoning ? REASON_markup_reasoning : REASON_markup;
}

static void report(struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct hit *h = &s->hits[i];
        if (!h->dropped)
            exam_sign(s->x, (struct charge){reason_of(s->w, h->rule->role), h->level, h->rule->id},
                      s->w, exam_raw(s->w, h->start, h->end), "%s: %s",
                      rule_role_word(h->rule->role), h->why ? h->why : "");
    }
}

void markup_search(struct exam *x, struct view *w)
{
    if (!w->fold.text.len)
        return;
    struct search s; /* not zeroed: room for many hits, where most texts have none */
    s.x = x;
    s.w = w;
    s.n = s.off = 0;
    x->n_searches++;
    needles_scan(x->set->rules->needles, w->fold.text, found_needle, &s);
    if (x->set->tool_names)
        needles_scan(x->set->tool_names, w->fold.text, found_tool, &s);
    try_ends(&s);
    if (!s.n)
        return;
    sort_hits(&s);
    weigh_hits(&s);
    report(&s);
}

/* A marker that began as reasoning and ended as content is whole in neither. */
static void search_boundary(struct exam *x)
{
    struct span a = buf_span(&x->r->reasoning), b = buf_span(&x->r->content);
    size_t head = a.len < 64 ? a.len : 64, tail = b.len < 64 ? b.len : 64;
    if (!head || !tail)
        return;
    /* One byte more, so that no line seems to start where the text was only cut out. */
    size_t lead = a.len > head;
    head += lead;
    struct buf both = BUF_INIT;
    buf_add(&both, a.data + a.len - head, head);
    buf_add(&both, b.data, tail);
    struct view w = {.channel = CHANNEL_boundary, .call = -1, .raw = buf_span(&both), .lead = lead};
    fold_init(&w.fold, w.raw, 0, false);
    size_t before = x->v->n_signs;
    markup_search(x, &w);
    size_t kept = before;
    for (size_t i = before; i < x->v->n_signs; i++) {
        struct sign sign = x->v->signs[i];
        if (sign.offset < head && sign.offset + sign.len > head && sign.level == LEVEL_DAMAGE)
            x->v->signs[kept++] = sign;
    }
    x->v->n_signs = kept;
    fold_release(&w.fold);
    zones_release(&w.zones);
    buf_release(&both);
}

void markup_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_views; i++)
        markup_search(x, &x->views[i]);
    search_boundary(x);
}
