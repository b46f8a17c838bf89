/* query.c - results of statements as a table, CSV or JSON: the user's own, or those of a shipped
 * report. */
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "figures.h"
#include "json.h"
#include "mem.h"
#include "report.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

/* Widest cell of a table; the rest is cut. */
#define MAX_CELL 60

/* Output is handed on in pieces of about this size. */
#define PIECE (1u << 20)

struct writer {
    const struct report_query *request;
    const struct report_style *style;
    struct buf *out;
    size_t n_rows; /* so far */
    struct err *err;
};

static int pass_on(struct writer *w)
{
    if (!w->request->flush || w->out->len < PIECE)
        return 0;
    int rc = w->request->flush(w->request->arg, w->out, w->err);
    buf_clear(w->out);
    return rc;
}

static void add_cell(struct buf *out, const struct cell *c)
{
    switch (c->kind) {
    case CELL_NULL: break;
    case CELL_LONG: buf_addf(out, "%ld", c->n); break;
    case CELL_DOUBLE: {
        struct jsonw number = {.out = out};
        jsonw_double(&number, c->d);
        break;
    }
    case CELL_TEXT: buf_add(out, c->text, c->len); break;
    }
}

/* --- CSV, after RFC 4180 with plain line feeds --------------------------------------------------
 */

static void csv_field(struct buf *out, struct span text)
{
    bool quote = false;
    for (size_t i = 0; i < text.len; i++)
        quote |= strchr(",\"\r\n", text.data[i]) != NULL; /* a NUL is quoted, too */
    if (!quote) {
        buf_add(out, text.data, text.len);
        return;
    }
    buf_addc(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buf_addc(out, '"');
        buf_addc(out, text.data[i]);
    }
    buf_addc(out, '"');
}

static void csv_head(struct buf *out, const struct section *s)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        buf_adds(out, i ? "," : "");
        csv_field(out, span_of(s->columns[i]));
    }
    buf_addc(out, '\n');
}

static void csv_row(struct buf *out, const struct section *s, size_t row)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        struct buf cell = BUF_INIT;
        add_cell(&cell, &s->cells[row * s->n_columns + i]);
        buf_adds(out, i ? "," : "");
        csv_field(out, buf_span(&cell));
        buf_release(&cell);
    }
    buf_addc(out, '\n');
}

/* --- tables ----------------------------------------------------------------------------------- */

static bool is_numeric(const struct section *s, size_t column)
{
    bool any = false;
    for (size_t row = 0; row < s->n_rows; row++) {
        enum cell_kind kind = s->cells[row * s->n_columns + column].kind;
        if (kind == CELL_TEXT)
            return false;
        any |= kind != CELL_NULL;
    }
    return any;
}

static void table_cell(struct grid *g, const struct cell *c, bool last)
{
    struct buf raw = BUF_INIT, safe = BUF_INIT, cut = BUF_INIT;
    if (c->kind == CELL_NULL)
        buf_addc(&raw, '-');
    else if (c->kind == CELL_DOUBLE)
        buf_addf(&raw, "%.6g", c->d);
    else
        add_cell(&raw, c);
    text_safe(&safe, buf_span(&raw), false);
    text_cut(&cut, buf_span(&safe), last ? 4096 : MAX_CELL);
    grid_add(g, buf_str(&cut));
    buf_release(&raw);
    buf_release(&safe);
    buf_release(&cut);
}

static void write_table(struct writer *w, const struct section *s)
{
    if (!s->n_columns)
        return;
    char *align = mem_copy("", 0);
    align = mem_resize(align, s->n_columns + 1);
    for (size_t i = 0; i < s->n_columns; i++)
        align[i] = is_numeric(s, i) ? 'r' : 'l';
    align[s->n_columns] = '\0';
    struct grid g = {.align = align};
    for (size_t i = 0; i < s->n_columns; i++) {
        grid_add(&g, s->columns[i]);
        grid_paint(&g, PAINT_BOLD);
    }
    for (size_t i = 0; i < s->n_rows * s->n_columns; i++)
        table_cell(&g, &s->cells[i], (i + 1) % s->n_columns == 0);
    grid_print(&g, w->style, 0, w->out);
    free(align);
}

/* --- the user's statement --------------------------------------------------------------------- */

static int stream_csv(void *arg, const struct section *s)
{
    struct writer *w = arg;
    if (w->n_rows == 0)
        csv_head(w->out, s);
    if (s->n_rows)
        csv_row(w->out, s, 0);
    w->n_rows++;
    return pass_on(w);
}

static int stream_json(void *arg, const struct section *s)
{
    struct writer *w = arg;
    if (s->n_rows) {
        buf_adds(w->out, w->n_rows ? ",\n" : "");
        struct jsonw row = {.out = w->out};
        figures_write_row(s, 0, &row);
        w->n_rows++;
    }
    return pass_on(w);
}

static int run_statement(struct writer *w, struct store *s)
{
    const char *sql = w->request->sql;
    if (w->request->form == QUERY_CSV)
        return figures_stream(s, sql, NULL, 0, stream_csv, w, w->err);
    if (w->request->form == QUERY_JSON) {
        buf_addc(w->out, '[');
        int rc = figures_stream(s, sql, NULL, 0, stream_json, w, w->err);
        buf_adds(w->out, "]\n");
        return rc;
    }
    struct figures f = {0};
    int rc = figures_add(&f, s, "rows", sql, NULL, 0, w->err);
    if (rc == 0)
        write_table(w, &f.sections[0]);
    figures_release(&f);
    return rc;
}

