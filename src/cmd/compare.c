/* compare.c - `toolstorm compare A B [C...]`: is B worse or better than A, and how sure is that. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "json.h"
#include "opt.h"
#include "report.h"
#include "store.h"

struct compare_args {
    const char *db, *output;
    double margin, alpha;
    long blocks;
    struct opt_list varying;
};

#define AT(field) offsetof(struct compare_args, field)

static const struct opt table[] = {
    {"margin", NULL, 0, OPT_RATE, AT(margin), "RATE", "5%", 0, 0, NULL, "Comparing",
     "a change smaller than this does not matter"},
    {"alpha", NULL, 0, OPT_RATE, AT(alpha), "RATE", "5%", 0, 0, NULL, NULL,
     "how often a verdict may be false where nothing changed"},
    {"blocks", NULL, 0, OPT_LONG, AT(blocks), "N", "0", 0, 20, NULL, NULL,
     "blocks fixed in advance, with a look after each (O'Brien-Fleming); 0 = one look"},
    {"varying", NULL, 0, OPT_LIST, AT(varying), "SETTING", NULL, 0, 0, NULL, NULL,
     "the runs differ in this setting on purpose"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json|md", NULL,
     "form of the answer"},
    {0},
};

static int write_answer(const struct compare *c, const struct compare_args *a, struct err *err)
{
    struct report_style style = {
        .colour = cmd_stdout_has_colour(), .columns = cmd_columns(), .db = a->db};
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    if (strcmp(a->output, "json") == 0) {
        compare_write_json(c, &w);
        buf_addc(&out, '\n');
    } else if (strcmp(a->output, "md") == 0) {
        compare_write_md(c, &out);
    } else {
        compare_write_text(c, &style, &out);
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

static enum exit_status verdict_status(enum verdict v)
{
    switch (v) {
    case VERDICT_REGRESSED: return STATUS_CORRUPT;
    case VERDICT_IMPROVED:
    case VERDICT_NEGLIGIBLE:
    case VERDICT_EQUIVALENT: return STATUS_PASS;
    case VERDICT_NOTHING_REPRODUCED:
    case VERDICT_SUGGESTIVE:
    case VERDICT_INCONCLUSIVE: break;
    }
    return STATUS_UNDECIDED;
}

/* The worst of all comparisons: a regression, else anything undecided. */
static enum exit_status overall(const struct compare *c)
{
    enum exit_status status = STATUS_PASS;
    for (size_t i = 0; i + 1 < c->n_arms; i++) {
        enum exit_status one = verdict_status(c->comparisons[i].result.verdict);
        if (one == STATUS_CORRUPT)
            return one;
        if (one == STATUS_UNDECIDED)
            status = one;
    }
    return status;
}

static int compare(const struct compare_args *a, const struct opt_list *operands, struct err *err)
{
    struct store *store = store_open(a->db, STORE_READ, err);
    if (!store)
        return -1;
    struct compare_request request = {.operands = operands->items,
                                      .n_operands = operands->n,
                                      .varying = a->varying.items,
                                      .n_varying = a->varying.n,
                                      .margin = a->margin,
                                      .alpha = a->alpha,
                                      .planned_looks = (int)a->blocks};
    struct compare c = {0};
    int rc = compare_read(&c, store, &request, err);
    if (rc == 0)
        rc = write_answer(&c, a, err);
    if (rc == 0)
        rc = (int)overall(&c);
    compare_release(&c);
    store_close(store);
    return rc;
}

int cmd_compare(int argc, char **argv, struct err *err)
{
    struct compare_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("compare [options] A B [C...]",
                         "Compares configurations with the first. Each is a label, tags "
                         "('idxk=bf16,graph=on') or run numbers\n('3' or '3,4,7'). Runs of one "
                         "label are repeats; a tag boot=NAME joins the runs of one server start,\n"
                         "block=N names the block that a run belongs to.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n < 2)
        rc = err_set(err, STATUS_USAGE, "compare needs two configurations or more");
    if (rc == 0)
        rc = compare(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
