/* rejudge.c - `toolstorm rejudge RUN`: the stored bytes of a run through today's judge. The run's
 * own verdicts stay; the new ones are stored beside them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "embed.h"
#include "expect.h"
#include "judge.h"
#include "mem.h"
#include "opt.h"
#include "rejudgings.h"
#include "reply.h"
#include "report.h"
#include "restage.h"
#include "scenario.h"
#include "store.h"
#include "stored.h"

struct rejudge_args {
    const char *rules, *db, *output;
    bool strict, lenient;
};

#define AT(field) offsetof(struct rejudge_args, field)

static const struct opt table[] = {
    {"rules", NULL, 0, OPT_TEXT, AT(rules), "FILE", NULL, 0, 0, NULL, "Judging",
     "further markup rules (default: those of the run; '' = none)"},
    /* Before --strict, whose negation it would else be. */
    {"no-strict", NULL, 0, OPT_BOOL, AT(lenient), NULL, "no", 0, 0, NULL, NULL,
     "do not count suspects as leaks (default: as the run)"},
    {"strict", NULL, 0, OPT_BOOL, AT(strict), NULL, "no", 0, 0, NULL, NULL,
     "count suspects as leaks"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, "Output", "database"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the answer"},
    {0},
};

struct rejudging {
    struct store *store;
    struct restage stage;
    struct play *play;
    long session; /* that `play` is */
    long run, number;
    struct err *err;
};

/* How the exchange ended, from the rules of its transport signs, of which one at the most tells; a
 * complete reply that lost its connection has a quirk instead. */
static enum exchange_end told_end(const struct section *s)
{
    char *words = mem_str(figures_text(s, 0, "ends")), *rest = NULL;
    int end = END_CLEAN;
    for (char *w = strtok_r(words, " ", &rest); w && end == END_CLEAN;
         w = strtok_r(NULL, " ", &rest))
        end = judge_told_end(w);
    free(words);
    if (end == END_CLEAN && figures_long(s, 0, "early_close"))
        end = END_CUT;
    return (enum exchange_end)end;
}

/* The reply as far as judging needs it. False if not all of its bytes were kept. */
static bool read_reply(const struct rejudging *x, const struct section *s, struct reply *r)
{
    const struct section *run = restage_run(&x->stage);
    struct span headers = figures_span(s, 0, "headers"), body = figures_span(s, 0, "response");
    char retry_after[80];
    reply_init(r);
    r->status = (int)figures_long(s, 0, "status");
    r->stream = figures_long(run, 0, "stream") != figures_long(s, 0, "twin");
    r->end = told_end(s);
    snprintf(r->end_detail, sizeof r->end_detail, "%s", figures_text(s, 0, "end_detail"));
    stored_header(headers, "retry-after", retry_after);
    if (retry_after[0])
        r->retry_after_s = strtol(retry_after, NULL, 10);
    buf_add(&r->headers, headers.data, headers.len);
    buf_add(&r->raw, body.data, body.len);
    /* What nothing came of was never decoded. */
    if (r->end == END_CONNECT || r->end == END_TLS)
        return true;
    if (body.len >= REPLY_MAX_RAW)
        return false;
    stored_wire().decode(figures_text(run, 0, "dialect"), headers, body, r);
    return true;
}

static int store_verdict(struct rejudging *x, const struct section *s, const struct verdict *v)
{
    const struct sign *sign = v->class != CLASS_OK && v->n_signs ? &v->signs[0] : NULL;
    int round = (int)figures_long(s, 0, "round");
    struct rejudgement_row row = {.session = x->session,
                                  .round = round,
                                  .twin = figures_long(s, 0, "twin") != 0,
                                  .final = play_is_final(x->play, round),
                                  .class = class_name(v->class),
                                  .reason = reason_name(v->reason),
                                  .call = -1};
    if (sign) {
        row.channel = channel_name(sign->channel);
        row.rule = sign->rule;
        row.note = sign->note;
        row.call = sign->call;
        row.offset = (long)sign->offset;
        row.length = (long)sign->len;
    }
    return rejudgings_add(x->store, x->run, x->number, &row, x->err);
}

static int judge_row(struct rejudging *x, const struct section *s)
{
    struct expect e = {0};
    struct reply r;
    struct verdict v = {0};
    int rc = 0;
    restage_expect(&x->stage, x->play, (int)figures_long(s, 0, "round"), &e);
    if (read_reply(x, s, &r)) {
        judge_reply(x->stage.judge, x->stage.toolset, &e, &r, &v);
        rc = store_verdict(x, s, &v);
    }
    verdict_release(&v);
    reply_release(&r);
    return rc;
}

