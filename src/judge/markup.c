/* markup.c - the rules run over the texts of a reply, and what each hit weighs: shown in code or
 * quotes, mentioned in a sentence, cut off, or said. Pure; the rules are data. */
#include "markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "mem.h"
#include "needle.h"
#include "pattern.h"
#include "reply.h"

/* Hits kept per text. */
#define MAX_HITS 400

/* Times one rule is tried on one text: bounds texts made of nothing but needles. */
#define MAX_TRIES 6000

/* How far behind a turn token the next one still belongs to the same mention. */
#define MENTION_REACH 14

struct hit {
    const struct rule *rule;
    size_t start, end, group, group_end; /* folded */
    enum sign_level level;
    bool dropped;
    const char *why; /* not lowered, or lowered */
};

struct search {
    struct exam *x;
    struct view *w;
    struct hit hits[MAX_HITS];
    size_t n;
    struct rule_state {
        size_t next; /* no match of the rule starts before */
        long tries;
    } * state;
    size_t off; /* zones mean nothing from here on: the text has begun to be a call */
};

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

static void try_rule(struct search *s, size_t i, size_t back, size_t at)
{
    const struct rule *rule = &s->x->set->rules->rules[i];
    struct rule_state *state = &s->state[i];
    if (!holds_in(rule, s->w->channel) || at < state->next || state->tries++ > MAX_TRIES)
        return;
    size_t from = at > back ? at - back : 0;
    if (from < state->next)
        from = state->next;
    struct pattern_hit h;
    if (pattern_find_within(s->x->set->patterns[i], s->w->fold.text, from, at, &h) != PATTERN_YES)
        return;
    state->next = h.end > h.start ? h.end : h.start + 1;
    add_hit(s, rule, &h);
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
    for (size_t i = 0; i < rules->n; i++)
        if (rules->rules[i].at_tool)
            try_rule(s, i, RULE_BACK_TOOL, start);
}

