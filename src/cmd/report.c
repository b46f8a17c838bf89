/* report.c - `toolstorm report`: what runs came to, in the forms that people and programs read. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "digest.h"
#include "file.h"
#include "opt.h"
#include "store.h"
#include "stored.h"

struct report_args {
    const char *db, *html, *md, *json, *jsonl, *csv, *junit, *prom;
    struct opt_list varying;
    long transcripts;
};

#define AT(field) offsetof(struct report_args, field)

static const struct opt table[] = {
    {"html", NULL, 0, OPT_TEXT, AT(html), "FILE", NULL, 0, 0, NULL,
     "What to write; '-' is standard output, and Markdown there is the default",
     "one page with charts and transcripts; it loads nothing and runs nothing"},
    {"md", NULL, 0, OPT_TEXT, AT(md), "FILE", NULL, 0, 0, NULL, NULL,
     "Markdown, ready for an issue; host names are masked"},
    {"json", NULL, 0, OPT_TEXT, AT(json), "FILE", NULL, 0, 0, NULL, NULL, "every figure as JSON"},
    {"jsonl", NULL, 0, OPT_TEXT, AT(jsonl), "FILE", NULL, 0, 0, NULL, NULL,
     "a line of JSON per configuration, run and session"},
    {"csv", NULL, 0, OPT_TEXT, AT(csv), "FILE", NULL, 0, 0, NULL, NULL, "a line per configuration"},
    {"junit", NULL, 0, OPT_TEXT, AT(junit), "FILE", NULL, 0, 0, NULL, NULL,
     "JUnit XML: a suite per run, a test case per session"},
    {"prom", NULL, 0, OPT_TEXT, AT(prom), "FILE", NULL, 0, 0, NULL, NULL,
     "metrics in Prometheus' text format, for the node exporter's textfile collector"},
    {"transcripts", NULL, 0, OPT_LONG, AT(transcripts), "N", "60", 0, 2000, NULL, "How",
     "damaged sessions that the page shows whole; the others are listed"},
    {"varying", NULL, 0, OPT_LIST, AT(varying), "SETTING", NULL, 0, 0, NULL, NULL,
     "the configurations differ in this setting on purpose"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {0},
};

static int html(const struct digest *d, struct buf *out, struct err *err)
{
    return html_write(d, out, err);
}

static int md(const struct digest *d, struct buf *out, struct err *err)
{
    (void)err;
    md_write(d, out);
    return 0;
}

static int json(const struct digest *d, struct buf *out, struct err *err)
{
    (void)err;
    machine_json(d, out);
    return 0;
}

static int csv(const struct digest *d, struct buf *out, struct err *err)
{
    (void)err;
    machine_csv(d, out);
    return 0;
}

static int prom(const struct digest *d, struct buf *out, struct err *err)
{
    (void)err;
    machine_prom(d, out);
    return 0;
}

static const struct {
    size_t offset; /* of the file's name */
    int (*write)(const struct digest *d, struct buf *out, struct err *err);
} forms[] = {
    {AT(html), html},           {AT(md), md},   {AT(json), json},
    {AT(jsonl), machine_jsonl}, {AT(csv), csv}, {AT(junit), junit_write},
    {AT(prom), prom},
};
#define N_FORMS (sizeof forms / sizeof forms[0])

static const char *file_of(const struct report_args *a, size_t form)
{
    return *(const char *const *)((const char *)a + forms[form].offset);
}

/* The file that is being written; `request` has its address. */
struct output {
    struct file_out *file;
};

static int add_piece(void *arg, const struct buf *out, struct err *err)
{
    struct output *o = arg;
    return file_add(o->file, buf_str(out), out->len, err);
}

static int write_form(size_t form, const struct digest *d, const char *file, struct err *err)
{
    struct output *o = d->request->arg;
    struct buf out = BUF_INIT;
    o->file = file_begin(file, err);
    if (!o->file)
        return -1;
    int rc = forms[form].write(d, &out, err);
    if (rc == 0)
        rc = add_piece(o, &out, err);
    struct err late = {0};
    if (file_end(o->file, rc == 0, &late) != 0) {
        *err = late;
        rc = -1;
    }
    buf_release(&out);
    return rc;
}

static int write_forms(const struct report_args *a, const struct digest *d, struct err *err)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (file_of(a, i) && write_form(i, d, file_of(a, i), err) != 0)
            return -1;
    return 0;
}

/* The file of form `i` must be its own: not the database, and not an earlier form's. */
static int check_file(const struct report_args *a, size_t i, struct err *err)
{
    const char *file = file_of(a, i);
    if (!file || strcmp(file, "-") == 0)
        return 0;
    for (size_t k = 0; k < i; k++)
        if (file_of(a, k) && strcmp(file, file_of(a, k)) == 0)
            return err_set(err, STATUS_USAGE, "'%s' is given to two forms", file);
    return cmd_check_output(file, a->db, err);
}

static int report(struct report_args *a, const struct opt_list *operands, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < N_FORMS; i++) {
        any |= file_of(a, i) != NULL;
        if (check_file(a, i, err) != 0)
            return -1;
    }
    if (!any)
        a->md = "-";
    struct store *store = store_open(a->db, STORE_READ, err);
    if (!store)
        return -1;
    struct output output = {0};
    const struct digest_request request = {.operands = operands->items,
                                           .n_operands = operands->n,
                                           .varying = a->varying.items,
                                           .n_varying = a->varying.n,
                                           .transcripts = a->transcripts,
                                           .wire = stored_wire(),
                                           .db = a->db,
                                           .flush = add_piece,
                                           .arg = &output};
    struct digest d = {0};
    int rc = digest_read(&d, store, &request, err);
    if (rc == 0)
        rc = write_forms(a, &d, err);
    digest_release(&d);
    store_close(store);
    return rc;
}

int cmd_report(int argc, char **argv, struct err *err)
{
    struct report_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("report [options] [RUN|LABEL|TAGS...]",
                         "Writes what runs came to: the given labels, run numbers ('3' or '3,4,7') "
                         "or tags ('idxk=bf16,graph=on'),\nor all runs of the database. Runs that "
                         "share label and tags are one configuration; the first is the\nbaseline "
                         "of the comparison. Several forms may be written at once.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0)
        rc = report(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
