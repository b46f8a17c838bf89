/* figures.c - reads report files and keeps their results. It knows no report and prints nothing but
 * JSON. */
#include "figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "json.h"
#include "mem.h"
#include "store.h"

/* --- reading ---------------------------------------------------------------------------------- */

static void add_column(struct section *s, size_t at, const char *name)
{
    size_t len = strlen(name);
    s->forms[at] = FORM_PLAIN;
    if (len > 1 && name[len - 1] == '?') {
        s->forms[at] = FORM_BOOL;
        len--;
    } else if (len > 2 && strcmp(name + len - 2, "{}") == 0) {
        s->forms[at] = FORM_JSON;
        len -= 2;
    }
    s->columns[at] = mem_copy(name, len);
}

static struct span text_of(const struct query *q, int column, size_t max_text)
{
    struct span bytes = query_bytes(q, column);
    if (max_text && bytes.len > max_text)
        bytes.len = max_text;
    return bytes;
}

/* A text is the query's, until its next step, and need not end with a NUL. */
static struct cell borrow_cell(const struct query *q, int column, size_t max_text)
{
    struct cell c = {.kind = CELL_NULL};
    enum query_kind kind = query_kind(q, column);
    switch (kind) {
    case QUERY_NULL: break;
    case QUERY_LONG:
        c.kind = CELL_LONG;
        c.n = query_long(q, column);
        c.d = (double)c.n;
        break;
    case QUERY_DOUBLE:
        c.kind = CELL_DOUBLE;
        c.d = query_double(q, column);
        c.n = query_long(q, column);
        break;
    case QUERY_TEXT:
    case QUERY_BLOB: {
        struct span bytes = text_of(q, column, max_text);
        c.kind = CELL_TEXT;
        c.bytes = kind == QUERY_BLOB;
        c.text = (char *)(size_t)bytes.data;
        c.len = bytes.len;
    }
    }
    return c;
}

/* Returns how much memory the row took. */
static size_t add_row(struct section *s, const struct query *q, size_t max_text)
{
    size_t base = s->n_rows++ * s->n_columns, last = base + s->n_columns;
    size_t bytes = s->n_columns * sizeof *s->cells;
    s->cells = mem_grow(s->cells, &s->cells_cap, last, sizeof *s->cells);
    for (size_t i = 0; i < s->n_columns; i++) {
        struct cell *c = &s->cells[base + i];
        *c = borrow_cell(q, (int)i, max_text);
        if (c->kind != CELL_TEXT)
            continue;
        c->text = mem_copy(c->text, c->len);
        bytes += c->len;
    }
    return bytes;
}

static int read_rows(struct section *s, struct query *q, const struct figures *limits,
                     struct err *err)
{
    size_t bytes = 0;
    int more;
    while ((more = query_step(q, err)) == 1) {
        if (s->n_rows >= FIGURES_MAX_ROWS)
            return err_set(err, STATUS_USAGE, "more than %d rows: only CSV and JSON have no limit",
                           FIGURES_MAX_ROWS);
        bytes += add_row(s, q, limits->max_text);
        if (limits->max_bytes && bytes > limits->max_bytes)
            return err_set(err, STATUS_USAGE,
                           "%zu rows take more than %zu MB: only CSV and JSON have no limit",
                           s->n_rows, limits->max_bytes >> 20);
    }
    return more;
}

static struct section section_for(const struct query *q, const char *name)
{
    struct section s = {.name = mem_str(name), .n_columns = (size_t)query_columns(q)};
    s.columns = mem_zero(s.n_columns, sizeof *s.columns);
    s.forms = mem_zero(s.n_columns, sizeof *s.forms);
    for (size_t i = 0; i < s.n_columns; i++)
        add_column(&s, i, query_name(q, (int)i));
    return s;
}

static void forget_rows(struct section *s)
{
    for (size_t i = 0; i < s->n_rows * s->n_columns; i++)
        free(s->cells[i].text);
    s->n_rows = 0;
}

static void section_release(struct section *s)
{
    forget_rows(s);
    for (size_t i = 0; i < s->n_columns; i++)
        free(s->columns[i]);
    free(s->cells);
    free(s->columns);
    free(s->forms);
    free(s->name);
}

