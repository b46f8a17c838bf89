/* export.c - `toolstorm export`: stored exchanges as case files, for whoever is to look at them
 * without the database. Keys were taken out before anything was stored; headers other than the
 * content type are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "casewrite.h"
#include "commands.h"
#include "embed.h"
#include "expect.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "reply.h"
#include "restage.h"
#include "scenario.h"
#include "store.h"
#include "stored.h"
#include "words_sql.h"

#define MAX_FOREIGN 32 /* other sessions' tokens named in a case */

struct export_args {
    const char *db, *out;
    bool anonymize;
    long run, session;
};

#define AT(field) offsetof(struct export_args, field)

static const struct opt table[] = {
    {"anonymize", NULL, 0, OPT_BOOL, AT(anonymize), NULL, "no", 0, 0, NULL, "What to write",
     "put HOST in the place of the endpoint's name"},
    {"out", NULL, 0, OPT_TEXT, AT(out), "FILE", "-", 0, 0, NULL, NULL,
     "file to write; '-' is standard output"},
    {"db", NULL, 0, OPT_TEXT, AT(db), "FILE", "toolstorm.db", 0, 0, NULL, NULL, "database"},
    {0},
};

struct exporting {
    const struct export_args *args;
    struct store *store;
    struct restage stage;
    struct play *play;
    long session; /* that `play` is */
    char *host;   /* to mask; or NULL */
    struct buf *out;
    long n;
    struct err *err;
};

/* "gpu7.lab:30000" of "http://gpu7.lab:30000/v1". The caller's. */
static char *host_of(const char *url)
{
    const char *at = strstr(url, "://");
    at = at ? at + 3 : url;
    return mem_copy(at, strcspn(at, "/?#"));
}

/* The text with the host's name masked: with its port, and without. */
static void add_masked(struct buf *out, struct span text, const char *host)
{
    size_t name = host ? strcspn(host, ":") : 0;
    for (size_t at = 0; at < text.len;) {
        long hit = name ? span_find(text, (struct span){host, name}, at) : -1;
        size_t to = hit < 0 ? text.len : (size_t)hit;
        buf_add(out, text.data + at, to - at);
        at = to;
        if (hit < 0)
            return;
        buf_adds(out, "HOST");
        at += span_starts((struct span){text.data + at, text.len - at}, host) ? strlen(host) : name;
    }
}

static void add_text(struct exporting *x, struct jsonw *w, const char *key, struct span text)
{
    struct buf masked = BUF_INIT;
    add_masked(&masked, text, x->host);
    jsonw_key(w, key);
    jsonw_span(w, buf_span(&masked));
    buf_release(&masked);
}

/* --- other sessions' tokens --- */

struct tokens {
    char text[MAX_FOREIGN][TOKEN_LEN + 1];
    const char *list[MAX_FOREIGN];
    size_t n;
};

static void find_tokens(const struct exporting *x, struct span text, struct tokens *t)
{
    struct token_owner owner;
    long at = token_find(&x->stage.key, text, 0, &owner);
    for (; at >= 0 && t->n < MAX_FOREIGN;
         at = token_find(&x->stage.key, text, (size_t)at + TOKEN_LEN, &owner)) {
        if (owner.session == x->session)
            continue;
        memcpy(t->text[t->n], text.data + at, TOKEN_LEN);
        t->list[t->n] = t->text[t->n];
        t->n++;
    }
}

static void foreign_tokens(const struct exporting *x, const struct section *s, struct tokens *t)
{
    const struct section *run = restage_run(&x->stage);
    struct reply r;
    reply_init(&r);
    r.status = (int)figures_long(s, 0, "status");
    r.stream = figures_long(run, 0, "stream") != 0;
    stored_wire().decode(figures_text(run, 0, "dialect"), figures_span(s, 0, "headers"),
                         figures_span(s, 0, "response"), &r);
    find_tokens(x, buf_span(&r.content), t);
    find_tokens(x, buf_span(&r.reasoning), t);
    for (size_t i = 0; i < r.n_calls; i++) {
        find_tokens(x, buf_span(&r.calls[i].args), t);
        find_tokens(x, buf_span(&r.calls[i].name), t);
        find_tokens(x, buf_span(&r.calls[i].id), t);
    }
    reply_release(&r);
}

/* --- one case --- */