/* --- shipped reports -------------------------------------------------------------------------- */

/* "reports/NAME.sql" without what stands around the name. */
static struct span report_name(const struct embedded *e)
{
    struct span name = span_of(e->path + strlen("reports/"));
    if (name.len > 4)
        name.len -= 4;
    return name;
}

/* The first sentence of a report's opening comment. */
static struct span report_about(const struct embedded *e)
{
    if (strncmp(e->data, "-- ", 3) != 0)
        return span_of("");
    const char *text = e->data + 3;
    return (struct span){text, strcspn(text, "\n")};
}

void report_names(const struct report_style *style, struct buf *out)
{
    for (const struct embedded *e = NULL; (e = embed_next("reports/", e));) {
        struct span name = report_name(e), about = report_about(e);
        char *text = mem_copy(about.data, about.len);
        buf_addf(out, "  %-10.*s ", (int)name.len, name.data);
        text_wrap(out, text, 13, style->columns > 0 ? (size_t)style->columns : 80);
        free(text);
    }
}

void report_functions(const struct report_style *style, struct buf *out)
{
    const struct store_function *f;
    for (size_t i = 0; (f = store_function_at(i)); i++) {
        text_paint(out, style, PAINT_BOLD, f->name);
        buf_addf(out, "(%s)\n    ", f->args);
        text_wrap(out, f->meaning, 4, style->columns > 0 ? (size_t)style->columns : 80);
    }
}

static void write_section(struct writer *w, const struct section *s, bool titled)
{
    if (titled) {
        buf_adds(w->out, w->n_rows++ ? "\n" : "");
        text_paint(w->out, w->style, PAINT_BOLD, w->request->form == QUERY_CSV ? "" : s->name);
        buf_adds(w->out, w->request->form == QUERY_CSV ? "" : "\n");
    }
    if (w->request->form == QUERY_CSV) {
        csv_head(w->out, s);
        for (size_t row = 0; row < s->n_rows; row++)
            csv_row(w->out, s, row);
    } else {
        write_table(w, s);
    }
}

static int pick_section(const struct figures *f, const char *name, struct err *err)
{
    struct buf known = BUF_INIT;
    for (size_t i = 0; i < f->n; i++) {
        if (name && strcmp(f->sections[i].name, name) == 0) {
            buf_release(&known);
            return (int)i;
        }
        buf_addf(&known, "%s%s", i ? ", " : "", f->sections[i].name);
    }
    if (name)
        err_set(err, STATUS_USAGE, "the report has no section '%s': it has %s", name,
                buf_str(&known));
    else
        err_set(err, STATUS_USAGE, "CSV holds one section: name one of %s", buf_str(&known));
    buf_release(&known);
    return -1;
}

static int write_report(struct writer *w, const struct figures *f)
{
    const struct report_query *r = w->request;
    if (r->form == QUERY_JSON && !r->section) {
        struct jsonw json = {.out = w->out};
        jsonw_object(&json);
        figures_write(f, &json);
        jsonw_end_object(&json);
        buf_addc(w->out, '\n');
        return 0;
    }
    if (!r->section && (r->form == QUERY_TABLE || f->n == 1)) {
        for (size_t i = 0; i < f->n; i++)
            write_section(w, &f->sections[i], f->n > 1);
        return 0;
    }
    int at = pick_section(f, r->section, w->err);
    if (at < 0)
        return -1;
    if (r->form != QUERY_JSON) {
        write_section(w, &f->sections[at], false);
        return 0;
    }
    buf_addc(w->out, '[');
    for (size_t row = 0; row < f->sections[at].n_rows; row++) {
        struct jsonw json = {.out = w->out};
        buf_adds(w->out, row ? ",\n" : "");
        figures_write_row(&f->sections[at], row, &json);
    }
    buf_adds(w->out, "]\n");
    return 0;
}

static int run_report(struct writer *w, struct store *s)
{
    const struct report_query *r = w->request;
    char *file = mem_printf("reports/%s.sql", r->report);
    struct figures f = {0};
    int rc = -1;
    if (!embed_find(file)) {
        struct buf known = BUF_INIT;
        for (const struct embedded *e = NULL; (e = embed_next("reports/", e));)
            buf_addf(&known, "%s%.*s", known.len ? ", " : "", (int)report_name(e).len,
                     report_name(e).data);
        err_set(w->err, STATUS_USAGE, "there is no report '%s': there are %s", r->report,
                buf_str(&known));
        buf_release(&known);
        goto out;
    }
    if (figures_read(&f, s, file, r->bindings, r->n_bindings, w->err) == 0)
        rc = write_report(w, &f);
out:
    figures_release(&f);
    free(file);
    return rc;
}

int report_query(struct store *s, const struct report_query *request,
                 const struct report_style *style, struct buf *out, struct err *err)
{
    struct writer w = {.request = request, .style = style, .out = out, .err = err};
    if (words_sql_define(s, err) < 0)
        return -1;
    return request->sql ? run_statement(&w, s) : run_report(&w, s);
}