static void try_ends(struct search *s)
{
    const struct rules *rules = s->x->set->rules;
    size_t len = s->w->fold.text.len;
    for (size_t i = 0; i < rules->n; i++) {
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

static bool is_call_role(enum rule_role role)
{
    return role == RULE_OPEN || role == RULE_CLOSE || role == RULE_INNER || role == RULE_NAKED;
}

/* A chat-template token that is also part of a call's marker says less than the marker. */
static void drop_covered(struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct hit *h = &s->hits[i];
        if (h->rule->role != RULE_SPECIAL)
            continue;
        for (size_t j = 0; j < s->n; j++) {
            const struct hit *o = &s->hits[j];
            if (o->rule->role != RULE_SPECIAL && o->start < h->end && o->end > h->start)
                h->dropped = true;
        }
    }
}

static int byte_at(struct span s, size_t at)
{
    return at < s.len ? (unsigned char)s.data[at] : -1;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t';
}

static bool is_lower(int c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_word(int c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* True if the quote at `at` opens a value in a text of JSON. */
static bool starts_value(struct span text, size_t at)
{
    while (at > 0 && is_blank(byte_at(text, at - 1)))
        at--;
    return at > 0 && strchr(":[,", text.data[at - 1]);
}

/* A closer counts if nothing opened it and it is glued to the text before it or starts a line. */
static bool is_orphan(const struct search *s, const struct hit *h)
{
    struct span text = s->w->fold.text;
    int before = h->start ? byte_at(text, h->start - 1) : '\n';
    if (s->w->channel == CHANNEL_args && before == '"' && starts_value(text, h->start - 1))
        before = '\n';
    if (is_blank(before) || before == '(' || before == '"' || before == '\'' || before == '`')
        return false;
    char open[64];
    size_t len = h->group_end - h->group;
    if (len + 2 > sizeof open)
        return true;
    snprintf(open, sizeof open, "<%.*s", (int)len, text.data + h->group);
    return span_find((struct span){text.data, h->start}, span_of(open), 0) < 0;
}

static void drop_paired(struct search *s)
{
    int looked = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->hits[i].rule->orphan && (looked++ > 64 || !is_orphan(s, &s->hits[i])))
            s->hits[i].dropped = true;
}

/* Behind a plain tag that begins at `at`, or `at`. */
static size_t skip_tag(struct span text, size_t at)
{
    size_t i = at + 1;
    if (byte_at(text, at) != '<')
        return at;
    while (i < text.len && i < at + 40 && (is_word(byte_at(text, i)) || strchr("/:", text.data[i])))
        i++;
    return byte_at(text, i) == '>' ? i + 1 : at;
}

/* The place that a hit takes together with its neighbours: a marker of several parts is mentioned
 * as a whole. */
static void extent(const struct search *s, size_t i, size_t *from, size_t *to)
{
    struct span text = s->w->fold.text;
    *from = s->hits[i].start;
    *to = s->hits[i].end;
    for (size_t k = i; k > 0 && s->hits[k - 1].end >= *from; k--) {
        *from = s->hits[k - 1].start;
        *to = s->hits[k - 1].end > *to ? s->hits[k - 1].end : *to;
    }
    for (size_t k = i + 1; k < s->n && s->hits[k].start <= *to; k++)
        if (s->hits[k].end > *to && s->hits[k].rule->role != RULE_NAKED)
            *to = s->hits[k].end;
    if (byte_at(text, *to) == '>')
        ++*to;
    *to = skip_tag(text, *to);
}

/* "the <tag> opens", "(<tag>)", "a <tag>, then": spoken of, not spoken. */
static bool is_mention(const struct search *s, size_t i)
{
    struct span text = s->w->fold.text;
    size_t from, to;
    extent(s, i, &from, &to);
    int before = from ? byte_at(text, from - 1) : '\n';
    int after = byte_at(text, to), next = byte_at(text, to + 1);
    /* As a string of code or data: "token". */
    if ((before == '"' || before == '\'') && after == before)
        return true;
    if (before == '\n' && s->hits[i].rule->role == RULE_SPECIAL && after == ' ')
        return next == '-' || next == '=' || next == 0xE2; /* a dash: a list of tokens */
    if (!is_blank(before) && before != '(')
        return false;
    if (after == ' ' && (is_lower(next) || (next > 0 && strchr("|=&+,/-", next))))
        return true;
    if (s->hits[i].rule->role == RULE_SPECIAL && is_word(after))
        return true;
    return after > 0 && strchr(".,;:!?)", after) && !is_word(next) && next != '<';
}

static bool names_tool(struct search *s);

/* A message that is one fence and nothing else is a call in fence's clothing if it is shaped like
 * one and names a tool. */
static bool is_fenced_call(struct search *s, const struct hit *h)
{
    const struct zones *z = exam_zones(s->w);
    if (!z->whole_fence)
        return false;
    struct span info = z->fence_info;
    static const char *const plain[] = {"json", "JSON", "xml", "text", "txt", "plaintext"};
    bool fits = info.len == 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        fits = fits || span_is(info, plain[i]);
    return fits && h->rule->role != RULE_SPECIAL && h->rule->role != RULE_THINK && names_tool(s);
}

static void note_tool(void *arg, int tag, size_t start, size_t end)
{
    bool *seen = arg;
    (void)tag;
    (void)start;
    (void)end;
    *seen = true;
}

static bool names_tool(struct search *s)
{
    bool seen = false;
    if (s->x->set->tool_names)
        needles_scan(s->x->set->tool_names, s->w->fold.text, note_tool, &seen);
    return seen;
}

static void lower(struct hit *h, const char *why)
{
    h->level = LEVEL_SUSPECT;
    h->why = why;
}

/* What excuses a hit in text that people read; `last` is the mention before, or NULL. */
static void weigh_prose(struct search *s, size_t i, const struct hit *last)
{
    struct hit *h = &s->hits[i];
    const struct expect *e = s->x->e;
    enum zone z = exam_zones(s->w)->of[h->start];
    if (h->start >= s->off || h->rule->everywhere)
        h->why = "behind a real opener, or unmistakable";
    else if (z != ZONE_PROSE && !(z == ZONE_FENCE && is_fenced_call(s, h)))
        lower(h, zone_name(z));
    else if (e->prompt_mentions_markup)
        lower(h, "the prompt speaks of markup");
    else if (h->rule->role != RULE_NAKED && is_mention(s, i))
        lower(h, "a mention");
    else if (h->rule->role == RULE_SPECIAL && last && h->start - last->end <= MENTION_REACH)
        lower(h, "part of a mention");
    else
        h->why = z == ZONE_FENCE ? "the message is one fence that holds a call"
                                 : "in plain text, not a mention";
    if (h->level == LEVEL_DAMAGE && is_call_role(h->rule->role) && h->rule->role != RULE_CLOSE &&
        h->start < s->off)
        s->off = h->start;
}

static void weigh(struct search *s)
{
    const struct hit *mention = NULL;
    bool prose = s->w->channel == CHANNEL_content || s->w->channel == CHANNEL_reasoning ||
                 s->w->channel == CHANNEL_boundary;
    s->off = s->w->fold.text.len + 1;
    for (size_t i = 0; i < s->n; i++) {
        struct hit *h = &s->hits[i];
        if (h->dropped)
            continue;
        if (prose)
            weigh_prose(s, i, mention);
        else if (s->w->channel == CHANNEL_args && s->x->e->args_may_contain_markup)
            lower(h, "arguments may hold markup here");
        else
            h->why = "no place for markup";
        mention = h->level == LEVEL_SUSPECT ? h : NULL;
        if (s->w->channel == CHANNEL_reasoning && s->x->r->n_calls && is_call_role(h->rule->role))
            lower(h, "the call itself was parsed");
    }
}

/* A closer that its opener excuses still closes. */
static bool is_closed(const struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->hits[i].rule->role == RULE_CLOSE)
            return true;
    return false;
}

static bool ends_closed(struct span text)
{
    while (text.len && strchr(" \n\r\t", text.data[text.len - 1]))
        text.len--;
    return text.len && strchr("}])", text.data[text.len - 1]);
}

/* A call that was still being written when the reply broke off is no leak of the server's. */
static void excuse_open_call(struct search *s)
{
    size_t first = s->w->fold.text.len + 1;
    bool naked = true;
    for (size_t i = 0; i < s->n; i++) {
        const struct hit *h = &s->hits[i];
        if (h->dropped || h->level != LEVEL_DAMAGE || !is_call_role(h->rule->role))
            continue;
        naked = naked && h->rule->role == RULE_NAKED;
        if (h->start < first)
            first = h->start;
    }
    if (first > s->w->fold.text.len || is_closed(s) || (naked && ends_closed(s->w->fold.text)))
        return;
    s->x->open_call = true;
    /* Role headers and the like stand a little before the call proper. */
    size_t from = first > 200 ? first - 200 : 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->hits[i].start >= from && s->hits[i].level == LEVEL_DAMAGE)
            lower(&s->hits[i], "the reply broke off inside this call");
}

