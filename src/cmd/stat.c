/* stat.c - `toolstorm stat`: one statistic by its name, for scripts and for checking the program.
 */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "byname.h"
#include "byname_domain.h"
#include "commands.h"
#include "file.h"
#include "json.h"
#include "opt.h"

#define ARGUMENT_BYTES (4u << 20)

struct stat_args {
    bool list;
};

static const struct opt table[] = {
    {"functions", NULL, 0, OPT_BOOL, offsetof(struct stat_args, list), NULL, "no", 0, 0, NULL,
     "Options", "list the functions, their arguments and their meaning"},
    {0},
};

static void list_functions(struct buf *out)
{
    const struct byname_function *f;
    for (size_t i = 0; (f = byname_at(i)); i++)
        buf_addf(out, "%s\n    %s\n    %s\n", f->name, f->args, f->means);
}

/* A result of nothing but null says that an argument can't be, if one is at fault. */
static int explain(const char *args, const char *result, struct err *err)
{
    struct json *said = json_parse(span_of(result), NULL), *given = json_parse(span_of(args), NULL);
    int rc = byname_domain_empty(said) ? byname_domain_check(given, err) : 0;
    json_free(said);
    json_free(given);
    return rc;
}

static int call(const char *name, const char *json, struct buf *out, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;
    if (strcmp(json, "-") == 0)
        rc = file_read("-", ARGUMENT_BYTES, &text, err);
    else
        buf_adds(&text, json);
    char *result = rc == 0 ? byname_call(name, buf_str(&text), err) : NULL;
    if (!result || explain(buf_str(&text), result, err) != 0)
        rc = -1;
    else
        buf_addf(out, "%s\n", result);
    free(result);
    buf_release(&text);
    return rc;
}

int cmd_stat(int argc, char **argv, struct err *err)
{
    struct stat_args a = {0};
    struct opt_list operands = {0};
    struct buf out = BUF_INIT;
    int rc = cmd_options("stat [--functions] FUNCTION JSON",
                         "Calls one statistic with a JSON object of its arguments ('-': from "
                         "standard input) and prints the\nresult as JSON, with doubles that read "
                         "back exactly.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && a.list)
        list_functions(&out);
    else if (rc == 0 && operands.n != 2)
        rc = err_set(err, STATUS_USAGE,
                     "stat needs a function and a JSON object; --functions lists the functions");
    else if (rc == 0)
        rc = call(operands.items[0], operands.items[1], &out, err);
    if (rc == 0)
        rc = cmd_print(&out, err);
    buf_release(&out);
    free(operands.items);
    return rc == 1 ? STATUS_PASS : rc;
}
