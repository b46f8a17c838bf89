/* probe.c - `toolstorm probe`: what an endpoint is and can do, as a table or as JSON. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "endpoint.h"
#include "endpoint_options.h"
#include "http.h"
#include "json.h"
#include "opt.h"
#include "report.h"
#include "survey.h"
#include "text.h"

#define MODELS_SHOWN 6

struct probe_args {
    struct endpoint_options endpoint;
    long max_tokens;
    const char *output;
    bool quiet;
};

#define AT(field) offsetof(struct probe_args, field)

static const struct opt table[] = {
#define ENDPOINT_AT(field) AT(endpoint.field)
#include "endpoint_options.def"
    {"max-tokens", NULL, 0, OPT_LONG, AT(max_tokens), "N", "1024", 1, 1e7, NULL, "Probing",
     "limit of one reply"},
    {"output", NULL, 'o', OPT_TEXT, AT(output), NULL, "text", 0, 0, "text|json", NULL,
     "a table, or what schemas/probe.schema.json describes"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "do not say what is asked"},
    {0},
};

static bool is_stopped(void)
{
    return cmd_stopped() != 0;
}

static void tell(void *arg, const char *what)
{
    (void)arg;
    cmd_note("asking for %s", what);
}

/* --- as text --- */

static void add_safe(struct grid *g, const char *text)
{
    struct buf safe = BUF_INIT;
    text_safe(&safe, span_of(text), false);
    grid_add(g, buf_str(&safe));
    buf_release(&safe);
}

static void add_line(struct grid *g, const char *name, const char *value)
{
    grid_add(g, name);
    add_safe(g, value);
}

static void add_identity(const struct survey *s, struct grid *g)
{
    struct buf text = BUF_INIT;
    add_line(g, "endpoint", s->host);
    buf_addf(&text, "%s%s%s", s->server ? s->server : "not recognised", s->version ? " " : "",
             s->version ? s->version : "");
    if (s->said)
        buf_addf(&text, " (header Server: %s)", s->said);
    add_line(g, "server", buf_str(&text));
    add_line(g, "model", s->model);
    buf_clear(&text);
    for (size_t i = 0; i < s->n_models && i < MODELS_SHOWN; i++)
        buf_addf(&text, "%s%s", i ? ", " : "", s->models[i]);
    if (s->n_models > MODELS_SHOWN)
        buf_addf(&text, " and %zu more", s->n_models - MODELS_SHOWN);
    add_line(g, "models", text.len ? buf_str(&text) : "not listed");
    buf_clear(&text);
    if (s->max_context) {
        text_count(&text, s->max_context);
        buf_adds(&text, " tokens");
    }
    add_line(g, "max context", text.len ? buf_str(&text) : "not said");
    buf_release(&text);
}

static enum paint answer_paint(enum answer a)
{
    return a == ANSWER_YES ? PAINT_GOOD : a == ANSWER_UNCLEAR ? PAINT_DIM : PAINT_WARN;
}

static void add_features(const struct survey *s, struct grid *g)
{
    for (int f = 0; f < N_FEATURES; f++) {
        const struct survey_finding *found = &s->findings[f];
        grid_add(g, feature_name((enum feature)f));
        grid_add(g, answer_name(found->answer));
        grid_paint(g, answer_paint(found->answer));
        add_safe(g, found->detail ? found->detail : "");
        grid_paint(g, PAINT_DIM);
    }
}

static void add_quirks(const struct survey *s, struct grid *g)
{
    for (int q = 0; q < N_QUIRKS; q++)
        if (s->quirks >> q & 1) {
            grid_add(g, quirk_name((enum quirk)q));
            grid_add(g, quirk_meaning((enum quirk)q));
            grid_paint(g, PAINT_DIM);
        }
}

static void heading(struct buf *out, const struct report_style *style, const char *text)
{
    buf_addc(out, '\n');
    text_paint(out, style, PAINT_BOLD, text);
    buf_addc(out, '\n');
}

static void write_text(const struct survey *s, struct buf *out)
{
    const struct report_style style = {.colour = cmd_stdout_has_colour(), .columns = cmd_columns()};
    struct grid who = {.align = "ll"}, can = {.align = "lll"}, quirks = {.align = "ll"};
    add_identity(s, &who);
    grid_print(&who, &style, 0, out);
    heading(out, &style, "What it can do");
    add_features(s, &can);
    grid_print(&can, &style, 2, out);
    heading(out, &style, s->quirks ? "Quirks" : "Quirks: none seen");
    add_quirks(s, &quirks);
    if (quirks.n)
        grid_print(&quirks, &style, 2, out);
    buf_addf(out, "\n%ld requests, one after the other\n", s->n_requests);
}

/* --- the command --- */

static int print_survey(const struct survey *s, const struct probe_args *a, struct err *err)
{
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    if (strcmp(a->output, "json") == 0) {
        survey_write(s, &w);
        buf_addc(&out, '\n');
    } else {
        write_text(s, &out);
    }
    int rc = cmd_print(&out, err);
    buf_release(&out);
    return rc;
}

static int probe(const struct probe_args *a, struct err *err)
{
    struct endpoint ep = {0};
    struct survey s = {0};
    int rc = -1;
    if (http_global_init(err) != 0)
        return -1;
    if (endpoint_options_open(&a->endpoint, &ep, err) != 0)
        goto out;
    cmd_catch_stop();
    struct survey_request q = {.endpoint = &ep,
                               .model = a->endpoint.model,
                               .max_tokens = a->max_tokens,
                               .stop = is_stopped,
                               .tell = a->quiet || !cmd_stderr_is_terminal() ? NULL : tell};
    rc = survey_make(&s, &q, err);
    if (rc == 0) {
        rc = print_survey(&s, a, err);
    } else if (cmd_stopped()) {
        cmd_note("%s", err->text);
        rc = cmd_stopped();
    }
out:
    survey_release(&s);
    endpoint_release(&ep);
    http_global_end();
    return rc;
}

int cmd_probe(int argc, char **argv, struct err *err)
{
    struct probe_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("probe [options]",
                         "Says what an endpoint is and can do, found out with a dozen small "
                         "requests: server, models, context,\nstreams, tools, forms of "
                         "tool_choice, usage, reasoning, quirks. Exit status 3 if it does not "
                         "answer.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': probe takes no operands", operands.items[0]);
    if (rc == 0)
        rc = endpoint_options_check(&a.endpoint, err);
    if (rc == 0 && !a.endpoint.base_url)
        rc = err_set(err, STATUS_USAGE, "no endpoint: give --base-url or set OPENAI_BASE_URL");
    if (rc == 0)
        rc = probe(&a, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
