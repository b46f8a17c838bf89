/* figures.h - what a report's queries found, kept in memory.
 *
 * A report is a file of reports/: statements, each below a line "-- @KIND NAME: what it answers".
 * KIND is `one` (a row, or none), `many` (rows) or `do` (a scratch table; no result). A column's
 * name may end in "?" (a truth value) or "{}" (JSON text): the suffix says how JSON shows it, and
 * is dropped. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct jsonw;
struct store;

enum cell_kind { CELL_NULL, CELL_LONG, CELL_DOUBLE, CELL_TEXT };

struct cell {
    enum cell_kind kind;
    bool bytes; /* the text was a blob */
    long n;
    double d;
    char *text; /* of texts and bytes; NUL-terminated */
    size_t len;
};

enum column_form { FORM_PLAIN, FORM_BOOL, FORM_JSON };

struct section {
    char *name;
    bool single;
    char **columns;
    enum column_form *forms;
    size_t n_columns, n_rows;
    struct cell *cells; /* row by row */
    size_t cells_cap;
};

struct figures {
    struct section *sections;
    size_t n, cap;
    size_t max_text;  /* bytes kept of a text; 0 = all */
    size_t max_bytes; /* memory of one section: more is an error; 0 = no limit */
};

/* Values for the parameters of the statements; a statement takes those that it names. */
struct binding {
    const char *name;
    const char *text; /* NULL: `number` */
    long number;
};

/* Rows of one section beyond this are an error, not memory. */
#define FIGURES_MAX_ROWS 200000

/* Runs all statements of the embedded file, e.g. "reports/summary.sql". `f` is zeroed but for its
 * limits. */
int figures_read(struct figures *f, struct store *s, const char *file,
                 const struct binding *bindings, size_t n_bindings, struct err *err) MUST_CHECK;

/* A statement that has a result. */
struct figures_part {
    const char *name, *sql;
    bool single; /* `one` */
};

/* The same without keeping anything: makes the scratch tables and hands each statement with a
 * result to `part`, which runs it or does not; not 0 from it ends the walk and is returned. */
int figures_walk(struct store *s, const char *file, const struct binding *bindings,
                 size_t n_bindings, int (*part)(void *arg, const struct figures_part *p), void *arg,
                 struct err *err) MUST_CHECK;

/* The name of section `i` of the file, from 0; NULL behind the last. The caller's. */
char *figures_section_name(const char *file, size_t i);

/* Runs one statement and calls `row` with each row of its result, as the only one of a section
 * whose texts live until `row` returns; not 0 from `row` ends it and is returned. Without any row,
 * `row` is called once with n_rows 0. For results that need not be kept. */
int figures_stream(struct store *s, const char *sql, const struct binding *bindings,
                   size_t n_bindings, int (*row)(void *arg, const struct section *s), void *arg,
                   struct err *err) MUST_CHECK;

/* Runs one statement as a section of that name. */
int figures_add(struct figures *f, struct store *s, const char *name, const char *sql,
                const struct binding *bindings, size_t n_bindings, struct err *err) MUST_CHECK;

void figures_release(struct figures *f);

/* The section; asserts that the report has it. */
const struct section *figures_get(const struct figures *f, const char *name);

/* Values by column name. An absent row or NULL: 0, NaN, "". An unknown column fails an assertion.
 */
long figures_long(const struct section *s, size_t row, const char *column);
double figures_double(const struct section *s, size_t row, const char *column);
const char *figures_text(const struct section *s, size_t row, const char *column);
struct span figures_span(const struct section *s, size_t row, const char *column);
bool figures_null(const struct section *s, size_t row, const char *column);

/* Adds the sections as members of the current object: `one` as an object or null, `many` as an
 * array of objects. */
void figures_write(const struct figures *f, struct jsonw *w);

/* Adds one row as an object, or as further members of the current object. */
void figures_write_row(const struct section *s, size_t row, struct jsonw *w);
void figures_write_members(const struct section *s, size_t row, struct jsonw *w);

#endif
