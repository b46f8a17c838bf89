/* list.c - `toolstorm list`: the runs of a database. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "opt.h"
#include "report.h"
#include "store.h"

struct list_args {
    const char *db, *output, *label, *reason, *since;
    struct opt_list tags;
    long limit;
};

#define AT(field) offsetof(struct list_args, field)

static const struct opt table[] = {
    {"label", NULL, 'l', OPT_TEXT, AT(label), "NAME", NULL, 0, 0, NULL, "Which runs",
     "runs with this label"},
    {"tag", NULL, 0, OPT_LIST, AT(tags), "KEY[=VALUE]", NULL, 0, 0, NULL, NULL,
     "runs with this tag; several must all hold"},
    {"reason", NULL, 'r', OPT_TEXT, AT(reason), "WORD", NULL, 0, 0, NULL, NULL,
     "runs in which some session has this class or reason, e.g. leak or leak.markup"},
    {"since", NULL, 0, OPT_TEXT, AT(since), "DATE", NULL, 0, 0, NULL, NULL,
     "runs started at or after 2026-11-30 or 2026-11-30T08:00, in UTC"},
    {"limit", NULL, 'n', OPT_LONG, AT(limit), "N", "0", 0, 1e9, NULL, NULL,
     "only the newest N; 0 = all"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, "Output", "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the answer"},
    {0},
};

/* Dates are compared as text, so a slip must not pass for a date. */
static int check_since(const char *since, struct err *err)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    size_t len = since ? strlen(since) : 0;
    bool good = !since || len == 10 || len == 16 || len == 19 || len == 20;
    for (size_t i = 0; good && i < len; i++) {
        bool digit = since[i] >= '0' && since[i] <= '9';
        good = form[i] == 'd'   ? digit
               : form[i] == 'T' ? since[i] == 'T' || since[i] == ' '
                                : since[i] == form[i];
    }
    if (good)
        return 0;
    return err_set(err, STATUS_USAGE,
                   "--since '%s': expected a date like 2026-11-30 or 2026-11-30T08:00", since);
}

static int list(const struct list_args *a, struct err *err)
{
    struct store *store = store_open(a->db, STORE_READ, err);
    if (!store)
        return -1;
    char since[32] = "";
    if (a->since)
        strncat(since, a->since, sizeof since - 1);
    if (strlen(since) > 10)
        since[10] = 'T';
    const struct report_filter filter = {.label = a->label,
                                         .tags = a->tags.items,
                                         .n_tags = a->tags.n,
                                         .reason = a->reason,
                                         .since = a->since ? since : NULL,
                                         .limit = a->limit};
    const struct report_style style = {.json = strcmp(a->output, "json") == 0,
                                       .colour = cmd_stdout_has_colour(),
                                       .columns = cmd_columns(),
                                       .db = a->db};
    struct buf out = BUF_INIT;
    int rc = report_list(store, &filter, &style, &out, err);
    if (rc == 0)
        rc = cmd_print(&out, err);
    buf_release(&out);
    store_close(store);
    return rc;
}

int cmd_list(int argc, char **argv, struct err *err)
{
    struct list_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("list [options]",
                         "Lists the runs of a database with the sessions that were corrupted, and "
                         "the 95 % interval of that rate.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n)
        rc = err_set(err, STATUS_USAGE, "'%s': list takes no operands", operands.items[0]);
    if (rc == 0 && check_since(a.since, err) == 0)
        rc = list(&a, err);
    else if (rc != 1)
        rc = -1;
    if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