/* How the exchange ended, in the words of case files. */
static const char *end_of(const struct section *s)
{
    static const char *const words[][2] = {
        {"error.cut", "reset"},       {"error.stall", "idle_timeout"},
        {"error.timeout", "timeout"}, {"error.connect", "connect"},
        {"error.tls", "tls"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(figures_text(s, 0, "transport"), words[i][0]) == 0 ||
            strcmp(figures_text(s, 0, "reason"), words[i][0]) == 0)
            return words[i][1];
    return "clean";
}

static void add_transport(const struct section *s, struct jsonw *w)
{
    char content_type[80], retry_after[80];
    stored_header(figures_span(s, 0, "headers"), "content-type", content_type);
    stored_header(figures_span(s, 0, "headers"), "retry-after", retry_after);
    jsonw_key(w, "transport");
    jsonw_object(w);
    jsonw_key(w, "status");
    jsonw_long(w, figures_long(s, 0, "status"));
    if (content_type[0]) {
        jsonw_key(w, "content_type");
        jsonw_text(w, content_type);
    }
    /* A date says the same to the judge: that there was something to wait for. */
    if (retry_after[0]) {
        jsonw_key(w, "retry_after_s");
        jsonw_long(w, strtol(retry_after, NULL, 10));
    }
    jsonw_key(w, "end");
    jsonw_text(w, end_of(s));
    jsonw_key(w, "reused");
    jsonw_bool(w, figures_long(s, 0, "reused") != 0);
    jsonw_end_object(w);
}

static void add_asked(struct exporting *x, const struct section *s, struct jsonw *w)
{
    struct tokens tokens = {.n = 0};
    struct expect e = {0};
    foreign_tokens(x, s, &tokens);
    restage_expect(&x->stage, x->play, (int)figures_long(s, 0, "round"), &e);
    e.foreign_canaries = tokens.list;
    e.n_foreign = tokens.n;
    jsonw_key(w, "asked");
    casewrite_asked(&e, w);
}

static void add_verdict(const struct section *s, struct jsonw *w)
{
    jsonw_key(w, "expect");
    jsonw_object(w);
    jsonw_key(w, "class");
    jsonw_text(w, figures_text(s, 0, "class"));
    jsonw_key(w, "reason");
    jsonw_text(w, figures_text(s, 0, "reason"));
    jsonw_end_object(w);
}

static void add_request(struct exporting *x, struct span request, struct jsonw *w)
{
    struct buf masked = BUF_INIT;
    add_masked(&masked, request, x->host);
    casewrite_request(buf_span(&masked), w);
    buf_release(&masked);
}

static void add_case(struct exporting *x, const struct section *s)
{
    const struct section *run = restage_run(&x->stage);
    struct jsonw w = {.out = x->out};
    char id[80];
    snprintf(id, sizeof id, "run %ld session %ld round %ld", figures_long(s, 0, "run"),
             figures_long(s, 0, "session"), figures_long(s, 0, "round"));
    char *shows =
        mem_printf("%s: %s; model '%s' at %s, scenario '%s'", figures_text(s, 0, "reason"),
                   figures_text(s, 0, "meaning"), figures_text(run, 0, "model"),
                   figures_text(run, 0, "base_url"), figures_text(run, 0, "scenario"));
    jsonw_object(&w);
    jsonw_key(&w, "id");
    jsonw_text(&w, id);
    add_text(x, &w, "shows", span_of(shows));
    add_asked(x, s, &w);
    jsonw_key(&w, "stream");
    jsonw_bool(&w, figures_long(run, 0, "stream") != 0);
    add_text(x, &w, "response", figures_span(s, 0, "response"));
    add_transport(s, &w);
    add_verdict(s, &w);
    add_request(x, figures_span(s, 0, "request"), &w);
    jsonw_end_object(&w);
    buf_addc(x->out, '\n');
    x->n++;
    free(shows);
}

static int on_row(void *arg, const struct section *s)
{
    struct exporting *x = arg;
    if (!s->n_rows)
        return 0;
    if (!x->play || x->session != figures_long(s, 0, "session")) {
        play_free(x->play);
        x->session = figures_long(s, 0, "session");
        x->play = restage_play(&x->stage, x->store, x->session, x->err);
        if (!x->play)
            return -1;
    }
    add_case(x, s);
    return 0;
}

static int export_run(struct exporting *x, struct err *err)
{
    const struct export_args *a = x->args;
    if (cmd_check_output(a->out, a->db, err) != 0)
        return -1;
    const struct binding bindings[] = {{.name = "run", .number = a->run},
                                       {.name = "session", .number = a->session}};
    if (words_sql_define(x->store, err) != 0 || restage_init(&x->stage, x->store, a->run, err) != 0)
        return -1;
    if (a->anonymize)
        x->host = host_of(figures_text(restage_run(&x->stage), 0, "base_url"));
    if (figures_stream(x->store, embed_find("reports/export.sql")->data, bindings, 2, on_row, x,
                       err) != 0)
        return -1;
    if (x->n == 0)
        return err_set(err, STATUS_USAGE, "run %ld kept no bytes of %s", a->run,
                       a->session ? "that session" : "a damaged round");
    if (file_write(a->out, buf_str(x->out), x->out->len, err) != 0)
        return -1;
    cmd_note("%ld %s written", x->n, x->n == 1 ? "exchange" : "exchanges");
    return 0;
}

static int read_operands(struct export_args *a, const struct opt_list *operands, struct err *err)
{
    if (operands->n < 1 || operands->n > 2)
        return err_set(err, STATUS_USAGE,
                       "export needs a run, and may take a session: toolstorm export 1 7");
    if (cmd_number(operands->items[0], "run", &a->run, err) != 0)
        return -1;
    return operands->n > 1 ? cmd_number(operands->items[1], "session", &a->session, err) : 0;
}

int cmd_export(int argc, char **argv, struct err *err)
{
    struct export_args a = {0};
    struct opt_list operands = {0};
    int rc =
        cmd_options("export [options] RUN [SESSION]",
                    "Writes stored exchanges as case files, a JSON line each, which `toolstorm "
                    "judge` judges as the run did:\nthose of a session, or every damaged one. "
                    "Keys are never stored, and so never written.",
                    table, &a, argc, argv, &operands, err);
    if (rc == 0)
        rc = read_operands(&a, &operands, err);
    if (rc == 0) {
        struct buf out = BUF_INIT;
        struct exporting x = {.args = &a, .out = &out, .err = err};
        x.store = store_open(a.db, STORE_READ, err);
        rc = x.store ? export_run(&x, err) : -1;
        play_free(x.play);
        restage_release(&x.stage);
        store_close(x.store);
        free(x.host);
        buf_release(&out);
    } else if (rc == 1) {
        rc = STATUS_PASS;
    }
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
