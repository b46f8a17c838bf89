/* weigh.c - what a hit of the rules weighs: markup that is shown, mentioned, paired or cut off is
 * no leak. Knows Markdown's zones and a little of how people write; the rules are data. */
#include <stdio.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "needle.h"
#include "reply.h"
#include "search.h"

/* How far behind a turn token the next one still belongs to the same mention. */
#define MENTION_REACH 14

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

/* At a line's start, what follows tells: a dash explains a token; a bracket word before a time is a
 * label of a log, and one that ends something does not begin a sentence. */
static bool is_listed(const struct search *s, size_t from, size_t to, int next)
{
    struct span text = s->w->fold.text;
    struct span token = {text.data + from, to - from};
    if (next == '-' || next == '=' || next == 0xE2)
        return true;
    if (token.data[0] != '[' || memchr(token.data, '|', token.len))
        return false;
    if (next >= '0' && next <= '9')
        return span_find(text, span_of("[/"), 0) < 0;
    return span_starts(token, "[EO") && is_lower(next);
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
        return is_listed(s, from, to, next);
    if (!is_blank(before) && before != '(')
        return false;
    if (after == ' ' && (is_lower(next) || (next > 0 && strchr("|=&+,/-", next))))
        return true;
    if (s->hits[i].rule->role == RULE_SPECIAL && is_word(after))
        return true;
    return after > 0 && strchr(".,;:!?)", after) && !is_word(next) && next != '<';
}

static bool names_tool(struct search *s);

static struct span trim_blanks(struct span s)
{
    while (s.len && is_blank(s.data[0]))
        s = (struct span){s.data + 1, s.len - 1};
    return s;
}

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
    fits = fits || span_starts(trim_blanks(info), "tool_c");
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
    if (h->rule->suspect)
        lower(h, "within other text");
    else if (h->start >= s->off || h->rule->everywhere)
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
        mention = h->level == LEVEL_SUSPECT && !h->rule->suspect ? h : NULL;
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

/* The number that begins a list's line at `at`, 0 if none does, -1 for a bullet. */
static long list_number(struct span text, size_t at)
{
    long n = 0;
    size_t i = at;
    while (i < text.len && i < at + 4 && text.data[i] >= '0' && text.data[i] <= '9')
        n = n * 10 + (text.data[i++] - '0');
    if (i > at)
        return strchr(".)", byte_at(text, i)) && byte_at(text, i + 1) == ' ' ? n : 0;
    return byte_at(text, at) > 0 && strchr("-*+", text.data[at]) && byte_at(text, at + 1) == ' '
               ? -1
               : 0;
}

/* A list that goes on behind the tag as if it were not there: [before, after) is the tag with the
 * blanks around it. */
static bool list_goes_on(struct span text, size_t before, size_t after)
{
    size_t line = before;
    while (line > 0 && text.data[line - 1] != '\n')
        line--;
    long last = list_number(text, line), first = list_number(text, after);
    return last && (last < 0 ? first == last : first == last + 1);
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
        size_t lead = 0, rest = h->end, said = h->start;
        while (lead < h->start && strchr(" \n\t\r", text.data[lead]))
            lead++;
        while (rest < text.len && strchr(" \n\t\r", text.data[rest]))
            rest++;
        while (said > 0 && strchr(" \n\t\r", text.data[said - 1]))
            said--;
        int after = byte_at(text, h->end);
        bool parts = !list_goes_on(text, said, rest) && rest < text.len &&
                     (after == '\n' || after == '\r' || !is_blank(after));
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

void weigh_hits(struct search *s)
{
    bool prose = s->w->channel == CHANNEL_content || s->w->channel == CHANNEL_reasoning;
    drop_covered(s);
    drop_paired(s);
    weigh(s);
    if (!prose)
        return;
    weigh_think_ends(s);
    if (exam_unfinished(s->x))
        excuse_open_call(s);
}
