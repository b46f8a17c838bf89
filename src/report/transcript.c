/* transcript.c - texts of a conversation as a person reads them. It does not know what damage is:
 * it is told where. */
#include "transcript.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "report.h"
#include "text.h"
#include "utf8.h"

#define INDENT "    "

/* A gap smaller than this is not worth leaving out. */
#define MIN_GAP 60

/* With less context than this a mark could fall between two shown parts. */
#define MIN_CONTEXT 16

static int by_start(const void *a, const void *b)
{
    size_t x = ((const struct mark *)a)->from, y = ((const struct mark *)b)->from;
    return (x > y) - (x < y);
}

static bool is_continuation(struct span text, size_t at)
{
    return at < text.len && ((unsigned char)text.data[at] & 0xC0) == 0x80;
}

/* The character that `at` lies inside of, as [from, to); both `at` where it lies in none. */
static struct mark character(struct span text, size_t at)
{
    size_t from = at;
    while (from > 0 && at - from < 3 && is_continuation(text, from))
        from--;
    size_t to = from;
    if (from < at && utf8_next(text, &to) != UTF8_INVALID && to > at)
        return (struct mark){from, to};
    return (struct mark){at, at};
}

/* The next place between two characters. */
static size_t boundary(struct span text, size_t at)
{
    return character(text, at).to;
}

/* Whole characters; a mark of nothing shows its neighbour. */
static struct mark whole_characters(struct span text, struct mark m)
{
    if (m.from > text.len)
        m.from = text.len;
    if (m.to > text.len)
        m.to = text.len;
    if (m.to <= m.from)
        m.to = m.from < text.len ? m.from + 1 : m.from;
    m.from = character(text, m.from).from;
    m.to = boundary(text, m.to);
    return m;
}

static size_t merge(struct span text, struct mark *marks, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        marks[i] = whole_characters(text, marks[i]);
    if (n)
        qsort(marks, n, sizeof *marks, by_start);
    for (size_t i = 0; i < n; i++) {
        if (kept && marks[i].from <= marks[kept - 1].to) {
            if (marks[i].to > marks[kept - 1].to)
                marks[kept - 1].to = marks[i].to;
        } else {
            marks[kept++] = marks[i];
        }
    }
    return kept;
}

/* --- which parts of a long text are shown -------------------------------------------------------
 */

/* The end of the part that is shown from `at` on, or `at` itself if nothing is shown there. */
static size_t shown_until(const struct transcript *t, size_t len, size_t at,
                          const struct mark *marks, size_t n)
{
    size_t c = t->context, end = at;
    if (c == 0 || len <= 2 * c + MIN_GAP)
        return len;
    if (at < c)
        end = c;
    if (at + c >= len)
        end = len;
    for (size_t i = 0; i < n; i++) {
        size_t from = marks[i].from > c ? marks[i].from - c : 0;
        size_t to = marks[i].to + c < len ? marks[i].to + c : len;
        if (from <= end && to > end)
            end = to;
    }
    return end;
}

/* Where the next shown part begins, behind `at`. */
static size_t next_shown(const struct transcript *t, size_t len, size_t at,
                         const struct mark *marks, size_t n)
{
    size_t next = len - t->context;
    for (size_t i = 0; i < n; i++) {
        size_t from = marks[i].from > t->context ? marks[i].from - t->context : 0;
        if (from > at && from < next)
            next = from;
    }
    return next;
}

/* Lines behind the indent; an empty one gets none. */
static void indented(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text != '\n' && out->len && out->data[out->len - 1] == '\n')
            buf_adds(out, INDENT);
        buf_addc(out, *text);
    }
}

static void add_plain(const struct transcript *t, struct span text)
{
    struct buf safe = BUF_INIT;
    text_safe(&safe, text, true);
    indented(t->out, buf_str(&safe));
    buf_release(&safe);
}

static void add_marked(const struct transcript *t, struct span text)
{
    struct buf safe = BUF_INIT;
    /* Inside a mark every blank counts. */
    text_safe(&safe, text, false);
    if (t->out->len && t->out->data[t->out->len - 1] == '\n')
        buf_adds(t->out, INDENT);
    if (t->style->colour)
        text_paint(t->out, t->style, PAINT_MARK, buf_str(&safe));
    else
        buf_addf(t->out, ">>>%s<<<", buf_str(&safe));
    buf_release(&safe);
}

