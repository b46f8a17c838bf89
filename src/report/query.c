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

/* Memory of a table's figures; its texts take as much again. */
#define MAX_TABLE (64u << 20)

/* Bytes that a column of a terminal may need: of long texts no more is kept. */
#define BYTES_PER_COLUMN 16

/* Output is handed on in pieces of about this size. */
#define PIECE (1u << 20)

struct writer {
    const struct report_query *request;
    const struct report_style *style;
    struct store *store;
    struct buf *out;
    struct jsonw json; /* of a whole report */
    bool titled;       /* sections of a table have titles */
    size_t n_rows;     /* of a section, so far */
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
    case CELL_LONG: buf_add_long(out, c->n); break;
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

/* Whether a field must stand in quotes; a NUL is quoted, too. */
static bool wants_quotes(struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        switch (text.data[i]) {
        case ',':
        case '"':
        case '\r':
        case '\n':
        case '\0': return true;
        default: break;
        }
    return false;
}

static void csv_field(struct buf *out, struct span text)
{
    if (!wants_quotes(text)) {
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
        const struct cell *c = &s->cells[row * s->n_columns + i];
        if (i)
            buf_addc(out, ',');
        if (c->kind == CELL_TEXT)
            csv_field(out, (struct span){c->text, c->len});
        else
            add_cell(out, c);
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

/* Figures for a table: as much as it can show. */
static struct figures table_figures(const struct writer *w)
{
    size_t columns = w->style->columns > MAX_CELL ? (size_t)w->style->columns
                     : w->style->columns > 0      ? MAX_CELL
                                                  : 80;
    return (struct figures){.max_text = columns * BYTES_PER_COLUMN, .max_bytes = MAX_TABLE};
}

/* --- row by row ------------------------------------------------------------------------------- */

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

static int stream_member(void *arg, const struct section *s)
{
    struct writer *w = arg;
    if (s->n_rows && !w->n_rows++)
        figures_write_row(s, 0, &w->json);
    return pass_on(w);
}

static int stream_element(void *arg, const struct section *s)
{
    struct writer *w = arg;
    if (s->n_rows)
        figures_write_row(s, 0, &w->json);
    return pass_on(w);
}

/* One statement as CSV or as a JSON array. */
static int stream_statement(struct writer *w, const char *sql)
{
    const struct report_query *r = w->request;
    size_t n_bindings = r->sql ? 0 : r->n_bindings;
    w->n_rows = 0;
    if (r->form == QUERY_CSV)
        return figures_stream(w->store, sql, r->bindings, n_bindings, stream_csv, w, w->err);
    buf_addc(w->out, '[');
    int rc = figures_stream(w->store, sql, r->bindings, n_bindings, stream_json, w, w->err);
    buf_adds(w->out, "]\n");
    return rc;
}

/* --- the user's statement --------------------------------------------------------------------- */

static int run_statement(struct writer *w)
{
    const char *sql = w->request->sql;
    if (store_check_reading(w->store, sql, w->err) != 0)
        return -1;
    if (w->request->form != QUERY_TABLE)
        return stream_statement(w, sql);
    struct figures f = table_figures(w);
    int rc = figures_add(&f, w->store, "rows", sql, NULL, 0, w->err);
    if (rc == 0)
        write_table(w, &f.sections[0]);
    figures_release(&f);
    return rc;
}

/* --- shipped reports -------------------------------------------------------------------------- */

/* The next "reports/NAME.sql" behind `e`; NULL at the end. */
static const struct embedded *next_report(const struct embedded *e)
{
    while ((e = embed_next("reports/", e))) {
        size_t len = strlen(e->path);
        if (len > 4 && strcmp(e->path + len - 4, ".sql") == 0)
            return e;
    }
    return NULL;
}

static struct span report_name(const struct embedded *e)
{
    struct span name = span_of(e->path + strlen("reports/"));
    name.len -= strlen(".sql");
    return name;
}

/* Adds the first sentence of a report's opening comment. */
static void add_about(struct buf *out, const struct embedded *e)
{
    for (const char *line = e->data; strncmp(line, "-- ", 3) == 0 && line[3] != '@';) {
        struct span text = {line + 3, strcspn(line + 3, "\n")};
        long end = span_find(text, span_of(". "), 0);
        bool last = end >= 0 || (text.len && text.data[text.len - 1] == '.');
        buf_adds(out, out->len ? " " : "");
        buf_add(out, text.data, end >= 0 ? (size_t)end + 1 : text.len);
        if (last)
            return;
        line = text.data + text.len;
        line += *line == '\n';
    }
}

void report_names(const struct report_style *style, struct buf *out)
{
    for (const struct embedded *e = NULL; (e = next_report(e));) {
        struct span name = report_name(e);
        struct buf about = BUF_INIT;
        add_about(&about, e);
        buf_addf(out, "  %-10.*s ", (int)name.len, name.data);
        text_wrap(out, buf_str(&about), 13, style->columns > 0 ? (size_t)style->columns : 80);
        buf_release(&about);
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

static void write_section(struct writer *w, const struct section *s)
{
    if (w->titled) {
        buf_adds(w->out, w->n_rows++ ? "\n" : "");
        text_paint(w->out, w->style, PAINT_BOLD, s->name);
        buf_addc(w->out, '\n');
    }
    write_table(w, s);
}

/* The section that is asked for: of CSV one must be named, unless there is one only. */
static int check_section(struct writer *w, const char *file)
{
    const struct report_query *r = w->request;
    struct buf known = BUF_INIT;
    size_t n = 0;
    bool found = false;
    for (char *name; (name = figures_section_name(file, n)); n++) {
        found |= r->section && strcmp(name, r->section) == 0;
        buf_addf(&known, "%s%s", n ? ", " : "", name);
        free(name);
    }
    int rc = 0;
    if (r->section && !found)
        rc = err_set(w->err, STATUS_USAGE, "the report has no section '%s': it has %s", r->section,
                     buf_str(&known));
    else if (!r->section && r->form == QUERY_CSV && n > 1)
        rc =
            err_set(w->err, STATUS_USAGE, "CSV holds one section: name one of %s", buf_str(&known));
    buf_release(&known);
    w->titled = !r->section && n > 1;
    return rc;
}

static bool is_asked(const struct writer *w, const struct figures_part *p)
{
    return !w->request->section || strcmp(w->request->section, p->name) == 0;
}

static int add_table(void *arg, const struct figures_part *p)
{
    struct writer *w = arg;
    const struct report_query *r = w->request;
    struct figures f = table_figures(w);
    int rc = is_asked(w, p)
                 ? figures_add(&f, w->store, p->name, p->sql, r->bindings, r->n_bindings, w->err)
                 : 0;
    if (f.n && rc == 0)
        write_section(w, &f.sections[0]);
    figures_release(&f);
    return rc;
}

static int add_rows(void *arg, const struct figures_part *p)
{
    struct writer *w = arg;
    return is_asked(w, p) ? stream_statement(w, p->sql) : 0;
}

static int add_member(void *arg, const struct figures_part *p)
{
    struct writer *w = arg;
    const struct report_query *r = w->request;
    jsonw_key(&w->json, p->name);
    w->n_rows = 0;
    if (!p->single)
        jsonw_array(&w->json);
    int rc = figures_stream(w->store, p->sql, r->bindings, r->n_bindings,
                            p->single ? stream_member : stream_element, w, w->err);
    if (!p->single)
        jsonw_end_array(&w->json);
    else if (!w->n_rows)
        jsonw_null(&w->json);
    return rc;
}

static int write_report(struct writer *w, const char *file)
{
    const struct report_query *r = w->request;
    if (check_section(w, file) != 0)
        return -1;
    bool whole = r->form == QUERY_JSON && !r->section;
    if (whole)
        jsonw_object(&w->json);
    int rc = figures_walk(w->store, file, r->bindings, r->n_bindings,
                          whole                    ? add_member
                          : r->form == QUERY_TABLE ? add_table
                                                   : add_rows,
                          w, w->err);
    if (whole) {
        jsonw_end_object(&w->json);
        buf_addc(w->out, '\n');
    }
    return rc;
}

static int run_report(struct writer *w)
{
    char *file = mem_printf("reports/%s.sql", w->request->report);
    int rc = -1;
    if (embed_find(file)) {
        rc = write_report(w, file);
    } else {
        struct buf known = BUF_INIT;
        for (const struct embedded *e = NULL; (e = next_report(e));)
            buf_addf(&known, "%s%.*s", known.len ? ", " : "", (int)report_name(e).len,
                     report_name(e).data);
        err_set(w->err, STATUS_USAGE, "there is no report '%s': there are %s", w->request->report,
                buf_str(&known));
        buf_release(&known);
    }
    free(file);
    return rc;
}

int report_query(struct store *s, const struct report_query *request,
                 const struct report_style *style, struct buf *out, struct err *err)
{
    struct writer w = {.request = request,
                       .style = style,
                       .store = s,
                       .out = out,
                       .json = {.out = out},
                       .err = err};
    if (words_sql_define(s, err) < 0)
        return -1;
    return request->sql ? run_statement(&w) : run_report(&w);
}
