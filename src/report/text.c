/* text.c - how text lies on a terminal. It knows nothing of what it prints. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "report.h"
#include "utf8.h"

static const char *const paints[N_PAINTS] = {
    [PAINT_BAD] = "\x1b[1;31m", [PAINT_GOOD] = "\x1b[32m", [PAINT_WARN] = "\x1b[33m",
    [PAINT_DIM] = "\x1b[2m",    [PAINT_BOLD] = "\x1b[1m",  [PAINT_MARK] = "\x1b[1;37;41m",
};

const char *text_paint_escape(enum paint paint)
{
    return paint < N_PAINTS ? paints[paint] : "\x1b[0m";
}

void text_paint_on(struct buf *out, const struct report_style *style, enum paint paint)
{
    if (style->colour && paint < N_PAINTS)
        buf_adds(out, paints[paint]);
}

void text_paint_off(struct buf *out, const struct report_style *style)
{
    if (style->colour)
        buf_adds(out, "\x1b[0m");
}

void text_paint(struct buf *out, const struct report_style *style, enum paint paint,
                const char *text)
{
    text_paint_on(out, style, paint);
    buf_adds(out, text);
    text_paint_off(out, style);
}

/* --- characters ------------------------------------------------------------------------------- */

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

#define IN(c, table) in_ranges(c, table, sizeof(table) / sizeof(table)[0])

/* What shows nothing, or changes how its neighbours show: soft hyphen, zero width, direction
 * marks, line separators, variation tags, byte order mark, other formats. */
