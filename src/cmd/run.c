/* run.c - the main job: starts the load, stores what comes back, and prints a summary that it reads
 * back from the store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "digest.h"
#include "file.h"
#include "report.h"
#include "request.h"
#include "run_options.h"
#include "run_play.h"
#include "run_record.h"
#include "run_resume.h"
#include "run_setup.h"
#include "store.h"

static int print_summary(struct store *store, long run, const struct run_options *o,
                         struct err *err)
{
    struct report_style style = {.json = strcmp(o->output, "json") == 0,
                                 .colour = cmd_stdout_has_colour(),
                                 .columns = cmd_columns(),
                                 .db = o->db};
    struct buf text = BUF_INIT;
    int rc = report_summary(store, run, &style, &text, err);
    if (rc == 0)
        rc = cmd_print(&text, err);
    buf_release(&text);
    return rc;
}

/* The run as JUnit XML, for CI. */
static int write_junit(struct store *store, long run, const char *file, struct err *err)
{
    char number[32];
    snprintf(number, sizeof number, "%ld", run);
    const char *operand = number;
    const struct digest_request request = {.operands = &operand, .n_operands = 1};
    struct digest d = {0};
    struct buf out = BUF_INIT;
    int rc = digest_read(&d, store, &request, err);
    if (rc == 0)
        rc = junit_write(&d, &out, err);
    if (rc == 0)
        rc = file_write(file, buf_str(&out), out.len, err);
    buf_release(&out);
    digest_release(&d);
    return rc;
}

static int play(const struct run_play *p, struct err *err)
{
    const struct run_options *o = p->setup->options;
    struct played played;
    if (run_play(p, &played, err) != 0 || print_summary(p->store, p->run, o, err) != 0)
        return -1;
    if (o->junit && write_junit(p->store, p->run, o->junit, err) != 0)
        return -1;
    return cmd_stopped() ? cmd_stopped() : (int)played.status;
}

static int begin(struct run_setup *s, struct store *store, const char *command, struct err *err)
{
    struct run_play p = {.setup = s, .store = store};
    p.run = run_record_begin(store, s, command, err);
    return p.run < 0 ? -1 : play(&p, err);
}

/* Plays what an earlier process has left. */
static int go_on(struct run_setup *s, struct store *store, struct err *err)
{
    struct run_resume past = {0};
    int rc = run_resume_begin(&past, store, s, err);
    if (rc == 0) {
        s->settings.missing = past.missing;
        s->settings.n_missing = past.n_missing;
        s->settings.played_us = past.played_us;
        rc = play(&(struct run_play){.setup = s, .store = store, .run = past.run, .past = &past},
                  err);
    }
    run_resume_release(&past);
    return rc;
}

/* A run that is gone on with is in a database that exists. */
static struct store *open_store(const struct run_options *o, struct err *err)
{
    if (o->resume) {
        struct store *there = store_open(o->db, STORE_READ, err);
        if (!there)
            return NULL;
        store_close(there);
    }
    return store_open(o->db, STORE_WRITE, err);
}

static int preview(const struct run_setup *s, struct err *err)
{
    struct buf body = BUF_INIT;
    request_preview(&s->settings, s->options->only ? s->options->only : 1, &body);
    buf_addc(&body, '\n');
    int rc = cmd_print(&body, err);
    buf_release(&body);
    return rc;
}

static int run(const struct run_options *o, int argc, char **argv, struct err *err)
{
    struct run_setup setup = {0};
    struct store *store = NULL;
    char *command = NULL;
    int rc = -1;
    /* The store first: a database that can't be written should not cost a request. */
    if (!o->dry_run) {
        store = open_store(o, err);
        if (!store)
            goto out;
    }
    if (run_setup_init(&setup, o, err) != 0)
        goto out;
    if (o->dry_run) {
        rc = preview(&setup, err);
        goto out;
    }
    command = run_record_command(&setup, argc, argv);
    cmd_catch_stop();
    rc = o->resume ? go_on(&setup, store, err) : begin(&setup, store, command, err);
out:
    free(command);
    store_close(store);
    run_setup_release(&setup);
    return rc;
}

int cmd_run(int argc, char **argv, struct err *err)
{
    struct run_options o = {.fail_over = NAN, .certify = NAN, .temperature = -1};
    struct opt_list operands = {0};
    int rc = cmd_options("run [options]",
                         "Plays tool-calling sessions against an OpenAI-compatible chat endpoint, "
                         "judges every reply, stores\nthe run, and prints how many sessions were "
                         "corrupted. Without --base-url it runs against a\nsimulated endpoint of "
                         "its own.",
                         run_option_table, &o, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': run takes no operands", operands.items[0]);
    if (rc == 0 && run_options_check(&o, err) == 0)
        rc = run(&o, argc, argv, err);
    else if (rc == 0)
        rc = -1;
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(run_option_table, &o);
    return rc;
}
