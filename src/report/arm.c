/* arm.c - finds the runs that an operand means, and reads their counts. It compares nothing. */
#include "arm.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "store.h"
#include "text.h"
#include "words_sql.h"

#define KNOWN_BYTES 300 /* of labels listed in an error */

static int add_runs(struct store *s, const char *sql, const char *name, const char *value,
                    struct buf *list, struct err *err)
{
    struct query *q = store_query(s, sql, err);
    if (!q)
        return -1;
    query_bind_text(q, "value", value);
    query_bind_text(q, "name", name);
    int rc;
    while ((rc = query_step(q, err)) == 1)
        buf_addf(list, "%s%ld", list->len ? "," : "", query_long(q, 0));
    query_free(q);
    return rc;
}

static int unknown_arm(struct store *s, const char *operand, struct err *err)
{
    struct query *q = store_query(s,
                                  "SELECT DISTINCT label FROM runs WHERE label <> '' UNION "
                                  "SELECT DISTINCT key || '=' || value FROM run_tags",
                                  err);
    struct buf known = BUF_INIT;
    while (q && query_step(q, err) == 1 && known.len < KNOWN_BYTES) {
        buf_adds(&known, known.len ? ", " : "");
        text_safe(&known, span_of(query_text(q, 0)), false);
    }
    query_free(q);
    err_set(err, STATUS_USAGE, "no run is '%s'; labels and tags in the database: %s", operand,
            known.len ? buf_str(&known) : "none");
    buf_release(&known);
    return -1;
}

/* Every number must be a run: a typing mistake should not shrink an arm. */
static int by_number(struct store *s, const char *operand, struct buf *list, struct err *err)
{
    for (const char *p = operand; *p;) {
        size_t n = strcspn(p, ","), before = list->len;
        char *number = mem_copy(p, n);
        int rc = add_runs(s, "SELECT run FROM runs WHERE run = CAST(:value AS INTEGER)", NULL,
                          number, list, err);
        if (rc == 0 && list->len == before)
            rc = err_set(err, STATUS_USAGE, "there is no run '%s' in the database", number);
        free(number);
        if (rc != 0)
            return rc;
        p += n + (p[n] == ',');
    }
    return 0;
}

static int by_tags(struct store *s, const char *operand, struct buf *list, struct err *err)
{
    struct buf pairs = BUF_INIT;
    struct jsonw w = {.out = &pairs};
    jsonw_array(&w);
    for (const char *p = operand; *p;) {
        size_t n = strcspn(p, ",");
        jsonw_span(&w, (struct span){p, n});
        p += n + (p[n] == ',');
    }
    jsonw_end_array(&w);
    int rc = add_runs(s,
                      "SELECT run FROM run_tags WHERE key || '=' || value IN (SELECT value FROM "
                      "json_each(:value)) GROUP BY run "
                      "HAVING count(*) = json_array_length(:value) ORDER BY run",
                      NULL, buf_str(&pairs), list, err);
    buf_release(&pairs);
    return rc;
}

int arm_find(struct store *s, const char *operand, struct buf *list, struct err *err)
{
    int rc = add_runs(s, "SELECT run FROM runs WHERE label = :value ORDER BY run", NULL, operand,
                      list, err);
    if (rc == 0 && !list->len && operand[0] && !operand[strspn(operand, "0123456789,")])
        rc = by_number(s, operand, list, err);
    else if (rc == 0 && !list->len && strchr(operand, '='))
        rc = by_tags(s, operand, list, err);
    if (rc == 0 && !list->len)
        rc = unknown_arm(s, operand, err);
    return rc;
}

int arm_read(struct arm *a, struct store *s, const char *operand, struct err *err)
{
    *a = (struct arm){.name = mem_str(operand)};
    struct buf list = BUF_INIT;
    int rc = arm_find(s, operand, &list, err);
    a->runs = mem_printf("[%s]", buf_str(&list));
    buf_release(&list);
    if (rc != 0)
        return rc;
    struct binding runs = {.name = "runs", .text = a->runs};
    if (words_sql_define(s, err) != 0 ||
        figures_read(&a->figures, s, "reports/arm.sql", &runs, 1, err) != 0)
        return -1;
    const struct section *starts = figures_get(&a->figures, "starts");
    const struct section *total = figures_get(&a->figures, "total");
    a->n_starts = starts->n_rows;
    a->starts = mem_zero(a->n_starts, sizeof *a->starts);
    for (size_t i = 0; i < a->n_starts; i++)
        a->starts[i] = (struct verdict_run){.x = figures_long(starts, i, "corrupt"),
                                            .n = figures_long(starts, i, "judged"),
                                            .errors = figures_long(starts, i, "errors")};
    a->corrupt = figures_long(total, 0, "corrupt");
    a->judged = figures_long(total, 0, "judged");
    a->errors = figures_long(total, 0, "errors");
    a->unfinished = figures_long(total, 0, "unfinished");
    if (a->judged == 0)
        return err_set(err, STATUS_UNDECIDED, "no session of '%s' could be judged (%ld errors)",
                       operand, a->errors);
    return 0;
}

void arm_release(struct arm *a)
{
    figures_release(&a->figures);
    free(a->name);
    free(a->runs);
    free(a->starts);
    *a = (struct arm){0};
}

long arm_reason(const struct arm *a, const char *reason)
{
    const struct section *s = figures_get(&a->figures, "reasons");
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(figures_text(s, i, "reason"), reason) == 0)
            return figures_long(s, i, "sessions");
    return 0;
}
