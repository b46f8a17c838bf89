/* turn.c - what was due and did not come, and the answer that had to be right. Weighs the reply as
 * a whole; everything about single texts has been found by others. */
#include "turn.h"

#include <string.h>

#include "exam.h"
#include "expect.h"
#include "json.h"
#include "message.h"
#include "reply.h"
#include "token.h"

/* Tokens that an empty reply may honestly have cost: an end token, an empty think block. */
#define EMPTY_TOKENS 6

/* Visible bytes per token below which most tokens must have been swallowed, and the least tokens
 * for which that says anything. Text has 3 to 4. */
#define BYTES_PER_TOKEN_MIN 1.2
#define SWALLOWED_TOKENS    24

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct span trim(struct span s)
{
    while (s.len && is_space(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len && is_space(s.data[s.len - 1]))
        s.len--;
    return s;
}

static bool says_tool_calls(const struct reply *r)
{
    return strcmp(r->finish, "tool_calls") == 0 || strcmp(r->finish, "function_call") == 0;
}

static bool is_swallowed(const struct exam *x)
{
    const struct reply *r = x->r;
    long tokens = r->usage.completion_tokens;
    if (!r->reasoning.len)
        return tokens >= EMPTY_TOKENS;
    return tokens >= SWALLOWED_TOKENS &&
           (double)r->reasoning.len < BYTES_PER_TOKEN_MIN * (double)tokens;
}

static void missing(struct exam *x, enum reason reason, const char *rule, const char *why)
{
    exam_note(x, reason, CHANNEL_calls, -1, rule, "%s", why);
}

static void check_missing_call(struct exam *x)
{
    bool visible = trim(buf_span(&x->r->content)).len > 0;
    if (x->capped)
        missing(x, REASON_cap, "cap", "max_tokens was reached before the call");
    else if (visible)
        missing(x, REASON_prose, "prose", "text came instead of the call");
    else if (is_swallowed(x))
        missing(x, REASON_swallowed, "swallowed", "tokens were generated, nothing came");
    else
        missing(x, REASON_empty, "empty", "nothing came");
}

void no_tool_detect(struct exam *x)
{
    const struct reply *r = x->r;
    const struct expect *e = x->e;
    if (x->failed)
        return;
    bool visible = trim(buf_span(&r->content)).len > 0;
    if (x->capped && (x->open_call || e->must_finish))
        missing(x, REASON_cap, "cap-in-call",
                x->open_call ? "max_tokens was reached inside a call"
                             : "max_tokens was reached before the end");
    else if (!r->n_calls && says_tool_calls(r))
        missing(x, REASON_finish_lie, "finish-lie", "the finish reason says tool_calls");
    else if (!r->n_calls && (e->call_due || e->choice == CHOICE_REQUIRED))
        check_missing_call(x);
    else if (!r->n_calls && !visible && (e->final_text || is_swallowed(x)))
        check_missing_call(x);
}

static bool is_emphasis(char c)
{
    return c == '*' || c == '_' || c == '`' || c == '#';
}

static bool is_closing(char c)
{
    return c == '.' || c == '!' || c == ',' || c == ';' || c == ':';
}

static bool is(struct span a, struct span b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* True if `s` is `want` in emphasis, quotes or code marks, with a closing full stop or the like. A
 * mark is only taken off if what is wanted does not itself begin or end with it. */
static bool is_answer(struct span s, struct span want)
{
    s = trim(s);
    while (s.len > want.len) {
        char first = s.data[0], last = s.data[s.len - 1];
        bool paired = first == last && (is_emphasis(first) || first == '"');
        if (is_closing(last) || is_space(last))
            s.len--;
        else if (paired && s.len >= want.len + 2)
            s = (struct span){s.data + 1, s.len - 2};
        else if (is_space(first) || first == '#')
            s = (struct span){s.data + 1, s.len - 1};
        else
            break;
        if (is(s, want))
            return true;
    }
    return is(s, want);
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           (unsigned char)c >= 0x80;
}

/* Standing alone somewhere in the text. */
static bool holds(struct span s, struct span want)
{
    for (long at = 0; (at = span_find(s, want, (size_t)at)) >= 0; at++) {
        size_t end = (size_t)at + want.len;
        if ((at == 0 || !is_word(s.data[at - 1])) && (end == s.len || !is_word(s.data[end])))
            return true;
    }
    return false;
}

/* Bytes at which a word is long enough to be told from another. */
#define CODE_MIN 4

static size_t common_ends(struct span a, struct span b)
{
    size_t i = 0, j = 0, most = a.len < b.len ? a.len : b.len;
    while (i < most && a.data[i] == b.data[i])
        i++;
    while (j < most - i && a.data[a.len - 1 - j] == b.data[b.len - 1 - j])
        j++;
    return i + j;
}

/* A second answer that is almost the first: whoever reads it must guess. */
static bool is_hedged(struct span s, struct span want)
{
    for (size_t i = 0; i < want.len; i++)
        if (want.len < CODE_MIN || (!is_word(want.data[i]) && want.data[i] != '_'))
            return false;
    for (size_t at = 0, n; at < s.len; at += n + 1) {
        for (n = 0; at + n < s.len && (is_word(s.data[at + n]) || s.data[at + n] == '_');)
            n++;
        struct span word = {s.data + at, n};
        size_t apart = n > want.len ? n - want.len : want.len - n;
        if (n && apart <= 2 && !is(word, want) && common_ends(word, want) * 2 >= want.len)
            return true;
    }
    return false;
}

/* Text around a right answer that is still a sentence and no runaway. */
#define SENTENCE_MAX 160

void answer_detect(struct exam *x)
{
    if (!x->e->final_text || x->failed)
        return;
    const struct view *w = &x->views[0];
    struct span want = trim(span_of(x->e->final_text)), got = trim(w->raw);
    if (!got.len || is_answer(got, want))
        return;
    if (x->capped) {
        missing(x, REASON_cap, "runaway",
                "max_tokens was reached, and the answer is not just that");
        return;
    }
    if (holds(got, want) && is_hedged(got, want))
        exam_sign(x, (struct charge){REASON_value, LEVEL_DAMAGE, "answer-hedged"}, w, got,
                  "the right answer beside one that is almost it");
    else if (holds(got, want) && got.len <= want.len + SENTENCE_MAX)
        exam_sign(x, (struct charge){REASON_value, LEVEL_SUSPECT, "answer-in-sentence"}, w, got,
                  "the right answer, in a sentence");
    else if (holds(got, want))
        exam_sign(x, (struct charge){REASON_value, LEVEL_DAMAGE, "answer-in-runaway"}, w, got,
                  "the right answer is only a part of this");
    else
        exam_sign(x, (struct charge){REASON_value, LEVEL_DAMAGE, "answer"}, w, got,
                  "wanted '%.100s', got '%.60s'", x->e->final_text, buf_str(&x->r->content));
}

/* A text in which tokens of others are sought, and its way back to the view's raw text. */
struct sought {
    const struct view *w;
    struct span text;
    enum { AS_SENT, FOLDED, DECODED } form;
};

static struct span place_of(const struct sought *t, size_t at, size_t len)
{
    switch (t->form) {
    case AS_SENT: return (struct span){t->w->raw.data + at, len};
    case FOLDED: return exam_raw(t->w, at, at + len);
    case DECODED: break;
    }
    return t->w->raw;
}

static bool find_listed(struct exam *x, const struct sought *t, struct span canary)
{
    if (!holds(t->text, canary))
        return false;
    size_t at = (size_t)span_find(t->text, canary, 0);
    exam_sign(x, (struct charge){REASON_foreign, LEVEL_DAMAGE, "foreign-canary"}, t->w,
              place_of(t, at, canary.len), "'%.100s' belongs to another session", canary.data);
    return true;
}

static bool find_tokens(struct exam *x, const struct sought *t)
{
    struct token_owner owner;
    size_t from = 0;
    bool found = false;
    for (int n = 0; n < 8; n++) {
        long at = token_find(x->e->key, t->text, from, &owner);
        if (at < 0)
            break;
        from = (size_t)at + 1;
        if (owner.session == x->e->session ||
            (x->e->n_sessions > 0 && owner.session > x->e->n_sessions) || owner.session < 1)
            continue;
        found = true;
        struct sign *s =
            exam_sign(x, (struct charge){REASON_foreign, LEVEL_DAMAGE, "foreign-token"}, t->w,
                      place_of(t, (size_t)at, TOKEN_LEN), "token of session %ld, slot %d",
                      owner.session, owner.slot);
        if (s) {
            s->owner_session = owner.session;
            s->owner_slot = owner.slot;
        }
    }
    return found;
}

/* Every string of `v`, keys as well, with its escapes resolved, a line each. */
static void add_strings(const struct json *v, int depth, struct buf *out)
{
    if (json_type(v) == JSON_STRING) {
        buf_add(out, json_span(v).data, json_span(v).len);
        buf_addc(out, '\n');
    }
    for (const struct json *m = depth < 64 ? json_first(v) : NULL; m; m = json_next(m)) {
        buf_addf(out, "%s\n", json_key(m));
        add_strings(m, depth + 1, out);
    }
}

/* As sent; with escapes of JSON resolved as far as the way back is known; then the strings
 * themselves. */
static void check_foreign(struct exam *x, const struct view *w)
{
    struct buf strings = BUF_INIT;
    bool escaped = w->channel == CHANNEL_args && memchr(w->raw.data, '\\', w->raw.len);
    if (escaped && x->args[w->call])
        add_strings(x->args[w->call], 0, &strings);
    const struct sought forms[] = {
        {w, w->raw, AS_SENT}, {w, w->fold.text, FOLDED}, {w, buf_span(&strings), DECODED}};
    size_t n = escaped ? sizeof forms / sizeof *forms : 1;
    for (size_t i = 0; i < x->e->n_foreign; i++) {
        struct span canary = span_of(x->e->foreign_canaries[i]);
        bool found = !canary.len;
        for (size_t k = 0; k < n && !found; k++)
            found = find_listed(x, &forms[k], canary);
    }
    bool found = !x->e->key;
    for (size_t k = 0; k < n && !found; k++)
        found = find_tokens(x, &forms[k]);
    buf_release(&strings);
}

void foreign_detect(struct exam *x)
{
    if (!x->e->n_foreign && !x->e->key)
        return;
    for (size_t i = 0; i < x->n_views; i++)
        if (x->views[i].raw.len)
            check_foreign(x, &x->views[i]);
    for (size_t i = 0; i < x->n_calls; i++) {
        struct view id = {
            .channel = CHANNEL_id, .call = (int)i, .raw = buf_span(&x->r->calls[i].id)};
        if (id.raw.len)
            check_foreign(x, &id);
    }
}