static int on_row(void *arg, const struct section *s)
{
    struct rejudging *x = arg;
    if (!s->n_rows)
        return 0;
    if (!x->play || x->session != figures_long(s, 0, "session")) {
        play_free(x->play);
        x->session = figures_long(s, 0, "session");
        x->play = restage_play(&x->stage, x->store, x->session, x->err);
        if (!x->play)
            return -1;
    }
    return judge_row(x, s);
}

/* Every kept reply, in one transaction. */
static int judge_run(struct rejudging *x, struct err *err)
{
    const struct restage *stage = &x->stage;
    const bool more = stage->rules_file[0] != '\0';
    const struct rejudging_row row = {.version = TOOLSTORM_VERSION,
                                      .judge_version = JUDGE_VERSION,
                                      .strict = stage->strict,
                                      .rules_file = more ? stage->rules_file : NULL,
                                      .rules = more ? buf_str(&stage->rules) : NULL};
    const struct binding binding = {.name = "run", .number = x->run};
    x->number = rejudgings_begin(x->store, x->run, &row, err);
    if (x->number < 0)
        return -1;
    if (figures_stream(x->store, embed_find("reports/rejudge.sql")->data, &binding, 1, on_row, x,
                       err) == 0 &&
        rejudgings_end(x->store, err) == 0)
        return 0;
    rejudgings_abandon(x->store);
    return -1;
}

static int print_result(const struct rejudging *x, const struct rejudge_args *a, struct err *err)
{
    const struct report_style style = {.json = strcmp(a->output, "json") == 0,
                                       .colour = cmd_stdout_has_colour(),
                                       .columns = cmd_columns(),
                                       .db = a->db};
    struct report_rejudged sum = {0};
    struct buf out = BUF_INIT;
    int rc = report_rejudged(x->store, x->run, x->number, &style, &sum, &out, err);
    if (rc == 0)
        rc = cmd_print(&out, err);
    buf_release(&out);
    if (rc != 0)
        return -1;
    return sum.newly_corrupted ? STATUS_CORRUPT : sum.kept ? STATUS_PASS : STATUS_UNDECIDED;
}

static int rejudge(const struct rejudge_args *a, long run, struct err *err)
{
    const struct restage_rules rules = {.file = a->rules,
                                        .strict = a->strict    ? 1
                                                  : a->lenient ? 0
                                                               : -1};
    struct rejudging x = {.run = run, .err = err};
    int rc = -1;
    /* A slip in the name must not make a database. */
    struct store *there = store_open(a->db, STORE_READ, err);
    if (!there)
        return -1;
    store_close(there);
    x.store = store_open(a->db, STORE_WRITE, err);
    if (x.store && restage_init_with(&x.stage, x.store, run, &rules, err) == 0 &&
        judge_self_check(x.stage.judge, err) == 0 && judge_run(&x, err) == 0)
        rc = print_result(&x, a, err);
    play_free(x.play);
    restage_release(&x.stage);
    store_close(x.store);
    return rc;
}

static int read_run(const struct opt_list *operands, long *run, struct err *err)
{
    char *end;
    if (operands->n != 1)
        return err_set(err, STATUS_USAGE, "rejudge needs the number of a run");
    errno = 0;
    *run = strtol(operands->items[0], &end, 10);
    if (end == operands->items[0] || *end || errno || *run < 1)
        return err_set(err, STATUS_USAGE, "'%s': expected the number of a run", operands->items[0]);
    return 0;
}

int cmd_rejudge(int argc, char **argv, struct err *err)
{
    struct rejudge_args a = {0};
    struct opt_list operands = {0};
    long run = 0;
    int rc = cmd_options("rejudge [options] RUN",
                         "Judges again what a run has kept of its replies, says which verdicts "
                         "change, and stores the new ones\nbeside the old. Exit 1 if a session is "
                         "corrupted now that was not, 4 if nothing was kept.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && a.strict && a.lenient)
        rc = err_set(err, STATUS_USAGE, "--strict and --no-strict: one of them at a time");
    if (rc == 0)
        rc = read_run(&operands, &run, err);
    if (rc == 0)
        rc = rejudge(&a, run, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