/* The end of a think block that never began here: damage at the start of the text or where it
 * parts two texts; elsewhere a habit of models. */
static void weigh_think_ends(struct search *s)
{
    struct span text = s->w->fold.text;
    size_t ends = 0;
    bool opened = false;
    for (size_t i = 0; i < s->n; i++)
        ends += s->hits[i].rule->role == RULE_THINK_END && s->hits[i].level == LEVEL_DAMAGE;
    for (size_t i = 0; i < s->n; i++) {
        struct hit *h = &s->hits[i];
        if (h->dropped || h->level == LEVEL_SUSPECT)
            continue;
        opened = opened || h->rule->role == RULE_THINK;
        if (h->rule->role != RULE_THINK_END || opened)
            continue;
        size_t lead = 0, rest = h->end;
        while (lead < h->start && strchr(" \n\t\r", text.data[lead]))
            lead++;
        while (rest < text.len && strchr(" \n\t\r", text.data[rest]))
            rest++;
        int after = byte_at(text, h->end);
        bool parts = rest < text.len && (after == '\n' || after == '\r' || !is_blank(after));
        bool answered =
            s->w->channel == CHANNEL_content || (!s->x->r->content.len && !s->x->r->n_calls);
        bool token =
            memchr(text.data + h->start, '|', h->end - h->start) || text.data[h->start] == '[';
        if (answered && (token || lead == h->start || (parts && ends == 1)))
            continue;
        h->dropped = true;
        if (s->w->channel == CHANNEL_content)
            s->x->v->quirks |= QUIRK_BIT(stray_think_close);
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
            exam_sign(s->x, reason_of(s->w, h->rule->role), h->level, s->w,
                      exam_raw(s->w, h->start, h->end), h->rule->id, "%s: %s",
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
    s.state = mem_zero(x->set->rules->n + 1, sizeof *s.state);
    needles_scan(x->set->rules->needles, w->fold.text, found_needle, &s);
    if (x->set->tool_names)
        needles_scan(x->set->tool_names, w->fold.text, found_tool, &s);
    try_ends(&s);
    free(s.state);
    if (!s.n)
        return;
    sort_hits(&s);
    drop_covered(&s);
    drop_paired(&s);
    weigh(&s);
    if (w->channel == CHANNEL_content || w->channel == CHANNEL_reasoning) {
        weigh_think_ends(&s);
        if (exam_unfinished(x))
            excuse_open_call(&s);
    }
    report(&s);
}

/* A marker that began as reasoning and ended as content is whole in neither. */
static void search_boundary(struct exam *x)
{
    struct span a = buf_span(&x->r->reasoning), b = buf_span(&x->r->content);
    size_t head = a.len < 64 ? a.len : 64, tail = b.len < 64 ? b.len : 64;
    if (!head || !tail)
        return;
    struct buf both = BUF_INIT;
    buf_add(&both, a.data + a.len - head, head);
    buf_add(&both, b.data, tail);
    struct view w = {.channel = CHANNEL_boundary, .call = -1, .raw = buf_span(&both)};
    fold_init(&w.fold, w.raw, false);
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
