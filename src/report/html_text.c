/* html_text.c - text and tables of a page. Nothing that came from outside gets past it unescaped.
 */
#include <string.h>

#include "figures.h"
#include "html.h"
#include "text.h"

/* Widest cell of a table, in bytes; the rest is cut. */
#define MAX_CELL 400

static void add_escaped(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '&': buf_adds(out, "&amp;"); break;
        case '<': buf_adds(out, "&lt;"); break;
        case '>': buf_adds(out, "&gt;"); break;
        case '"': buf_adds(out, "&quot;"); break;
        case '\'': buf_adds(out, "&#39;"); break;
        default: buf_addc(out, text[i]);
        }
    }
}

void html_span(struct buf *out, struct span text, bool lines)
{
    struct buf safe = BUF_INIT;
    text_safe(&safe, text, lines);
    add_escaped(out, buf_str(&safe), safe.len);
    buf_release(&safe);
}

void html_text(struct buf *out, const char *text)
{
    html_span(out, span_of(text), true);
}

/* The class of the paint that begins here, "" for the end of one, or NULL for neither. */
static const char *paint_class(struct span text, size_t *len)
{
    static const char *const classes[N_PAINTS + 1] = {
        [PAINT_BAD] = "bad", [PAINT_GOOD] = "good",   [PAINT_WARN] = "warn",
        [PAINT_DIM] = "dim", [PAINT_BOLD] = "strong", [PAINT_MARK] = "damage",
        [N_PAINTS] = "",
    };
    for (int i = 0; i <= N_PAINTS; i++) {
        const char *escape = text_paint_escape((enum paint)i);
        *len = strlen(escape);
        if (span_starts(text, escape))
            return classes[i];
    }
    return NULL;
}

/* text_safe() leaves no escape byte in what it passes on: those that are here are paint. */
void html_terminal(struct buf *out, struct span text)
{
    bool open = false;
    while (text.len) {
        size_t len;
        const char *class = text.data[0] == '\x1b' ? paint_class(text, &len) : NULL;
        if (class) {
            buf_adds(out, open ? "</span>" : "");
            open = class[0] != '\0';
            if (open)
                buf_addf(out, "<span class=\"%s\">", class);
        } else {
            const char *next = memchr(text.data + 1, '\x1b', text.len - 1);
            len = next ? (size_t)(next - text.data) : text.len;
            add_escaped(out, text.data, len);
        }
        text = (struct span){text.data + len, text.len - len};
    }
    if (open)
        buf_adds(out, "</span>");
}

static void add_cell(struct buf *out, const struct section *s, size_t row, const struct listed *l)
{
    struct buf text = BUF_INIT;
    listed_add(&text, s, row, l);
    struct span shown = buf_span(&text);
    bool cut = shown.len > MAX_CELL;
    if (cut)
        for (shown.len = MAX_CELL; shown.len && (shown.data[shown.len] & 0xC0) == 0x80;)
            shown.len--;
    buf_adds(out, listed_is_number(l) ? "<td class=\"n\">" : "<td>");
    if (l->form == LISTED_CODE)
        buf_adds(out, "<code>");
    html_span(out, shown, false);
    if (cut)
        buf_adds(out, "…");
    if (l->form == LISTED_CODE)
        buf_adds(out, "</code>");
    buf_adds(out, "</td>");
    buf_release(&text);
}

void html_table(struct buf *out, const struct section *s, const struct listed *columns, size_t n,
                size_t max_rows)
{
    buf_adds(out, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "<th%s>%s</th>", listed_is_number(&columns[i]) ? " class=\"n\"" : "",
                 columns[i].head);
    buf_adds(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < s->n_rows && row < max_rows; row++) {
        buf_adds(out, "<tr>");
        for (size_t i = 0; i < n; i++)
            add_cell(out, s, row, &columns[i]);
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</tbody></table></div>\n");
    if (s->n_rows > max_rows)
        buf_addf(out, "<p class=\"note\">and %zu more</p>\n", s->n_rows - max_rows);
}

void html_figures(struct buf *out, const struct section *s, const struct listed *columns, size_t n)
{
    buf_adds(out, "<details class=\"figures\"><summary>Figures</summary>");
    html_table(out, s, columns, n, 400);
    buf_adds(out, "</details>\n");
}