static struct query *start(struct store *s, const char *sql, const struct binding *bindings,
                           size_t n, struct err *err)
{
    struct query *q = store_query(s, sql, err);
    for (size_t i = 0; q && i < n; i++) {
        if (bindings[i].text)
            query_bind_text(q, bindings[i].name, bindings[i].text);
        else
            query_bind_long(q, bindings[i].name, bindings[i].number);
    }
    return q;
}

int figures_add(struct figures *f, struct store *s, const char *name, const char *sql,
                const struct binding *bindings, size_t n_bindings, struct err *err)
{
    struct query *q = start(s, sql, bindings, n_bindings, err);
    if (!q)
        return -1;
    f->sections = mem_grow(f->sections, &f->cap, f->n, sizeof *f->sections);
    struct section *new = &f->sections[f->n++];
    *new = section_for(q, name);
    int rc = read_rows(new, q, f, err);
    query_free(q);
    return rc;
}

/* A row for a caller that looks at it and is done: only bytes, which may lack their NUL, are
 * copied. */
static void borrow_row(struct section *s, const struct query *q)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        s->cells[i] = borrow_cell(q, (int)i, 0);
        if (s->cells[i].bytes)
            s->cells[i].text = mem_copy(s->cells[i].text, s->cells[i].len);
    }
    s->n_rows = 1;
}

static void give_back_row(struct section *s)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (s->cells[i].bytes)
            free(s->cells[i].text);
    s->n_rows = 0;
}

int figures_stream(struct store *s, const char *sql, const struct binding *bindings,
                   size_t n_bindings, int (*row)(void *arg, const struct section *s), void *arg,
                   struct err *err)
{
    struct query *q = start(s, sql, bindings, n_bindings, err);
    if (!q)
        return -1;
    struct section one = section_for(q, "rows");
    one.cells = mem_zero(one.n_columns, sizeof *one.cells);
    bool any = false;
    int rc = 0, more;
    while (rc == 0 && (more = query_step(q, err)) != 0) {
        if (more < 0) {
            rc = -1;
            break;
        }
        any = true;
        borrow_row(&one, q);
        rc = row(arg, &one);
        give_back_row(&one);
    }
    if (rc == 0 && !any)
        rc = row(arg, &one);
    section_release(&one);
    query_free(q);
    return rc;
}

/* One "-- @KIND NAME: ..." line and the statement below it. */
struct part {
    char kind[8], name[40];
    const char *sql; /* the line itself is a comment to SQL */
    size_t len;
};

static const char *next_mark(const char *text)
{
    if (strncmp(text, "-- @", 4) == 0)
        return text;
    const char *at = strstr(text, "\n-- @");
    return at ? at + 1 : NULL;
}

static bool next_part(const char **text, struct part *p)
{
    const char *mark = next_mark(*text);
    if (!mark)
        return false;
    const char *end = next_mark(mark + 1);
    p->sql = mark;
    p->len = end ? (size_t)(end - mark) : strlen(mark);
    *text = mark + p->len;
    const char *word = mark + 4;
    size_t n = strcspn(word, " \n");
    assert(n < sizeof p->kind);
    memcpy(p->kind, word, n);
    p->kind[n] = '\0';
    word += n + strspn(word + n, " ");
    n = strcspn(word, ":\n");
    assert(n > 0 && n < sizeof p->name);
    memcpy(p->name, word, n);
    p->name[n] = '\0';
    return true;
}

int figures_walk(struct store *s, const char *file, const struct binding *bindings,
                 size_t n_bindings, int (*part)(void *arg, const struct figures_part *p), void *arg,
                 struct err *err)
{
    const struct embedded *report = embed_find(file);
    if (!report)
        return err_set(err, STATUS_USAGE, "there is no report '%s'", file);
    const char *text = report->data;
    if (!next_mark(text))
        return part(arg, &(struct figures_part){"rows", text, false});
    struct part p;
    int rc = 0;
    while (rc == 0 && next_part(&text, &p)) {
        char *sql = mem_copy(p.sql, p.len);
        struct figures scratch = {0};
        if (strcmp(p.kind, "do") == 0)
            rc = figures_add(&scratch, s, p.name, sql, bindings, n_bindings, err);
        else
            rc = part(arg, &(struct figures_part){p.name, sql, strcmp(p.kind, "one") == 0});
        figures_release(&scratch);
        free(sql);
        if (rc != 0)
            err_prefix(err, "%s, %s", file, p.name);
    }
    return rc;
}

