/* judge.c - `toolstorm judge`: the judge of `run`, on replies that are already there. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "casefile.h"
#include "commands.h"
#include "file.h"
#include "json.h"
#include "judge_asked.h"
#include "judge_input.h"
#include "judge_tally.h"
#include "mem.h"
#include "message.h"
#include "opt.h"
#include "report.h"

#define RULES_BYTES (4u << 20)

struct judge_args {
    const char *rules, *output;
    long chunk, status, excerpts;
    bool strict, explain, quiet, summary, strict_input, stream, whole;
    struct judge_asked asked;
    struct pair_fields fields;
};

#define AT(field) offsetof(struct judge_args, field)

static const struct opt table[] = {
    {"explain", NULL, 0, OPT_BOOL, AT(explain), NULL, "no", 0, 0, NULL, "Judging",
     "say for every sign which rule found it and why it was not lowered"},
    {"strict", NULL, 0, OPT_BOOL, AT(strict), NULL, "no", 0, 0, NULL, NULL,
     "count suspects as leaks"},
    {"rules", NULL, 0, OPT_TEXT, AT(rules), "FILE", NULL, 0, 0, NULL, NULL,
     "further markup rules, in the form of schemas/markup"},
    {"chunk", NULL, 0, OPT_LONG, AT(chunk), "BYTES", "0", 0, 1e9, NULL, NULL,
     "feed raw responses to the decoder in pieces of this size; 0 = whole"},

    /* Before --stream, whose negation it would else be. */
    {"no-stream", NULL, 0, OPT_BOOL, AT(whole), NULL, "no", 0, 0, NULL,
     "Saved bodies (without these their content says what they are)",
     "each file but *.jsonl is a body; none was asked to be a stream"},
    {"stream", NULL, 0, OPT_BOOL, AT(stream), NULL, "no", 0, 0, NULL, NULL,
     "each file but *.jsonl is a body; a stream of events was asked for"},
    {"status", NULL, 0, OPT_LONG, AT(status), "N", "200", 100, 599, NULL, NULL,
     "HTTP status, where none was kept"},

    {"tools", NULL, 0, OPT_TEXT, AT(asked.tools), "FILE", NULL, 0, 0, NULL,
     "What was asked (for bodies; for logs instead of what the request says)",
     "the tools on offer: a JSON array, or a request that has one"},
    {"tool-choice", NULL, 0, OPT_TEXT, AT(asked.choice), "WORD", NULL, 0, 0, NULL, NULL,
     "auto, required, none or a tool's name"},
    {"tool-expected", NULL, 0, OPT_BOOL, AT(asked.expected), NULL, "no", 0, 0, NULL, NULL,
     "a call was due in each reply"},
    {"asked", NULL, 0, OPT_TEXT, AT(asked.json), "JSON", NULL, 0, 0, NULL, NULL,
     "more, as a case's `asked` says it: '{\"expect_args\": {\"city\": \"Oslo\"}}'"},

    {"request-field", NULL, 0, OPT_TEXT, AT(fields.request), "PATH", NULL, 0, 0, NULL,
     "Logs (lines of JSON that hold a chat request and its response)",
     "where the request is, as names joined by dots (default: request.body, request_body, request "
     "and the like)"},
    {"response-field", NULL, 0, OPT_TEXT, AT(fields.response), "PATH", NULL, 0, 0, NULL, NULL,
     "where the response is: an object, JSON text, an event stream as text or as a list of events"},
    {"status-field", NULL, 0, OPT_TEXT, AT(fields.status), "PATH", NULL, 0, 0, NULL, NULL,
     "where its HTTP status is"},
    {"stream-field", NULL, 0, OPT_TEXT, AT(fields.stream), "PATH", NULL, 0, 0, NULL, NULL,
     "where it says whether a stream was asked for (default: the request's `stream`)"},
    {"strict-input", NULL, 0, OPT_BOOL, AT(strict_input), NULL, "no", 0, 0, NULL, NULL,
     "a log's line that can't be used is an error; else it is told of and skipped"},

    {"summary", NULL, 's', OPT_BOOL, AT(summary), NULL, "no", 0, 0, NULL, "Output",
     "instead of a line each: rate, reasons and excerpts"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "form of the summary"},
    {"excerpts", NULL, 0, OPT_LONG, AT(excerpts), "N", "2", 0, 1000, NULL, NULL,
     "in the summary: so many of each reason"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "print only damaged replies; of cases with an expectation, those that differ from it"},
    {0},
};

