/* judge.c - `toolstorm judge`: the judge of `run`, on replies that are already there. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "casefile.h"
#include "commands.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "opt.h"

#define FILE_BYTES ((size_t)1 << 30)

struct judge_args {
    const char *rules;
    long chunk;
    bool strict, explain, quiet;
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
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "print only cases that differ from their expectation"},
    {0},
};

struct judging {
    const struct judge_args *args;
    struct judge *judge;
    long n_cases, n_expected, n_wrong;
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

static void write_line(const struct judging *j, const struct casefile *c, const struct verdict *v,
                       bool right, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    jsonw_key(&w, "id");
    jsonw_text(&w, c->id);
    verdict_write(v, j->args->explain, &w);
    if (c->has_expectation) {
        jsonw_key(&w, "as_expected");
        jsonw_bool(&w, right);
    }
    if (!right) {
        jsonw_key(&w, "expected");
        jsonw_object(&w);
        jsonw_key(&w, "class");
        jsonw_text(&w, c->want_class);
        jsonw_key(&w, "reason");
        jsonw_array(&w);
        for (size_t i = 0; i < c->n_want_reasons; i++)
            jsonw_text(&w, c->want_reasons[i]);
        jsonw_end_array(&w);
        jsonw_end_object(&w);
    }
    jsonw_end_object(&w);
    buf_addc(out, '\n');
}

static int judge_case(struct judging *j, struct span line, struct err *err)
{
    struct casefile c = {0};
    struct verdict v = {0};
    struct buf out = BUF_INIT;
    int rc = casefile_read(line, (size_t)j->args->chunk, &c, err);
    if (rc != 0)
        return -1;
    struct toolset *tools = toolset_new(j->judge, c.expect.tools, c.expect.n_tools, err);
    if (!tools) {
        casefile_release(&c);
        return -1;
    }
    judge_reply(j->judge, tools, &c.expect, &c.reply, &v);
    bool right = !c.has_expectation || as_expected(&c, &v);
    j->n_cases++;
    j->n_expected += c.has_expectation;
    j->n_wrong += !right;
    if (!j->args->quiet || !right) {
        write_line(j, &c, &v, right, &out);
        rc = cmd_print(&out, err);
    }
    buf_release(&out);
    verdict_release(&v);
    toolset_free(tools);
    casefile_release(&c);
    return rc;
}

static int judge_file(struct judging *j, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = file_read(path, FILE_BYTES, &text, err);
    long line = 0;
    for (size_t at = 0; rc == 0 && at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t n = end ? (size_t)(end - text.data) - at : text.len - at;
        struct span one = {text.data + at, n};
        line++;
        at += n + 1;
        if (n == 0 || strspn(one.data, " \t\r\n") >= n)
            continue;
        rc = judge_case(j, one, err);
        if (rc != 0)
            err_prefix(err, "'%s' line %ld", path, line);
    }
    buf_release(&text);
    return rc;
}

static int judge_files(const struct judge_args *a, const struct opt_list *files, struct err *err)
{
    struct buf rules = BUF_INIT;
    struct judging j = {.args = a};
    int rc = a->rules ? file_read(a->rules, FILE_BYTES, &rules, err) : 0;
    if (rc == 0) {
        struct judge_options o = {.strict = a->strict,
                                  .rules_json = a->rules ? buf_str(&rules) : NULL};
        j.judge = judge_new(&o, err);
        rc = j.judge ? 0 : -1;
    }
    for (size_t i = 0; rc == 0 && i < files->n; i++)
        rc = judge_file(&j, files->items[i], err);
    if (rc == 0 && j.n_expected > 0)
        cmd_note("%ld cases, %ld with an expectation, %ld not as expected", j.n_cases, j.n_expected,
                 j.n_wrong);
    judge_free(j.judge);
    buf_release(&rules);
    return rc != 0 ? -1 : j.n_wrong ? STATUS_CORRUPT : STATUS_PASS;
}

int cmd_judge(int argc, char **argv, struct err *err)
{
    struct judge_args a = {0};
    struct opt_list files = {0};
    int rc = cmd_options("judge [options] FILE...",
                         "Judges the cases of JSONL files ('-' is standard input) and prints one "
                         "JSON line each. A case that\nsays what it expects is checked: exit 1 if "
                         "any differs.",
                         table, &a, argc, argv, &files, err);
    if (rc == 0 && files.n == 0)
        rc = err_set(err, STATUS_USAGE, "judge needs a file; '-' is standard input");
    if (rc == 0)
        rc = judge_files(&a, &files, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(files.items);
    opt_release(table, &a);
    return rc;
}
