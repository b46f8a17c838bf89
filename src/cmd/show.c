/* show.c - `toolstorm show RUN SESSION`: one session, its bytes, or a command that repeats it. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "opt.h"
#include "report.h"
#include "store.h"
#include "stored.h"

struct show_args {
    const char *db, *output, *reason;
    bool raw, curl, all, pager;
    long round, context;
};

#define AT(field) offsetof(struct show_args, field)

static const struct opt table[] = {
    {"raw", NULL, 0, OPT_BOOL, AT(raw), NULL, "no", 0, 0, NULL, "What to show",
     "the stored bytes, with their times of arrival since the request was sent"},
    {"curl", NULL, 0, OPT_BOOL, AT(curl), NULL, "no", 0, 0, NULL, NULL,
     "a command that sends a round's request again; the key stays in its environment variable"},
    {"round", NULL, 0, OPT_LONG, AT(round), "N", "0", 0, 1e6, NULL, NULL,
     "with --raw or --curl: this round; 0 = all, or the first damaged one"},
    {"reason", NULL, 'r', OPT_TEXT, AT(reason), "WORD", NULL, 0, 0, NULL, NULL,
     "without SESSION: the first one with this class or reason, e.g. leak.value"},
    {"all", NULL, 'a', OPT_BOOL, AT(all), NULL, "no", 0, 0, NULL, NULL,
     "without SESSION: every damaged one, or every one with --reason"},
    {"context", NULL, 0, OPT_LONG, AT(context), "BYTES", "400", 0, 1e9, NULL, NULL,
     "of long texts, so much of both ends and around damage; 0 = all"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, "Output", "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the answer"},
    {"pager", NULL, 0, OPT_BOOL, AT(pager), NULL, "yes", 0, 0, NULL, NULL,
     "do not page on a terminal (else TOOLSTORM_PAGER, PAGER or less)"},
    {0},
};

static int print_piece(void *arg, const struct buf *out, struct err *err)
{
    (void)arg;
    return cmd_print(out, err);
}

static int show(const struct show_args *a, const struct opt_list *operands, struct err *err)
{
    struct report_show request = {.round = a->round,
                                  .context = a->context,
                                  .reason = a->reason,
                                  .all = a->all,
                                  .flush = print_piece,
                                  .form = a->raw    ? SHOW_RAW
                                          : a->curl ? SHOW_CURL
                                                    : SHOW_TRANSCRIPT,
                                  .wire = stored_wire()};
    if (a->raw && a->curl)
        return err_set(err, STATUS_USAGE, "--raw and --curl: one of them at a time");
    if (operands->n > 2)
        return err_set(err, STATUS_USAGE, "'%s': show takes a run and a session",
                       operands->items[2]);
    if (operands->n == 2 && (a->reason || a->all))
        return err_set(err, STATUS_USAGE, "'%s': --reason and --all look for sessions themselves",
                       operands->items[1]);
    if ((operands->n > 0 && cmd_number(operands->items[0], "run", &request.run, err) != 0) ||
        (operands->n > 1 && cmd_number(operands->items[1], "session", &request.session, err) != 0))
        return -1;
    struct store *store = store_open(a->db, STORE_READ, err);
    if (!store)
        return -1;
    const struct report_style style = {.json = strcmp(a->output, "json") == 0,
                                       .colour = cmd_stdout_has_colour(),
                                       .columns = cmd_columns(),
                                       .db = a->db};
    FILE *pager = cmd_pager_start(a->pager && !a->raw && !a->curl && !style.json);
    struct buf out = BUF_INIT;
    int rc = report_show(store, &request, &style, &out, err);
    if (rc == 0)
        rc = cmd_print(&out, err);
    cmd_pager_end(pager);
    buf_release(&out);
    store_close(store);
    return rc;
}

int cmd_show(int argc, char **argv, struct err *err)
{
    struct show_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("show [options] [RUN [SESSION]]",
                         "Shows one session of a run as it was stored: its rounds, the "
                         "conversation, and what was found damaged,\nmarked in place (in colour, "
                         "or between >>> and <<<). Hidden characters are shown as <U+200B>. "
                         "Without\nRUN: the newest run; without SESSION: its first damaged one.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0)
        rc = show(&a, &operands, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
