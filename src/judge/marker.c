/* marker.c - what a pattern can't see because it is not all there. Works from the known markers of
 * the rules' data, whatever they are; knows only what makes a marker a marker: angle brackets,
 * bars, square brackets. */
#include "marker.h"

#include <stdlib.h>
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "needle.h"
#include "reply.h"

/* Bytes of a half marker that say enough; fewer do where a bar makes them unlikely in prose. */
#define HALF_MIN 4

/* Bytes of a marker's tail at the start of a text; fewer do where it ends in a bar. */
#define TAIL_MIN     6
#define TAIL_MIN_BAR 4

/* Bytes at both ends of a text where halves and tails of markers are looked for. */
#define END_BYTES 200

static bool has_bar(const char *text, size_t len)
{
    return memchr(text, '|', len) != NULL;
}

static bool can_be_cut(const char *token)
{
    return strchr("<[]|", token[0]) != NULL;
}

/* Most texts have none of these bytes at the end that matters: that is seen at once. */
static bool holds_any(const char *text, size_t len, const char *bytes)
{
    for (; *bytes; bytes++)
        if (memchr(text, *bytes, len))
            return true;
    return false;
}

/* Longest proper start of any known marker that ends the text; 0 = none. */
static size_t half_length(const struct rules *r, struct span text)
{
    size_t best = 0, near = text.len < END_BYTES ? text.len : END_BYTES;
    if (!holds_any(text.data + text.len - near, near, "<[]|"))
        return 0;
    for (size_t i = 0; i < r->n_tokens; i++) {
        const char *t = r->tokens[i];
        size_t len = strlen(t) - 1;
        if (!can_be_cut(t))
            continue;
        for (len = len < near ? len : near; len > best && len >= 2; len--)
            if (text.data[text.len - len] == t[0] &&
                memcmp(text.data + text.len - len, t, len) == 0)
                best = len;
    }
    return best;
}

/* Whether a half marker of this length is enough to believe in. */
static bool is_telling(struct view *w, size_t len)
{
    struct span text = w->fold.text;
    const char *half = text.data + text.len - len;
    if (!has_bar(half, len))
        return len >= (half[1] == '/' ? HALF_MIN + 1 : HALF_MIN);
    if (len >= 3)
        return true;
    struct span raw = exam_raw(w, text.len - len, text.len);
    bool foreign_bar = raw.len > len;
    bool glued = text.len > len && !strchr(" \t\n(", half[-1]);
    return foreign_bar || glued;
}

static enum reason reason_in(const struct view *w)
{
    return w->channel == CHANNEL_reasoning ? REASON_markup_reasoning : REASON_markup;
}

static enum sign_level level_at(struct exam *x, struct view *w, size_t at, const char **why)
{
    enum zone z = exam_zones(w)->of[at];
    *why = "the text ends inside a marker";
    if (z != ZONE_PROSE)
        *why = zone_name(z);
    else if (exam_unfinished(x))
        *why = "the reply broke off here";
    else if (x->e->prompt_mentions_markup)
        *why = "the prompt speaks of markup";
    else if (w->channel == CHANNEL_reasoning && x->r->n_calls)
        *why = "the call itself was parsed";
    else
        return LEVEL_DAMAGE;
    return LEVEL_SUSPECT;
}

static void find_half(struct exam *x, struct view *w)
{
    size_t len = half_length(&x->judge->rules, w->fold.text);
    if (len < 2 || !is_telling(w, len))
        return;
    size_t at = w->fold.text.len - len;
    const char *why;
    enum sign_level level = level_at(x, w, at, &why);
    if (exam_unfinished(x) && exam_zones(w)->of[at] == ZONE_PROSE)
        x->open_call = true;
    exam_sign(x, (struct charge){reason_in(w), level, "half-marker"}, w, exam_raw(w, at, at + len),
              "%s", why);
}

/* Longest proper end of any known marker that starts the text; 0 = none. */
static size_t tail_length(const struct rules *r, struct span text)
{
    size_t best = 0, near = text.len < END_BYTES ? text.len : END_BYTES;
    if (!holds_any(text.data, near, ">]"))
        return 0;
    for (size_t i = 0; i < r->n_tokens; i++) {
        const char *t = r->tokens[i];
        size_t full = strlen(t);
        bool bar = full > 2 && t[full - 2] == '|';
        if (!can_be_cut(t) || !strchr(">]", t[full - 1]))
            continue;
        for (size_t skip = 1; skip < full; skip++) {
            size_t len = full - skip;
            if (len <= best || len < (bar ? TAIL_MIN_BAR : TAIL_MIN))
                break;
            if (t[skip] != text.data[0] || len > near)
                continue;
            /* A tail that begins like a marker is one: the rules know it whole. */
            if (!strchr("<[", t[skip]) && memcmp(text.data, t + skip, len) == 0)
                best = len;
        }
    }
    return best;
}

static void find_tail(struct exam *x, struct view *w)
{
    size_t len = tail_length(&x->judge->rules, w->fold.text);
    if (len && x->e->prompt_mentions_markup)
        exam_sign(x, (struct charge){reason_in(w), LEVEL_SUSPECT, "marker-tail"}, w,
                  exam_raw(w, 0, len), "the prompt speaks of markup");
    else if (len)
        exam_sign(x, (struct charge){reason_in(w), LEVEL_DAMAGE, "marker-tail"}, w,
                  exam_raw(w, 0, len), "the text begins with the end of a marker");
}