struct judging {
    const struct judge_args *args;
    struct judge *judge;
    struct judge_tally tally;
    /* Lines of one log mostly offer the same tools. */
    struct buf tools_text;
    struct toolset *tools;
    bool unchecked; /* a log's schemas could not be used: told once */
};

static bool as_expected(const struct casefile *c, const struct verdict *v)
{
    if (c->want_class && strcmp(c->want_class, class_name(v->class)) != 0)
        return false;
    for (size_t i = 0; i < c->n_want_reasons; i++)
        if (strcmp(c->want_reasons[i], reason_name(v->reason)) == 0)
            return true;
    return c->n_want_reasons == 0;
}

static void write_place(const struct judge_place *at, struct jsonw *w)
{
    jsonw_key(w, "file");
    jsonw_text(w, at->file);
    if (!at->line)
        return;
    jsonw_key(w, "line");
    jsonw_long(w, at->line);
}

static void write_expected(const struct casefile *c, struct jsonw *w)
{
    jsonw_key(w, "expected");
    jsonw_object(w);
    jsonw_key(w, "class");
    jsonw_text(w, c->want_class);
    jsonw_key(w, "reason");
    jsonw_array(w);
    for (size_t i = 0; i < c->n_want_reasons; i++)
        jsonw_text(w, c->want_reasons[i]);
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static int print_line(const struct judging *j, const struct judge_place *at,
                      const struct casefile *c, const struct verdict *v, bool right,
                      struct err *err)
{
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    jsonw_object(&w);
    jsonw_key(&w, "id");
    jsonw_text(&w, c->id);
    write_place(at, &w);
    verdict_write(v, j->args->explain, &w);
    if (c->has_expectation) {
        jsonw_key(&w, "as_expected");
        jsonw_bool(&w, right);
    }
    if (!right)
        write_expected(c, &w);
    jsonw_end_object(&w);
    buf_addc(&out, '\n');
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* --- the tools on offer --- */

/* The same tools by their names alone. The caller's, without what they point to. */
static struct tool *without_schemas(const struct expect *e)
{
    struct tool *tools = mem_zero(e->n_tools + 1, sizeof *tools);
    for (size_t i = 0; i < e->n_tools; i++)
        tools[i].name = e->tools[i].name;
    return tools;
}

static struct toolset *compile(struct judging *j, const struct expect *e, bool logged,
                               struct err *err)
{
    struct err why = {0};
    struct toolset *set = toolset_new(j->judge, e->tools, e->n_tools, logged ? &why : err);
    if (set || !logged)
        return set;
    struct tool *plain = without_schemas(e);
    set = toolset_new(j->judge, plain, e->n_tools, err);
    free(plain);
    if (set && !j->unchecked)
        cmd_note("arguments are not checked against schemas that can't be used: %s", why.text);
    j->unchecked = true;
    return set;
}

/* j->tools becomes the toolset of this expectation. */
static int offer(struct judging *j, const struct expect *e, bool logged, struct err *err)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < e->n_tools; i++)
        buf_addf(&text, "%s\n", e->tools[i].definition);
    if (j->tools && text.len == j->tools_text.len &&
        memcmp(buf_str(&text), buf_str(&j->tools_text), text.len) == 0) {
        buf_release(&text);
        return 0;
    }
    toolset_free(j->tools);
    buf_release(&j->tools_text);
    j->tools_text = text;
    j->tools = compile(j, e, logged, err);
    return j->tools ? 0 : -1;
}

/* --- one reply --- */

/* Markup that the conversation itself speaks of may honestly come back. */
static void judge_case(const struct judging *j, struct casefile *c, struct verdict *v)
{
    judge_reply(j->judge, j->tools, &c->expect, &c->reply, v);
    if (!v->n_signs || !judge_mentions_markup(j->judge, j->tools, buf_span(&c->prompt)))
        return;
    c->expect.prompt_mentions_markup = c->expect.args_may_contain_markup = true;
    verdict_release(v);
    judge_reply(j->judge, j->tools, &c->expect, &c->reply, v);
}

static int take(void *arg, struct casefile *c, const struct judge_place *at, struct err *err)
{
    struct judging *j = arg;
    struct verdict v = {0};
    if (offer(j, &c->expect, at->logged, err) != 0)
        return -1;
    judge_case(j, c, &v);
    bool right = !c->has_expectation || as_expected(c, &v);
    bool quiet = c->has_expectation ? right : v.class == CLASS_OK;
    judge_tally_add(&j->tally, at, c, &v, right);
    int rc = 0;
    if (!j->args->summary && !(j->args->quiet && quiet))
        rc = print_line(j, at, c, &v, right, err);
    verdict_release(&v);
    return rc;
}

