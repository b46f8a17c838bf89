/* query.c - `toolstorm query`: a shipped report's figures, or the user's own SQL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "figures.h"
#include "mem.h"
#include "opt.h"
#include "report.h"
#include "store.h"

struct query_args {
    const char *db, *output, *sql;
    struct opt_list binds;
    long run;
    bool functions;
};

#define AT(field) offsetof(struct query_args, field)

static const struct opt table[] = {
    {"sql", NULL, 0, OPT_TEXT, AT(sql), "TEXT", NULL, 0, 0, NULL, "What to ask",
     "one statement of your own; it can only read"},
    {"run", NULL, 0, OPT_LONG, AT(run), "N", "0", 0, 0, NULL, NULL,
     "the run that a report is about; 0 = the newest"},
    {"bind", NULL, 0, OPT_LIST, AT(binds), "NAME=VALUE", NULL, 0, 0, NULL, NULL,
     "a further parameter of a report, :NAME"},
    {"functions", NULL, 0, OPT_BOOL, AT(functions), NULL, "no", 0, 0, NULL, NULL,
     "list the SQL functions that the program adds, with their meaning"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, "Output", "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "table", 0, 0, "table|csv|json", NULL,
     "form of the answer"},
    {0},
};

static int print_piece(void *arg, const struct buf *out, struct err *err)
{
    (void)arg;
    return cmd_print(out, err);
}

/* "NAME=VALUE" split; a whole number is bound as one. `names` is the caller's memory. */
static int read_binding(const char *text, struct binding *b, char **name, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(err, STATUS_USAGE, "--bind '%s': expected NAME=VALUE", text);
    *name = mem_copy(text, (size_t)(equals - text));
    *b = (struct binding){.name = *name, .text = equals + 1};
    char *end;
    errno = 0;
    long n = strtol(equals + 1, &end, 10);
    if (end != equals + 1 && !*end && errno == 0)
        *b = (struct binding){.name = *name, .number = n};
    return 0;
}

static int ask(const struct query_args *a, const struct opt_list *operands, struct store *store,
               struct err *err)
{
    const struct report_style style = {
        .colour = cmd_stdout_has_colour(), .columns = cmd_columns(), .db = a->db};
    size_t n = 0;
    struct binding *bindings = mem_zero(a->binds.n + 1, sizeof *bindings);
    char **names = mem_zero(a->binds.n + 1, sizeof *names);
    struct buf out = BUF_INIT;
    int rc = -1;
    long run = a->run;
    if (!a->sql && ((!run && (run = report_newest_run(store, err)) < 0) ||
                    report_check_run(store, run, err) != 0))
        goto out;
    bindings[n++] = (struct binding){.name = "run", .number = run};
    for (size_t i = 0; i < a->binds.n; i++, n++)
        if (read_binding(a->binds.items[i], &bindings[n], &names[n], err) != 0)
            goto out;
    const struct report_query request = {.sql = a->sql,
                                         .report = operands->n ? operands->items[0] : NULL,
                                         .section = operands->n > 1 ? operands->items[1] : NULL,
                                         .bindings = bindings,
                                         .n_bindings = n,
                                         .form = strcmp(a->output, "csv") == 0    ? QUERY_CSV
                                                 : strcmp(a->output, "json") == 0 ? QUERY_JSON
                                                                                  : QUERY_TABLE,
                                         .flush = print_piece};
    rc = report_query(store, &request, &style, &out, err);
    if (rc == 0)
        rc = cmd_print(&out, err);
out:
    for (size_t i = 0; i <= a->binds.n; i++)
        free(names[i]);
    free(names);
    free(bindings);
    buf_release(&out);
    return rc;
}

/* What there is to ask: needs no database. */
static int explain(const struct query_args *a, struct err *err)
{
    const struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    struct buf out = BUF_INIT;
    if (a->functions) {
        report_functions(&style, &out);
    } else {
        buf_adds(&out, "usage: toolstorm query REPORT [SECTION], or --sql TEXT\n\nreports:\n");
        report_names(&style, &out);
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

static int query(const struct query_args *a, const struct opt_list *operands, struct err *err)
{
    if (a->sql && operands->n)
        return err_set(err, STATUS_USAGE, "'%s': either --sql or a report", operands->items[0]);
    if (operands->n > 2)
        return err_set(err, STATUS_USAGE, "'%s': query takes a report and one of its sections",
                       operands->items[2]);
    if (a->functions || (!a->sql && !operands->n))
        return explain(a, err);
    struct store *store = store_open(a->db, STORE_READ, err);
    if (!store)
        return -1;
    int rc = ask(a, operands, store, err);
    store_close(store);
    return rc;
}

int cmd_query(int argc, char **argv, struct err *err)
{
    struct query_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("query [options] [REPORT [SECTION]]",
                         "Prints the figures of a shipped report, or the result of --sql on the "
                         "database (tables runs, sessions,\nrounds, findings, evidence, "
                         "run_settings, run_tags, run_facts). Without either it lists the "
                         "reports.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0)
        rc = query(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