static const struct range hidden[] = {
    {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},      {0x180E, 0x180E}, {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F},   {0xFE00, 0xFE0F},    {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB},
    {0xE000, 0xF8FF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
};

static const struct range combining[] = {
    {0x300, 0x36F}, {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
    {0x900, 0x902}, {0x93C, 0x93C},   {0x941, 0x948},   {0xE31, 0xE31},   {0xE34, 0xE3A},
    {0xE47, 0xE4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F},
};

static const struct range wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
};

/* Of ASCII, what shows as itself in one column. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7F;
}

void text_safe(struct buf *out, struct span text, bool lines)
{
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        while (at < text.len && is_plain(text.data[at]))
            at++;
        buf_add(out, text.data + from, at - from);
        if (at == text.len)
            return;
        from = at;
        uint32_t c = utf8_next(text, &at);
        if (c == UTF8_INVALID)
            buf_addf(out, "\\x%02x", (unsigned char)text.data[from]);
        else if (lines && (c == '\n' || c == '\t'))
            buf_addc(out, (char)c);
        else if (c == '\n' || c == '\r')
            buf_adds(out, c == '\n' ? "\\n" : "\\r");
        else if (c < 0x20 || c == 0x7F)
            buf_addf(out, "\\x%02x", (unsigned)c);
        else if (IN(c, hidden))
            buf_addf(out, "<U+%04X>", (unsigned)c);
        else
            buf_add(out, text.data + from, at - from);
    }
}

/* Length of the colour sequence at `at`, or 0. */
static size_t paint_length(struct span text, size_t at)
{
    if (text.len - at < 3 || text.data[at] != '\x1b' || text.data[at + 1] != '[')
        return 0;
    for (size_t i = at + 2; i < text.len; i++)
        if (text.data[i] == 'm')
            return i + 1 - at;
    return 0;
}

/* Moves over one character and says how wide it is. */
static size_t step_width(struct span text, size_t *at)
{
    if (is_plain(text.data[*at])) {
        ++*at;
        return 1;
    }
    size_t skip = paint_length(text, *at);
    if (skip) {
        *at += skip;
        return 0;
    }
    uint32_t c = utf8_next(text, at);
    if (c == UTF8_INVALID)
        return 1;
    if (IN(c, combining))
        return 0;
    return IN(c, wide) ? 2 : 1;
}

size_t text_width(struct span text)
{
    size_t width = 0;
    for (size_t at = 0; at < text.len;)
        width += step_width(text, &at);
    return width;
}

void text_cut(struct buf *out, struct span text, size_t columns)
{
    if (text_width(text) <= columns) {
        buf_add(out, text.data, text.len);
        return;
    }
    size_t width = 0, at = 0, end = 0;
    while (at < text.len) {
        width += step_width(text, &at);
        if (width + 1 > columns)
            break;
        end = at;
    }
    buf_add(out, text.data, end);
    buf_adds(out, columns ? "\xE2\x80\xA6" : "");
}

void text_wrap(struct buf *out, const char *text, size_t indent, size_t columns)
{
    size_t used = indent;
    bool first = true;
    while (*text) {
        size_t len = strcspn(text, " ");
        size_t width = text_width((struct span){text, len});
        if (!first && used + 1 + width > columns) {
            buf_addf(out, "\n%*s", (int)indent, "");
            used = indent;
        } else if (!first) {
            buf_addc(out, ' ');
            used++;
        }
        buf_add(out, text, len);
        used += width;
        first = false;
        text += len;
        text += strspn(text, " ");
    }
    buf_addc(out, '\n');
}

void text_shell_word(struct buf *out, const char *word)
{
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=./:,@%+") == strlen(word)) {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *word);
    }
    buf_addc(out, '\'');
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Three significant digits of a value below 1000. */
static void add_digits(struct buf *out, double v, const char *unit)
{
    buf_addf(out, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
}

void text_duration(struct buf *out, double us)
{
    if (!(us >= 0))
        buf_addc(out, '-');
    else if (us < 999.5)
        buf_addf(out, "%.0f us", us);
    else if (us < 999.5e3)
        add_digits(out, us / 1e3, "ms");
    else if (us < 119.5e6)
        add_digits(out, us / 1e6, "s");
    else if (us < 7170e6)
        buf_addf(out, "%ld min %02ld s", lround(us / 1e6) / 60, lround(us / 1e6) % 60);
    else
        buf_addf(out, "%ld h %02ld min", lround(us / 60e6) / 60, lround(us / 60e6) % 60);
}

void text_seconds(struct buf *out, int64_t us)
{
    /* printf rounds ties as its binary fraction falls, and takes ten times as long. */
    if (us < 0 || us % 1000 == 500) {
        buf_addf(out, "%.3f", (double)us / 1e6);
        return;
    }
    int64_t ms = (us + 500) / 1000;
    char decimals[] = {'.', (char)('0' + ms / 100 % 10), (char)('0' + ms / 10 % 10),
                       (char)('0' + ms % 10)};
    buf_add_long(out, ms / 1000);
    buf_add(out, decimals, sizeof decimals);
}

void text_count(struct buf *out, long n)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%ld", n);
    size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        buf_addc(out, digits[i]);
        if (digits[i] != '-' && i + 1 < len && (len - 1 - i) % 3 == 0)
            buf_addc(out, ',');
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

void grid_add(struct grid *g, const char *text)
{
    g->cells = mem_grow(g->cells, &g->cells_cap, g->n, sizeof *g->cells);
    g->paints = mem_grow(g->paints, &g->paints_cap, g->n, sizeof *g->paints);
    g->cells[g->n] = mem_str(text);
    g->paints[g->n++] = N_PAINTS;
}

void grid_paint(struct grid *g, enum paint paint)
{
    g->paints[g->n - 1] = paint;
}

void grid_addf(struct grid *g, const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    grid_add(g, buf_str(&text));
    buf_release(&text);
}

void grid_note(struct grid *g, const char *text)
{
    size_t row = g->n / strlen(g->align) - 1;
    g->notes = mem_grow(g->notes, &g->notes_cap, row, sizeof *g->notes);
    g->notes[row] = mem_str(text);
}

static void add_note(const struct grid *g, size_t row, size_t indent,
                     const struct report_style *style, struct buf *out)
{
    if (row >= g->notes_cap || !g->notes[row])
        return;
    size_t total = style->columns > 0 ? (size_t)style->columns : 80;
    buf_addf(out, "%*s", (int)indent, "");
    text_paint_on(out, style, PAINT_DIM);
    text_wrap(out, g->notes[row], indent, total);
    text_paint_off(out, style);
}

static void add_cell(const struct grid *g, size_t i, size_t width, size_t room,
                     const struct report_style *style, struct buf *out)
{
    struct buf cell = BUF_INIT;
    bool right = g->align[i % strlen(g->align)] == 'r';
    text_cut(&cell, span_of(g->cells[i]), room);
    size_t taken = text_width(buf_span(&cell)), pad = taken < width ? width - taken : 0;
    if (right)
        buf_addf(out, "%*s", (int)pad, "");
    if (g->paints[i] < N_PAINTS)
        text_paint(out, style, g->paints[i], buf_str(&cell));
    else
        buf_add(out, cell.data, cell.len);
    if (!right)
        buf_addf(out, "%*s", (int)pad, "");
    buf_release(&cell);
}

static void trim(struct buf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
}

/* The last cell of a row, which starts in column `used`, and the end of the line. */
static void add_last(const struct grid *g, size_t i, size_t width, size_t used,
                     const struct report_style *style, struct buf *out)
{
    size_t total = style->columns > 0 ? (size_t)style->columns : 80;
    if (g->wraps && total > used + 20) {
        if (g->paints[i] < N_PAINTS)
            text_paint_on(out, style, g->paints[i]);
        text_wrap(out, g->cells[i], used, total);
        if (g->paints[i] < N_PAINTS) {
            out->len--; /* the colour ends before the line does */
            text_paint_off(out, style);
            buf_addc(out, '\n');
        }
        return;
    }
    add_cell(g, i, width, used + 8 < total ? total - used : 8, style, out);
    trim(out);
    buf_addc(out, '\n');
}

static void grid_release(struct grid *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->cells[i]);
    for (size_t i = 0; i < g->notes_cap; i++)
        free(g->notes[i]);
    free(g->notes);
    free(g->cells);
    free(g->paints);
    *g = (struct grid){.align = g->align, .wraps = g->wraps};
}

void grid_print(struct grid *g, const struct report_style *style, size_t indent, struct buf *out)
{
    size_t columns = strlen(g->align), used = indent;
    size_t *widths = mem_zero(columns, sizeof *widths);
    for (size_t i = 0; i < g->n; i++) {
        size_t width = text_width(span_of(g->cells[i]));
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    for (size_t i = 0; i < g->n; i++) {
        size_t column = i % columns;
        if (column == 0)
            used = indent;
        buf_addf(out, "%*s", column == 0 ? (int)indent : 2, "");
        used += column == 0 ? 0 : widths[column - 1] + 2;
        if (column + 1 < columns) {
            add_cell(g, i, widths[column], widths[column], style, out);
        } else {
            add_last(g, i, widths[column], used, style, out);
            add_note(g, i / columns, indent + widths[0] + 2, style, out);
        }
    }
    free(widths);
    grid_release(g);
}
