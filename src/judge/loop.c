/* loop.c - a text that repeats one short unit up to its end. Only the end is looked at: a reply
 * that found its way out of a repetition is not stuck. */
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "garble.h"
#include "reply.h"

/* Longest unit; shortest repetition in bytes and in units; the same for one single byte. */
#define UNIT_MAX  160
#define BYTES_MIN 160
#define UNITS_MIN 8
#define BYTE_MIN  200

/* Rules and tables are drawn with long runs of these; so long a run is no layout. */
#define RULE_BYTES     "-=_*#~|+:. \t"
#define RULE_BYTES_MAX 1000

/* Code in a fence may hold long tables. */
#define FENCE_BYTES_MAX 2000

static size_t repeated_bytes(struct span s, size_t unit)
{
    size_t i = s.len;
    while (i > unit && s.data[i - 1] == s.data[i - 1 - unit])
        i--;
    return s.len - i + unit;
}

static bool all_of(struct span s, const char *set)
{
    for (size_t i = 0; i < s.len; i++)
        if (!s.data[i] || !strchr(set, s.data[i]))
            return false;
    return true;
}

static bool all_same(struct span s)
{
    return s.len > 0 && repeated_bytes(s, 1) == s.len;
}

/* Bytes at the end of `s` that repeat a unit; 0 = no loop. Well-formed arguments need `factor`
 * times as much: data may repeat honestly. */
static size_t loop_bytes(struct span s, size_t factor, size_t *unit)
{
    size_t best = 0;
    for (size_t p = 1; p <= UNIT_MAX && p < s.len; p++) {
        if (s.data[s.len - 1] != s.data[s.len - 1 - p])
            continue; /* not even one byte is repeated */
        size_t need = p == 1 ? BYTE_MIN : BYTES_MIN;
        if (need < UNITS_MIN * p)
            need = UNITS_MIN * p;
        size_t n = repeated_bytes(s, p);
        /* One byte again and again also repeats every longer unit: its own limit holds. */
        if (n < need * factor || (p > 1 && all_same((struct span){s.data + s.len - p, p})))
            continue;
        best = n;
        *unit = p;
        break; /* longer units only repeat the shortest */
    }
    if (!best)
        return 0;
    struct span part = {s.data + s.len - *unit, *unit};
    bool blank = all_of(part, " \t\n\r");
    if (!blank && best < RULE_BYTES_MAX && all_of(part, RULE_BYTES))
        return 0;
    return best;
}

/* Blanks between the tokens of JSON that nobody lays out like that: a grammar allows them, and a
 * model that may write nothing else writes them for ever. Wherever they stand. */
static bool check_blanks(struct exam *x, struct view *w)
{
    struct span s = w->raw;
    bool text = false;
    size_t from = 0, to = 0;
    for (size_t i = 0, start = 0; i < s.len; i++) {
        char c = s.data[i];
        if (text && c == '\\')
            i++;
        else if (c == '"')
            text = !text;
        if (text || !c || !strchr(" \t\r\n", c))
            start = i + 1;
        else if (i + 1 - start > to - from) {
            from = start;
            to = i + 1;
        }
    }
    if (to - from < BYTE_MIN)
        return false;
    exam_sign(x, (struct charge){REASON_loop, LEVEL_DAMAGE, "loop-blanks"}, w,
              (struct span){s.data + from, to - from}, "%zu blanks between tokens of JSON",
              to - from);
    return true;
}

static struct span strip_end(struct span s, const char *set)
{
    while (s.len && s.data[s.len - 1] && strchr(set, s.data[s.len - 1]))
        s.len--;
    return s;
}

/* A loop within the last string or list of arguments, whether that was closed or not. Sets `s` to
 * where it ends. */
static size_t args_loop(struct span *s, size_t factor, size_t *unit)
{
    struct span closed = strip_end(*s, "}] \t\r\n");
    if (closed.len && closed.data[closed.len - 1] == '"')
        closed.len--;
    const struct span ends[] = {*s, closed, strip_end(*s, "\"}] \n")};
    size_t n = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !n; i++) {
        n = loop_bytes(ends[i], factor, unit);
        *s = ends[i];
    }
    return n;
}

static void check_text(struct exam *x, struct view *w)
{
    struct span s = w->raw;
    bool args = w->channel == CHANNEL_args;
    if (args && check_blanks(x, w))
        return;
    bool data = args && x->args[w->call]; /* well-formed: it may be meant */
    size_t unit = 0;
    size_t n = args ? args_loop(&s, data ? 2 : 1, &unit) : loop_bytes(s, 1, &unit);
    if (!n)
        return;
    struct span where = {s.data + s.len - n, n};
    enum sign_level level = LEVEL_DAMAGE;
    if (!args && n < FENCE_BYTES_MAX && !x->capped &&
        exam_zones(w)->of[fold_at(&w->fold, s.len - n)] == ZONE_FENCE)
        level = LEVEL_SUSPECT;
    exam_sign(x, (struct charge){REASON_loop, level, "loop"}, w, where,
              "a unit of %zu bytes, %zu times", unit, n / unit);
}

void loop_detect(struct exam *x)
{
    if (x->e->repetitive_payload)
        return;
    for (size_t i = 0; i < x->n_views; i++)
        if (x->views[i].channel != CHANNEL_error && x->views[i].raw.len)
            check_text(x, &x->views[i]);
}
