/* digest.c - reads what reports tell about several runs: which runs, their figures, the verdict. It
 * writes one sentence and leaves every form to others. */
#include "digest.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "rate_text.h"
#include "store.h"
#include "verdict.h"
#include "words_sql.h"

/* Output is handed on in pieces of about this size. */
#define PIECE (1u << 18)

static int all_runs(struct store *s, struct buf *list, struct err *err)
{
    struct query *q = store_query(s, "SELECT run FROM runs ORDER BY run", err);
    int rc = -1;
    while (q && (rc = query_step(q, err)) == 1)
        buf_addf(list, "%s%ld", list->len ? "," : "", query_long(q, 0));
    query_free(q);
    if (rc == 0 && !list->len)
        return err_set(err, STATUS_USAGE, "the database has no run");
    return rc;
}

static int chosen_runs(struct store *s, const struct digest_request *r, struct buf *list,
                       struct err *err)
{
    for (size_t i = 0; i < r->n_operands; i++) {
        struct buf runs = BUF_INIT;
        int rc = arm_find(s, r->operands[i], &runs, err);
        buf_addf(list, "%s%s", list->len ? "," : "", buf_str(&runs));
        buf_release(&runs);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* "1,5" of "[1,5]" for every configuration. The caller frees them. */
static const char **operands_of(const struct section *configs)
{
    const char **operands = mem_zero(configs->n_rows, sizeof *operands);
    for (size_t i = 0; i < configs->n_rows; i++) {
        const char *list = figures_text(configs, i, "run_list");
        operands[i] = mem_copy(list + 1, strlen(list) - 2);
    }
    return operands;
}

/* Configurations that may not be compared are reported all the same, and why is said. */
static int read_verdict(struct digest *d, struct err *err)
{
    const struct section *configs = figures_get(&d->figures, "configs");
    if (configs->n_rows < 2)
        return 0;
    const char **operands = operands_of(configs);
    const struct compare_request request = {.operands = operands,
                                            .n_operands = configs->n_rows,
                                            .varying = d->request->varying,
                                            .n_varying = d->request->n_varying,
                                            .margin = 0.05,
                                            .alpha = 0.05};
    struct err why = {0};
    d->compared = compare_read(&d->compare, d->store, &request, &why) == 0;
    for (size_t i = 0; d->compared && i < d->compare.n_arms; i++) {
        free(d->compare.arms[i].name);
        d->compare.arms[i].name = mem_str(figures_text(configs, i, "name"));
    }
    for (size_t i = 0; i < configs->n_rows; i++)
        free((void *)(size_t)operands[i]);
    free(operands);
    d->compare.request.operands = NULL;
    if (d->compared)
        return 0;
    if (why.status == STATUS_TOOL)
        return err_set(err, why.status, "%s", why.text);
    d->why_not = mem_str(why.text);
    return 0;
}

int digest_read(struct digest *d, struct store *s, const struct digest_request *r, struct err *err)
{
    *d = (struct digest){.request = r, .store = s};
    struct buf list = BUF_INIT;
    int rc = r->n_operands ? chosen_runs(s, r, &list, err) : all_runs(s, &list, err);
    d->runs = mem_printf("[%s]", buf_str(&list));
    buf_release(&list);
    const struct binding binding = {.name = "runs", .text = d->runs};
    if (rc != 0 || words_sql_define(s, err) != 0 ||
        figures_read(&d->figures, s, "reports/report.sql", &binding, 1, err) != 0)
        return -1;
    return read_verdict(d, err);
}

void digest_release(struct digest *d)
{
    compare_release(&d->compare);
    figures_release(&d->figures);
    free(d->why_not);
    free(d->runs);
    *d = (struct digest){0};
}

int digest_pass_on(const struct digest *d, struct buf *out, struct err *err)
{
    if (!d->request->flush || out->len < PIECE)
        return 0;
    int rc = d->request->flush(d->request->arg, out, err);
    buf_clear(out);
    return rc;
}

static void one_configuration(const struct section *about, struct buf *out)
{
    long corrupted = figures_long(about, 0, "corrupted"), judged = figures_long(about, 0, "judged");
    const char *text = figures_text(about, 0, "text");
    long finished = figures_long(about, 0, "finished");
    if (finished == 0)
        buf_adds(out, "No session has finished.");
    else if (judged == 0)
        buf_addf(out, "No session could be judged: %ld ended in an error.", finished);
    else if (corrupted == 0)
        buf_addf(out, "No corruption was seen: %s.", text);
    else
        buf_addf(out, "Sessions were corrupted: %s.", text);
}

/* Says of runs that did not finish that they did not: their sessions are not all that were asked
 * for. */
static void add_unfinished(const struct digest *d, struct buf *out)
{
    const struct section *about = figures_get(&d->figures, "about");
    const struct section *runs = figures_get(&d->figures, "runs");
    long unfinished = figures_long(about, 0, "unfinished");
    if (unfinished && runs->n_rows == 1)
        buf_addf(out, " The run did not finish: %s.", figures_text(runs, 0, "unfinished"));
    else if (unfinished)
        buf_addf(out, " %ld of the %zu runs did not finish.", unfinished, runs->n_rows);
}

static void sentences(const struct digest *d, struct buf *out)
{
    const struct section *about = figures_get(&d->figures, "about");
    const struct section *configs = figures_get(&d->figures, "configs");
    const struct section *worst = figures_get(&d->figures, "worst");
    size_t judged = (size_t)figures_long(about, 0, "judged_configs");
    if (configs->n_rows < 2 || judged == 0) {
        one_configuration(about, out);
        return;
    }
    if (figures_long(about, 0, "corrupted") == 0 && judged < configs->n_rows)
        buf_addf(out,
                 "No corruption was seen in %zu of %zu configurations: %s in all; in the others "
                 "nothing could be judged.",
                 judged, configs->n_rows, figures_text(about, 0, "text"));
    else if (figures_long(about, 0, "corrupted") == 0)
        buf_addf(out, "No corruption was seen in %zu configurations: %s in all.", configs->n_rows,
                 figures_text(about, 0, "text"));
    else
        buf_addf(out,
                 "Sessions were corrupted in %ld of %zu configurations, most of all in '%s': %s.",
                 figures_long(about, 0, "corrupted_configs"), configs->n_rows,
                 figures_text(worst, 0, "name"), figures_text(worst, 0, "text"));
    if (d->compared && configs->n_rows == 2) {
        buf_addf(out, " %s: ", verdict_word(d->compare.comparisons[0].result.verdict));
        compare_write_sentence(&d->compare, 0, out);
    }
}

void digest_headline(const struct digest *d, struct buf *out)
{
    sentences(d, out);
    add_unfinished(d, out);
}
