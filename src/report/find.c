/* find.c - which runs and sessions there are, and what to say of those that there are not. */
#include <string.h>

#include "figures.h"
#include "report.h"
#include "store.h"
#include "words.h"

const char *report_class(const char *reason, struct err *err)
{
    int known = reason_find(reason);
    if (known >= 0)
        return class_name(reason_class((enum reason)known));
    for (int c = 0; c < N_CLASSES; c++)
        if (strcmp(reason, class_name((enum verdict_class)c)) == 0)
            return class_name((enum verdict_class)c);
    struct buf words = BUF_INIT;
    for (int r = 0; r < N_REASONS; r++)
        buf_addf(&words, "%s%s", r ? ", " : "", reason_name((enum reason)r));
    err_set(err, STATUS_USAGE,
            "unknown reason '%s': a class (leak, no_tool, error, ok) or one of %s", reason,
            buf_str(&words));
    buf_release(&words);
    return NULL;
}

long report_newest_run(struct store *s, struct err *err)
{
    struct figures f = {0};
    long run = -1;
    if (figures_add(&f, s, "newest", "SELECT max(run) AS run FROM runs", NULL, 0, err) == 0) {
        run = figures_long(&f.sections[0], 0, "run");
        if (run < 1)
            run = err_set(err, STATUS_USAGE, "the database has no run");
    }
    figures_release(&f);
    return run;
}

int report_check_run(struct store *s, long run, struct err *err)
{
    struct figures f = {0};
    const struct binding bindings[] = {{.name = "run", .number = run}};
    int rc = figures_add(&f, s, "known",
                         "SELECT count(*) FILTER (WHERE run = :run) AS found, min(run) AS first, "
                         "max(run) AS last FROM runs",
                         bindings, 1, err);
    if (rc == 0 && !figures_long(&f.sections[0], 0, "found")) {
        long first = figures_long(&f.sections[0], 0, "first");
        if (first && first == figures_long(&f.sections[0], 0, "last"))
            rc = err_set(err, STATUS_USAGE, "there is no run %ld: the database has only run %ld",
                         run, first);
        else if (first)
            rc = err_set(err, STATUS_USAGE, "there is no run %ld: the database has %ld to %ld", run,
                         first, figures_long(&f.sections[0], 0, "last"));
        else
            rc = err_set(err, STATUS_USAGE, "there is no run %ld: the database has none", run);
    }
    figures_release(&f);
    return rc;
}