/* True if one letter added, lost, changed, or two neighbours swapped make `a` of `b`. */
static bool one_apart(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;
    while (i < a_len && i < b_len && a[i] == b[i])
        i++;
    while (j < a_len - i && j < b_len - i && a[a_len - 1 - j] == b[b_len - 1 - j])
        j++;
    size_t a_rest = a_len - i - j, b_rest = b_len - i - j;
    if (a_rest == 2 && b_rest == 2)
        return a[i] == b[i + 1] && a[i + 1] == b[i];
    return a_rest <= 1 && b_rest <= 1 && a_rest + b_rest > 0;
}

static size_t name_length(struct span text, size_t at)
{
    size_t n = 0;
    while (at + n < text.len && n < 40) {
        char c = text.data[at + n];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'))
            break;
        n++;
    }
    return n;
}

/* Behind the name: "=x", or the tag's end and then a payload. Words of a single part are English
 * and XML as well, so that only the first will do for them. */
static bool has_payload(struct span text, size_t at, bool underscored, const char *word)
{
    struct span rest = {text.data + at, text.len - at};
    if (rest.len && rest.data[0] == '=')
        return rest.len > 1 && name_length(text, at + 1) > 0;
    if (!strchr(word, '_') || !rest.len || rest.data[0] != '>')
        return false;
    if (underscored)
        return true;
    size_t i = 1;
    while (i < rest.len && i < 8 && strchr(" \n\r\t", rest.data[i]))
        i++;
    return i < rest.len && strchr("{[", rest.data[i]);
}

static const char *nearest_word(const struct rules *r, const char *name, size_t len)
{
    const char *found = NULL;
    for (size_t i = 0; i < r->n_words; i++) {
        size_t n = strlen(r->words[i]);
        if (n == len && memcmp(name, r->words[i], len) == 0)
            return NULL;
        if (n <= len + 1 && len <= n + 1 && one_apart(name, len, r->words[i], n))
            found = r->words[i];
    }
    return found;
}

static void find_misspelt(struct exam *x, struct view *w)
{
    struct span text = w->fold.text;
    int found = 0;
    for (size_t at = 0; at < text.len && found < 8;) {
        const char *p = memchr(text.data + at, '<', text.len - at);
        if (!p)
            break;
        size_t start = (size_t)(p - text.data), name = start + 1;
        if (name < text.len && text.data[name] == '/')
            name++;
        size_t len = name_length(text, name);
        at = name + len;
        if (len < 6)
            continue;
        bool underscored = memchr(text.data + name, '_', len) != NULL;
        const char *word = nearest_word(&x->judge->rules, text.data + name, len);
        if (!word || !has_payload(text, name + len, underscored, word))
            continue;
        const char *why;
        enum sign_level level =
            exam_zones(w)->of[start] == ZONE_PROSE ? LEVEL_DAMAGE : LEVEL_SUSPECT;
        if (level == LEVEL_DAMAGE && (exam_unfinished(x) || x->e->prompt_mentions_markup))
            level = LEVEL_SUSPECT;
        why = level == LEVEL_DAMAGE ? "one letter from" : "shown or cut, one letter from";
        found++;
        exam_sign(x, (struct charge){reason_in(w), level, "misspelt-tag"}, w,
                  exam_raw(w, start, name + len), "%s '%s'", why, word);
    }
}

struct known {
    struct exam *x;
    struct view *w;
    int found;
};

/* A marker that is no English and no XML either: its name has two parts, or bars. */
static bool is_unmistakable(const char *token)
{
    size_t len = strlen(token);
    return strchr(">]", token[len - 1]) && strpbrk(token, "_|:");
}

/* An element with both its tags is somebody's XML. */
static bool is_paired(struct span text, const char *token)
{
    struct buf other = BUF_INIT;
    if (token[0] != '<')
        return false;
    if (token[1] == '/')
        buf_addf(&other, "<%s", token + 2);
    else
        buf_addf(&other, "</%s", token + 1);
    bool paired = span_find(text, buf_span(&other), 0) >= 0;
    buf_release(&other);
    return paired;
}

static void found_token(void *arg, int tag, size_t start, size_t end)
{
    struct known *k = arg;
    const char *token = k->x->judge->rules.tokens[tag];
    struct span text = k->w->fold.text;
    bool name = k->w->channel == CHANNEL_name;
    if (k->found >= 8 || memcmp(text.data + start, token, end - start) != 0)
        return;
    if (!name && (!is_unmistakable(token) || is_paired(text, token)))
        return;
    k->found++;
    bool wanted = !name && k->x->e->args_may_contain_markup;
    exam_sign(k->x,
              (struct charge){name ? REASON_markup_name : REASON_markup_args,
                              wanted ? LEVEL_SUSPECT : LEVEL_DAMAGE, "known-marker"},
              k->w, exam_raw(k->w, start, end), "%s",
              wanted ? "arguments may hold markup here" : "no place for a marker");
}

void marker_detect(struct exam *x)
{
    for (size_t i = 0; i < x->n_views; i++) {
        struct view *w = &x->views[i];
        struct known k = {.x = x, .w = w};
        if (w->channel == CHANNEL_args || w->channel == CHANNEL_name)
            needles_scan(x->judge->rules.token_needles, w->fold.text, found_token, &k);
        if ((w->channel != CHANNEL_content && w->channel != CHANNEL_reasoning) || !w->fold.text.len)
            continue;
        find_half(x, w);
        find_tail(x, w);
        find_misspelt(x, w);
    }
}
