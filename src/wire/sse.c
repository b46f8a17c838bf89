/* sse.c - lines and fields of an event stream. It knows nothing of JSON and of what events mean.
 *
 * Most events lie within one chunk and have one data line: that line is handed out where it stands.
 * Only what straddles two chunks, or is joined from several lines, is copied. */
#include "sse.h"

#include <string.h>

void sse_init(struct sse *s, size_t cap, sse_handler *handler, void *arg)
{
    *s = (struct sse){.cap = cap, .handler = handler, .arg = arg};
}

void sse_release(struct sse *s)
{
    buf_release(&s->line);
    buf_release(&s->data);
}

static void hand_out(struct sse *s, bool unfinished)
{
    if (!s->n_data) {
        s->quirks |= unfinished ? 0 : QUIRK_BIT(empty_event);
    } else {
        if (s->n_data > 1)
            s->quirks |= QUIRK_BIT(many_data_lines);
        struct sse_event e = {.type = {s->type, s->type_len},
                              .data = s->borrowed.data ? s->borrowed : buf_span(&s->data),
                              .unfinished = unfinished};
        s->handler(s->arg, &e);
    }
    buf_clear(&s->data);
    s->borrowed = (struct span){0};
    s->n_data = 0;
    s->type_len = 0;
}

/* Makes what is borrowed our own, before the bytes go away. */
static void keep(struct sse *s)
{
    if (s->borrowed.data)
        buf_add(&s->data, s->borrowed.data, s->borrowed.len);
    s->borrowed = (struct span){0};
}

static int add_data(struct sse *s, struct span value, bool lasting)
{
    if (!s->n_data++ && lasting) {
        s->borrowed = value;
        return 0;
    }
    keep(s);
    if (s->data.len + value.len + 1 > s->cap)
        return -1;
    if (s->n_data > 1)
        buf_addc(&s->data, '\n');
    buf_add(&s->data, value.data, value.len);
    return 0;
}

static void set_type(struct sse *s, struct span value)
{
    s->type_len = value.len < sizeof s->type ? value.len : sizeof s->type;
    if (s->type_len)
        memcpy(s->type, value.data, s->type_len);
}

static void stray_line(struct sse *s, struct span line)
{
    s->n_stray++;
    s->quirks |= QUIRK_BIT(stray_line);
    if (line.data[0] == '{') {
        struct sse_event e = {.data = line, .stray = true};
        s->handler(s->arg, &e);
    }
}

/* `lasting`: the line stands in the bytes being fed, not in our own buffer. */
static int take_line(struct sse *s, struct span line, bool lasting)
{
    if (!s->past_first) {
        s->past_first = true;
        if (span_starts(line, "\xEF\xBB\xBF")) {
            s->quirks |= QUIRK_BIT(bom);
            line = (struct span){line.data + 3, line.len - 3};
        }
    }
    if (!line.len) {
        hand_out(s, false);
        return 0;
    }
    if (line.data[0] == ':') {
        s->n_fields++;
        s->quirks |= QUIRK_BIT(comments);
        return 0;
    }
    const char *colon = memchr(line.data, ':', line.len);
    struct span name = {line.data, colon ? (size_t)(colon - line.data) : line.len};
    struct span value = {line.data + line.len, 0};
    if (colon)
        value = (struct span){colon + 1, line.len - name.len - 1};
    if (value.len && value.data[0] == ' ')
        value = (struct span){value.data + 1, value.len - 1};
    s->n_fields++;
    if (span_is(name, "data"))
        return add_data(s, value, lasting);
    if (span_is(name, "event")) {
        set_type(s, value);
        return 0;
    }
    if (span_is(name, "error")) {
        s->quirks |= QUIRK_BIT(error_field);
        set_type(s, name);
        return add_data(s, value, lasting);
    }
    if (span_is(name, "id") || span_is(name, "retry"))
        return 0;
    s->n_fields--;
    stray_line(s, line);
    return 0;
}

/* Where the line at `at` ends, or NULL. `*lf` is the next LF found so far (`end` = none), so that a
 * stream of bare CRs is not searched for LFs again at each line. */
static const char *line_end(const char *at, const char *end, const char **lf)
{
    if (*lf < at) {
        *lf = memchr(at, '\n', (size_t)(end - at));
        if (!*lf)
            *lf = end;
    }
    const char *cr = memchr(at, '\r', (size_t)(*lf - at));
    return cr ? cr : *lf == end ? NULL : *lf;
}

static int end_line(struct sse *s, const char *at, size_t len)
{
    if (!s->line.len)
        return take_line(s, (struct span){at, len}, true);
    buf_add(&s->line, at, len);
    int rc = take_line(s, buf_span(&s->line), false);
    buf_clear(&s->line);
    return rc;
}

/* A CR has ended a line: whether it was half of a CRLF is known from the next byte only. */
static const char *after_cr(struct sse *s, const char *at, const char *end)
{
    if (!s->after_cr || at == end)
        return at;
    s->after_cr = false;
    s->quirks |= *at == '\n' ? QUIRK_BIT(crlf) : QUIRK_BIT(bare_cr);
    return *at == '\n' ? at + 1 : at;
}

int sse_feed(struct sse *s, const char *data, size_t len)
{
    if (!len)
        return 0;
    const char *at = data, *end = data + len, *lf = memchr(data, '\n', len);
    lf = lf ? lf : end;
    while ((at = after_cr(s, at, end)) < end) {
        const char *stop = line_end(at, end, &lf);
        size_t n = (size_t)((stop ? stop : end) - at);
        if (n > s->cap - s->line.len)
            return -1;
        if (!stop) {
            buf_add(&s->line, at, n);
            break;
        }
        if (end_line(s, at, n) < 0)
            return -1;
        s->after_cr = *stop == '\r';
        at = stop + 1;
    }
    keep(s);
    return 0;
}

int sse_end(struct sse *s)
{
    if (s->after_cr)
        s->quirks |= QUIRK_BIT(bare_cr);
    s->after_cr = false;
    if (s->line.len && end_line(s, "", 0) < 0)
        return -1;
    hand_out(s, true);
    return 0;
}
