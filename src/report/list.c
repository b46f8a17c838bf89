/* list.c - the runs of a database. */
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "json.h"
#include "report.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

/* The object that reports/list.sql takes as :tags. */
static void write_tags(const struct report_filter *f, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    for (size_t i = 0; i < f->n_tags; i++) {
        const char *equals = strchr(f->tags[i], '=');
        struct buf key = BUF_INIT;
        buf_add(&key, f->tags[i], equals ? (size_t)(equals - f->tags[i]) : strlen(f->tags[i]));
        jsonw_key(&w, buf_str(&key));
        jsonw_text(&w, equals ? equals + 1 : NULL);
        buf_release(&key);
    }
    jsonw_end_object(&w);
}

/* Tags of which no run has ever had the key are a slip of the pen, not an empty answer. */
static int check_tags(struct store *s, const char *tags, struct err *err)
{
    struct figures f = {0};
    const struct binding bindings[] = {{.name = "tags", .text = tags}};
    int rc = figures_add(&f, s, "unknown",
                         "SELECT key, (SELECT group_concat(key, ', ') FROM (SELECT DISTINCT key "
                         "FROM run_tags ORDER BY key)) AS known FROM json_each(:tags) "
                         "WHERE key NOT IN (SELECT key FROM run_tags)",
                         bindings, 1, err);
    if (rc == 0 && f.sections[0].n_rows) {
        const char *known = figures_text(&f.sections[0], 0, "known");
        rc = err_set(err, STATUS_USAGE, "no run has a tag '%s'%s%s",
                     figures_text(&f.sections[0], 0, "key"),
                     *known ? ": known are " : ": there are none", known);
    }
    figures_release(&f);
    return rc;
}

static void add_part(struct buf *out, const char *before, struct span text)
{
    if (!text.len)
        return;
    buf_adds(out, out->len ? ", " : "");
    buf_adds(out, before);
    text_safe(out, text, false);
}

static void add_details(struct grid *g, const struct section *s, size_t row)
{
    struct buf details = BUF_INIT;
    add_part(&details, "", figures_span(s, row, "scenario"));
    add_part(&details, "", figures_span(s, row, "model"));
    buf_addf(&details, ", concurrency %ld", figures_long(s, row, "concurrency"));
    if (figures_long(s, row, "simulated"))
        buf_adds(&details, ", simulated");
    if (!figures_null(s, row, "unfinished"))
        buf_addf(&details, ", did not finish: %s", figures_text(s, row, "unfinished"));
    else if (strcmp(figures_text(s, row, "status"), "done") != 0)
        add_part(&details, "", figures_span(s, row, "status"));
    add_part(&details, "", figures_span(s, row, "tag_text"));
    grid_note(g, buf_str(&details));
    buf_release(&details);
}

static void add_label(struct grid *g, const struct section *s, size_t row)
{
    struct buf safe = BUF_INIT, label = BUF_INIT;
    text_safe(&safe, figures_span(s, row, "label"), false);
    text_cut(&label, buf_span(&safe), 16);
    grid_add(g, buf_str(&label));
    buf_release(&label);
    buf_release(&safe);
}

static void add_run(struct grid *g, const struct section *s, size_t row)
{
    grid_addf(g, "%ld", figures_long(s, row, "run"));
    char started[17] = "";
    strncat(started, figures_text(s, row, "started"), sizeof started - 1);
    if (strlen(started) == 16)
        started[10] = ' ';
    grid_add(g, started);
    add_label(g, s, row);
    long stored = figures_long(s, row, "stored"), asked = figures_long(s, row, "sessions");
    if (stored == asked)
        grid_addf(g, "%ld", asked);
    else
        grid_addf(g, "%ld/%ld", stored, asked);
    long errors = figures_long(s, row, "errors");
    grid_addf(g, "%ld", errors);
    if (errors)
        grid_paint(g, PAINT_WARN);
    grid_add(g, figures_text(s, row, "short_text"));
    if (figures_long(s, row, "corrupted"))
        grid_paint(g, PAINT_BAD);
    add_details(g, s, row);
}

static void list_text(const struct section *s, const struct report_style *style, struct buf *out)
{
    static const char *const heads[] = {"run",      "started (UTC)", "label",
                                        "sessions", "errors",        "corrupted [95%]"};
    struct grid g = {.align = "rllrrl"};
    if (!s->n_rows) {
        buf_adds(out, "no run\n");
        return;
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        grid_add(&g, heads[i]);
        grid_paint(&g, PAINT_BOLD);
    }
    for (size_t i = 0; i < s->n_rows; i++)
        add_run(&g, s, i);
    grid_print(&g, style, 0, out);
}

int report_list(struct store *s, const struct report_filter *filter,
                const struct report_style *style, struct buf *out, struct err *err)
{
    struct figures f = {0};
    struct buf tags = BUF_INIT;
    const char *class = NULL;
    int rc = -1;
    write_tags(filter, &tags);
    if (words_sql_define(s, err) < 0 || check_tags(s, buf_str(&tags), err) < 0 ||
        (filter->reason && !(class = report_class(filter->reason, err))))
        goto out;
    /* A parameter that is not bound is NULL: any. */
    struct binding bindings[6] = {{.name = "tags", .text = buf_str(&tags)},
                                  {.name = "limit", .number = filter->limit}};
    size_t n = 2;
    if (filter->label)
        bindings[n++] = (struct binding){.name = "label", .text = filter->label};
    if (filter->since)
        bindings[n++] = (struct binding){.name = "since", .text = filter->since};
    if (filter->reason)
        bindings[n++] = (struct binding){.name = "class", .text = class};
    if (filter->reason && strchr(filter->reason, '.'))
        bindings[n++] = (struct binding){.name = "reason", .text = filter->reason};
    if (figures_read(&f, s, "reports/list.sql", bindings, n, err) < 0)
        goto out;
    if (style->json) {
        struct jsonw w = {.out = out};
        jsonw_object(&w);
        figures_write(&f, &w);
        jsonw_end_object(&w);
        buf_addc(out, '\n');
    } else {
        list_text(figures_get(&f, "runs"), style, out);
    }
    rc = 0;
out:
    figures_release(&f);
    buf_release(&tags);
    return rc;
}
