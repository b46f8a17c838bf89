/* merge.c - `toolstorm merge FILE...`: several databases become one. */
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "commands.h"
#include "mem.h"
#include "opt.h"
#include "run_options.h"
#include "store.h"
#include "text.h"

struct merge_args {
    const char *db;
    bool partial, quiet;
};

#define AT(field) offsetof(struct merge_args, field)

static const struct opt table[] = {
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, "Merge",
     "database that the others are merged into; made if there is none"},
    {"partial", NULL, 0, OPT_BOOL, AT(partial), NULL, "no", 0, 0, NULL, NULL,
     "join shards even if others of their run are missing; the run is marked, and a later merge "
     "completes it"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "print nothing about what each file brought"},
    {0},
};

/* What a client's machine decides, beside the options that are local to each. */
static const char *const machine_options[] = {"concurrency", "threads", "shard"};

static const char **local_options(void)
{
    const size_t n_own = sizeof machine_options / sizeof machine_options[0];
    size_t n = 0;
    while (run_local_options[n])
        n++;
    const char **all = mem_zero(n + n_own + 1, sizeof *all);
    for (size_t i = 0; i < n + n_own; i++)
        all[i] = i < n ? run_local_options[i] : machine_options[i - n];
    return all;
}

static void add_count(struct buf *out, long n, const char *what)
{
    buf_addf(out, "%ld %s%s", n, what, n == 1 ? "" : "s");
}

static int print_added(const struct opt_list *files, const struct merge_added *added,
                       struct err *err)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < files->n; i++) {
        text_safe(&out, span_of(files->items[i]), false);
        buf_adds(&out, ": ");
        add_count(&out, added[i].runs, "new run");
        buf_adds(&out, ", ");
        add_count(&out, added[i].sessions, "new session");
        buf_addc(&out, '\n');
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* Takes back a database that was made for nothing. */
static void remove_new(const char *db)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char *path = mem_printf("%s%s", db, ends[i]);
        unlink(path);
        free(path);
    }
}

static int merge(const struct merge_args *a, const struct opt_list *files, struct err *err)
{
    bool is_new = access(a->db, F_OK) != 0;
    struct store *store = store_open(a->db, STORE_WRITE, err);
    if (!store)
        return -1;
    const char **local = local_options();
    struct merge_added *added = mem_zero(files->n + 1, sizeof *added);
    const struct merge_request request = {
        .files = files->items, .n_files = files->n, .local_options = local, .partial = a->partial};
    int rc = merge_databases(store, &request, added, err);
    store_close(store);
    if (rc != 0 && is_new)
        remove_new(a->db);
    if (rc == 0 && !a->quiet)
        rc = print_added(files, added, err);
    free(added);
    free(local);
    return rc;
}

int cmd_merge(int argc, char **argv, struct err *err)
{
    struct merge_args a = {0};
    struct opt_list operands = {0};
    int rc =
        cmd_options("merge [options] FILE...",
                    "Copies what the databases FILE... hold into one, all or nothing: runs of "
                    "several machines side by side,\nand shards of one run (`run --shard K/N`) "
                    "as the one run that they are. What is there already\nis not copied again. "
                    "Exit status 2 if a file is no database, a session was played twice, or a "
                    "shard\nis missing; 5 if a file can't be read or written.",
                    table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n == 0)
        rc = err_set(err, STATUS_USAGE, "expected the databases to merge");
    if (rc == 0)
        rc = merge(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