/* Adds text[from, to), with the marks that lie in it. */
static void add_part(const struct transcript *t, struct span text, size_t from, size_t to,
                     const struct mark *marks, size_t n)
{
    for (size_t i = 0; i < n && from < to; i++) {
        if (marks[i].to <= from || marks[i].from >= to)
            continue;
        size_t start = marks[i].from > from ? marks[i].from : from;
        size_t end = marks[i].to < to ? marks[i].to : to;
        add_plain(t, (struct span){text.data + from, start - from});
        add_marked(t, (struct span){text.data + start, end - start});
        from = end;
    }
    if (from < to)
        add_plain(t, (struct span){text.data + from, to - from});
}

void transcript_text(const struct transcript *wish, struct span text, struct mark *marks,
                     size_t n_marks)
{
    struct transcript given = *wish;
    const struct transcript *t = &given;
    if (given.context > 0 && given.context < MIN_CONTEXT)
        given.context = MIN_CONTEXT;
    n_marks = merge(text, marks, n_marks);
    for (size_t at = 0; at < text.len;) {
        size_t end = shown_until(t, text.len, at, marks, n_marks);
        end = boundary(text, end);
        add_part(t, text, at, end, marks, n_marks);
        at = end;
        if (at >= text.len)
            break;
        size_t next = boundary(text, next_shown(t, text.len, at, marks, n_marks));
        if (next > at + MIN_GAP) {
            struct buf gap = BUF_INIT;
            buf_adds(&gap, " [... ");
            text_count(&gap, (long)(next - at));
            buf_adds(&gap, " bytes ...] ");
            text_paint(t->out, t->style, PAINT_DIM, buf_str(&gap));
            buf_release(&gap);
        } else {
            add_part(t, text, at, next, marks, n_marks);
        }
        at = next;
    }
    if (t->out->len && t->out->data[t->out->len - 1] != '\n')
        buf_addc(t->out, '\n');
}

/* --- messages ----------------------------------------------------------------------------------
 */

static void add_content(const struct transcript *t, const struct json *content)
{
    struct buf text = BUF_INIT;
    if (json_type(content) == JSON_STRING) {
        transcript_text(t, json_span(content), NULL, 0);
    } else if (json_type(content) == JSON_ARRAY) {
        for (const struct json *part = json_first(content); part; part = json_next(part)) {
            const struct json *words = json_get(part, "text");
            if (json_type(words) == JSON_STRING)
                transcript_text(t, json_span(words), NULL, 0);
        }
    } else if (json_type(content) != JSON_ABSENT && json_type(content) != JSON_NULL) {
        json_print(content, &text);
        transcript_text(t, buf_span(&text), NULL, 0);
    }
    buf_release(&text);
}

static void add_call(const struct transcript *t, const struct json *call)
{
    const struct json *f = json_get(call, "function");
    struct buf head = BUF_INIT;
    text_safe(&head, json_span(json_get(f, "name")), false);
    buf_adds(&head, "  ");
    text_safe(&head, json_span(json_get(call, "id")), false);
    buf_adds(t->out, "  call ");
    buf_add(t->out, head.data, head.len);
    buf_addc(t->out, '\n');
    add_content(t, json_get(f, "arguments"));
    buf_release(&head);
}

void transcript_messages(const struct transcript *t, const struct json *messages)
{
    for (const struct json *m = json_first(messages); m; m = json_next(m)) {
        struct buf who = BUF_INIT;
        text_safe(&who, json_span(json_get(m, "role")), false);
        text_paint(t->out, t->style, PAINT_BOLD, buf_str(&who));
        buf_clear(&who);
        const struct json *id = json_get(m, "tool_call_id");
        if (json_type(id) == JSON_STRING) {
            buf_addc(&who, ' ');
            text_safe(&who, json_span(id), false);
        }
        buf_addc(&who, '\n');
        buf_add(t->out, who.data, who.len);
        buf_release(&who);
        add_content(t, json_get(m, "reasoning_content"));
        add_content(t, json_get(m, "content"));
        const struct json *calls = json_get(m, "tool_calls");
        for (const struct json *call = json_first(calls); call; call = json_next(call))
            add_call(t, call);
    }
}