static int skip(void *arg, const struct judge_place *at, const char *why, struct err *err)
{
    struct judging *j = arg;
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    judge_tally_skip(&j->tally, at, why);
    if (j->args->summary)
        return 0;
    jsonw_object(&w);
    write_place(at, &w);
    jsonw_key(&w, "skipped");
    jsonw_text(&w, why);
    jsonw_end_object(&w);
    buf_addc(&out, '\n');
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

/* --- all of them --- */

static int print_summary(const struct judging *j, struct err *err)
{
    const struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    struct buf out = BUF_INIT;
    if (strcmp(j->args->output, "json") == 0)
        judge_tally_json(&j->tally, &out);
    else
        judge_tally_text(&j->tally, &style, &out);
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

static int finish(const struct judging *j, struct err *err)
{
    const struct judge_tally *t = &j->tally;
    if (t->n_replies == 0 && t->n_skipped == 0)
        return err_set(err, STATUS_USAGE, "nothing to judge: the files hold no reply");
    if (t->n_replies == 0)
        return err_set(err, STATUS_USAGE,
                       "nothing to judge: none of %ld lines could be used; '%s' line %ld: %s",
                       t->n_skipped, t->skipped[0].file, t->skipped[0].line, t->skipped[0].why);
    if (j->args->summary && print_summary(j, err) != 0)
        return -1;
    if (t->n_skipped && !j->args->summary)
        cmd_note("%ld lines could not be used", t->n_skipped);
    if (t->n_expected && !j->args->summary)
        cmd_note("%ld cases, %ld with an expectation, %ld not as expected", t->n_replies,
                 t->n_expected, t->n_wrong);
    if (t->n_damaged || t->n_wrong)
        return STATUS_CORRUPT;
    return judge_tally_judged(t) || t->n_expected ? STATUS_PASS : STATUS_ENDPOINT;
}

static int load_judge(struct judging *j, struct err *err)
{
    struct buf rules = BUF_INIT;
    const char *path = j->args->rules;
    int rc = path ? file_read(path, RULES_BYTES, &rules, err) : 0;
    if (rc == 0) {
        struct judge_options o = {.strict = j->args->strict,
                                  .rules_json = path ? buf_str(&rules) : NULL};
        j->judge = judge_new(&o, err);
        rc = j->judge ? 0 : -1;
        if (rc != 0 && path)
            err_prefix(err, "'%s'", path);
    }
    buf_release(&rules);
    return rc;
}

static int judge_files(const struct judge_args *a, const struct opt_list *files, struct err *err)
{
    struct buf asked = BUF_INIT;
    struct judging j = {.args = a, .tally = {.per_reason = a->excerpts}};
    int rc = judge_asked_write(&a->asked, &asked, err);
    if (rc == 0)
        rc = load_judge(&j, err);
    const struct judge_input in = {.pair = {.fields = a->fields,
                                            .asked = buf_span(&asked),
                                            .status = (int)a->status,
                                            .chunk = (size_t)a->chunk},
                                   .form = a->stream  ? BODY_STREAMED
                                           : a->whole ? BODY_WHOLE
                                                      : BODY_AS_SEEN,
                                   .strict = a->strict_input,
                                   .take = take,
                                   .skip = skip,
                                   .arg = &j};
    for (size_t i = 0; rc == 0 && i < files->n; i++)
        rc = judge_input_read(&in, files->items[i], err);
    if (rc == 0)
        rc = finish(&j, err);
    toolset_free(j.tools);
    buf_release(&j.tools_text);
    judge_free(j.judge);
    judge_tally_release(&j.tally);
    buf_release(&asked);
    return rc;
}

int cmd_judge(int argc, char **argv, struct err *err)
{
    struct judge_args a = {0};
    struct opt_list files = {0};
    int rc = cmd_options("judge [options] FILE|DIRECTORY...",
                         "Judges replies that are already there, and prints a JSON line each: "
                         "case files (JSONL), saved response\nbodies, logs of requests with their "
                         "responses (JSONL), directories of these; '-' is standard input.\nExit 1 "
                         "if a case differs from what it expects, or a reply without an "
                         "expectation is damaged; 3 if all of them are failed exchanges.",
                         table, &a, argc, argv, &files, err);
    if (rc == 0 && files.n == 0)
        rc = err_set(err, STATUS_USAGE, "judge needs a file or a directory; '-' is standard input");
    if (rc == 0 && a.stream && a.whole)
        rc = err_set(err, STATUS_USAGE, "--stream and --no-stream: one of them at a time");
    if (rc == 0)
        rc = judge_files(&a, &files, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(files.items);
    opt_release(table, &a);
    return rc;
}
