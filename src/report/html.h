/* html.h - pieces of a page: escaped text, tables, terminal text, charts. */
#ifndef HTML_H
#define HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "listed.h"

struct digest;
struct section;

/* html_text.c */

/* Adds bytes from outside as text of a page: markup is escaped, what can't be seen or changes
 * direction is shown by its number, as text_safe() does. */
void html_text(struct buf *out, const char *text);
void html_span(struct buf *out, struct span text, bool lines);

/* Adds text that was painted for a terminal, its colours as classes. */
void html_terminal(struct buf *out, struct span text);

/* A section's rows as a table, at most `max_rows` of them; what is left out is counted. */
void html_table(struct buf *out, const struct section *s, const struct listed *columns, size_t n,
                size_t max_rows);

/* The same, folded away below a chart: "Figures". */
void html_figures(struct buf *out, const struct section *s, const struct listed *columns, size_t n);

/* chart_*.c: each adds a chart with its figures as a table, or nothing where there is nothing. */
void chart_rates(struct buf *out, const struct section *configs, const struct section *runs);
void chart_reasons(struct buf *out, const struct section *reasons);
void chart_latency(struct buf *out, const struct section *latency);
void chart_matrix(struct buf *out, const struct section *matrix);

/* A small plot per configuration: rates with intervals over bins. */
void chart_bins(struct buf *out, const struct section *bins, const char *bin_head,
                const char *of_what);
void chart_timeline(struct buf *out, const struct section *slices);

#endif
