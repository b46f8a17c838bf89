/* text.h - text for a terminal: safe bytes, widths, colours, tables, wrapped lines. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct report_style;

enum paint { PAINT_BAD, PAINT_GOOD, PAINT_WARN, PAINT_DIM, PAINT_BOLD, PAINT_MARK, N_PAINTS };

/* Adds the text in a colour if the style has colours. */
void text_paint(struct buf *out, const struct report_style *style, enum paint paint,
                const char *text);
void text_paint_on(struct buf *out, const struct report_style *style, enum paint paint);
void text_paint_off(struct buf *out, const struct report_style *style);

/* The escape sequence that turns a paint on; of N_PAINTS the one that turns all off. */
const char *text_paint_escape(enum paint paint);

/* Adds bytes that came from outside so that they can't steer the terminal: control bytes as \x1b
 * or \r, invalid UTF-8 as \xff, hidden and direction-changing characters as <U+202E>. With `lines`,
 * line feeds and tabs stay. */
void text_safe(struct buf *out, struct span text, bool lines);

/* Columns that safe text takes; escape sequences of text_paint() take none. */
size_t text_width(struct span text);

/* Adds at most `columns` columns of safe text; if something was cut, an ellipsis is the last. */
void text_cut(struct buf *out, struct span text, size_t columns);

/* Adds words wrapped at `columns`, each line after `indent` spaces; the first line is taken to
 * have begun already. Ends with a line feed. */
void text_wrap(struct buf *out, const char *text, size_t indent, size_t columns);

/* Adds a word as a POSIX shell reads it, in quotes where it must. */
void text_shell_word(struct buf *out, const char *word);

/* "312 us", "45.1 ms", "1.20 s", "2 min 05 s", "1 h 02 min". Negative or NaN: "-". */
void text_duration(struct buf *out, double us);

/* Seconds with three decimals, as printf writes them: "1.900". */
void text_seconds(struct buf *out, int64_t us);

/* "1,234,567" */
void text_count(struct buf *out, long n);

/* A table of texts. */
struct grid {
    bool wraps;        /* the last column is wrapped, not cut */
    const char *align; /* a letter a column: 'l' or 'r'; its length is the number of columns */
    char **cells;
    enum paint *paints; /* N_PAINTS = none */
    size_t n, cells_cap, paints_cap;
    char **notes; /* printed below its row, over all columns; or NULL */
    size_t notes_cap;
};

/* Adds the next cell; row by row. The text is copied. */
void grid_add(struct grid *g, const char *text);
void grid_paint(struct grid *g, enum paint paint); /* the cell added last */
void grid_addf(struct grid *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line below the row whose cells are complete now. The text is copied. */
void grid_note(struct grid *g, const char *text);

/* Adds the table, columns two spaces apart, each line behind `indent` spaces; what would pass
 * style->columns is cut in the last column. Empties the grid. */
void grid_print(struct grid *g, const struct report_style *style, size_t indent, struct buf *out);

#endif