char *figures_section_name(const char *file, size_t i)
{
    const struct embedded *report = embed_find(file);
    if (!report || !next_mark(report->data))
        return report && i == 0 ? mem_str("rows") : NULL;
    const char *text = report->data;
    for (struct part p; next_part(&text, &p);)
        if (strcmp(p.kind, "do") != 0 && i-- == 0)
            return mem_str(p.name);
    return NULL;
}

struct reading {
    struct figures *figures;
    struct store *store;
    const struct binding *bindings;
    size_t n_bindings;
    struct err *err;
};

static int read_part(void *arg, const struct figures_part *p)
{
    struct reading *r = arg;
    if (figures_add(r->figures, r->store, p->name, p->sql, r->bindings, r->n_bindings, r->err) != 0)
        return -1;
    r->figures->sections[r->figures->n - 1].single = p->single;
    return 0;
}

int figures_read(struct figures *f, struct store *s, const char *file,
                 const struct binding *bindings, size_t n_bindings, struct err *err)
{
    struct reading r = {f, s, bindings, n_bindings, err};
    return figures_walk(s, file, bindings, n_bindings, read_part, &r, err);
}

void figures_release(struct figures *f)
{
    for (size_t i = 0; i < f->n; i++)
        section_release(&f->sections[i]);
    free(f->sections);
    *f = (struct figures){0};
}

/* --- looking at it ---------------------------------------------------------------------------- */

const struct section *figures_get(const struct figures *f, const char *name)
{
    size_t i = 0;
    while (i < f->n && strcmp(f->sections[i].name, name) != 0)
        i++;
    assert(i < f->n && "a section of the report");
    return &f->sections[i];
}

static const struct cell *cell_at(const struct section *s, size_t row, const char *column)
{
    static const struct cell none = {.kind = CELL_NULL};
    size_t i = 0;
    while (i < s->n_columns && strcmp(s->columns[i], column) != 0)
        i++;
    assert(i < s->n_columns && "a column of the section");
    return row < s->n_rows && i < s->n_columns ? &s->cells[row * s->n_columns + i] : &none;
}

bool figures_null(const struct section *s, size_t row, const char *column)
{
    return cell_at(s, row, column)->kind == CELL_NULL;
}

long figures_long(const struct section *s, size_t row, const char *column)
{
    return cell_at(s, row, column)->n;
}

double figures_double(const struct section *s, size_t row, const char *column)
{
    const struct cell *c = cell_at(s, row, column);
    return c->kind == CELL_LONG || c->kind == CELL_DOUBLE ? c->d : NAN;
}

const char *figures_text(const struct section *s, size_t row, const char *column)
{
    const struct cell *c = cell_at(s, row, column);
    return c->text ? c->text : "";
}

struct span figures_span(const struct section *s, size_t row, const char *column)
{
    const struct cell *c = cell_at(s, row, column);
    return (struct span){c->text ? c->text : "", c->len};
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void write_cell(const struct cell *c, enum column_form form, struct jsonw *w)
{
    if (c->kind == CELL_NULL)
        jsonw_null(w);
    else if (form == FORM_BOOL)
        jsonw_bool(w, c->n != 0);
    else if (c->kind == CELL_LONG)
        jsonw_long(w, c->n);
    else if (c->kind == CELL_DOUBLE)
        jsonw_double(w, c->d);
    else if (form == FORM_JSON && json_check((struct span){c->text, c->len}) < 0)
        jsonw_raw(w, (struct span){c->text, c->len});
    else
        jsonw_span(w, (struct span){c->text, c->len});
}

void figures_write_members(const struct section *s, size_t row, struct jsonw *w)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        jsonw_key(w, s->columns[i]);
        write_cell(&s->cells[row * s->n_columns + i], s->forms[i], w);
    }
}

void figures_write_row(const struct section *s, size_t row, struct jsonw *w)
{
    jsonw_object(w);
    figures_write_members(s, row, w);
    jsonw_end_object(w);
}

void figures_write(const struct figures *f, struct jsonw *w)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct section *s = &f->sections[i];
        jsonw_key(w, s->name);
        if (s->single) {
            if (s->n_rows)
                figures_write_row(s, 0, w);
            else
                jsonw_null(w);
            continue;
        }
        jsonw_array(w);
        for (size_t row = 0; row < s->n_rows; row++)
            figures_write_row(s, row, w);
        jsonw_end_array(w);
    }
}
