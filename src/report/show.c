/* show.c - reads one session with its evidence, and lets one of several forms be written. */
#include "show.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "reply.h"
#include "store.h"
#include "text.h"
#include "words.h"
#include "words_sql.h"

struct span shown_part(const struct shown *s, long round, const char *part)
{
    const struct section *e = figures_get(&s->evidence, "rows");
    for (size_t i = 0; i < e->n_rows; i++)
        if (figures_long(e, i, "round") == round && strcmp(figures_text(e, i, "part"), part) == 0)
            return figures_span(e, i, "data");
    return span_of("");
}

bool shown_reply(const struct shown *s, size_t row, struct reply *r)
{
    const struct section *rounds = figures_get(&s->figures, "rounds");
    const struct section *run = figures_get(&s->figures, "run");
    long round = figures_long(rounds, row, "round");
    struct span body = shown_part(s, round, "response");
    reply_init(r);
    r->status = (int)figures_long(rounds, row, "status");
    r->stream = figures_long(run, 0, "stream") != 0;
    if (!body.len || !s->request->wire.decode)
        return false;
    s->request->wire.decode(figures_text(run, 0, "dialect"), shown_part(s, round, "headers"), body,
                            r);
    return true;
}

struct span shown_channel(const struct section *findings, size_t row, const struct reply *r)
{
    const char *channel = figures_text(findings, row, "channel");
    long at = figures_null(findings, row, "call") ? -1 : figures_long(findings, row, "call");
    const struct tool_call *call = at >= 0 && (size_t)at < r->n_calls ? &r->calls[at] : NULL;
    if (strcmp(channel, channel_name(CHANNEL_content)) == 0)
        return buf_span(&r->content);
    if (strcmp(channel, channel_name(CHANNEL_reasoning)) == 0 ||
        strcmp(channel, channel_name(CHANNEL_boundary)) == 0)
        return buf_span(&r->reasoning);
    if (strcmp(channel, channel_name(CHANNEL_error)) == 0)
        return buf_span(&r->error_text);
    if (call && strcmp(channel, channel_name(CHANNEL_name)) == 0)
        return buf_span(&call->name);
    if (call && strcmp(channel, channel_name(CHANNEL_args)) == 0)
        return buf_span(&call->args);
    if (call && strcmp(channel, channel_name(CHANNEL_id)) == 0)
        return buf_span(&call->id);
    return span_of("");
}

/* An unknown session: say which there are, the damaged ones first of all. */
static int no_session(struct store *s, const struct report_show *r, struct err *err)
{
    struct figures f = {0};
    const struct binding bindings[] = {{.name = "run", .number = r->run}};
    int rc = figures_add(&f, s, "known",
                         "SELECT count(*) AS n, min(session) AS first, max(session) AS last, "
                         "(SELECT group_concat(session, ', ') FROM (SELECT session FROM sessions "
                         "WHERE run = :run AND class IN ('leak', 'no_tool') ORDER BY session "
                         "LIMIT 10)) AS damaged FROM sessions WHERE run = :run",
                         bindings, 1, err);
    if (rc == 0) {
        const struct section *k = &f.sections[0];
        const char *damaged = figures_text(k, 0, "damaged");
        if (figures_long(k, 0, "n"))
            err_set(err, STATUS_USAGE, "run %ld has no session %ld: it has %ld to %ld%s%s", r->run,
                    r->session, figures_long(k, 0, "first"), figures_long(k, 0, "last"),
                    *damaged ? "; damaged are " : "", damaged);
        else
            err_set(err, STATUS_USAGE, "run %ld has no session %ld: none has finished", r->run,
                    r->session);
    }
    figures_release(&f);
    return -1;
}

static int check_round(const struct shown *s, struct err *err)
{
    long round = s->request->round;
    const struct section *rounds = figures_get(&s->figures, "rounds");
    if (!round)
        return 0;
    for (size_t i = 0; i < rounds->n_rows; i++)
        if (figures_long(rounds, i, "round") == round)
            return 0;
    return err_set(err, STATUS_USAGE, "session %ld has no round %ld: it played %zu",
                   s->request->session, round, rounds->n_rows);
}

static int show_one(struct store *s, const struct report_show *request,
                    const struct report_style *style, struct buf *out, struct err *err)
{
    struct shown shown = {.request = request, .style = style, .out = out};
    const struct binding bindings[] = {{.name = "run", .number = request->run},
                                       {.name = "session", .number = request->session}};
    int rc = -1;
    if (figures_read(&shown.figures, s, "reports/show.sql", bindings, 2, err) < 0 ||
        figures_read(&shown.evidence, s, "reports/evidence.sql", bindings, 2, err) < 0)
        goto out;
    if (!figures_get(&shown.figures, "session")->n_rows) {
        no_session(s, request, err);
        goto out;
    }
    if (check_round(&shown, err) < 0)
        goto out;
    rc = 0;
    if (request->form == SHOW_RAW)
        show_raw(&shown);
    else if (request->form == SHOW_CURL)
        rc = show_curl(&shown, err);
    else if (style->json)
        show_json(&shown);
    else
        show_text(&shown);
out:
    figures_release(&shown.figures);
    figures_release(&shown.evidence);
    return rc;
}

static void separate(const struct report_style *style, struct buf *out)
{
    buf_addc(out, '\n');
    text_paint_on(out, style, PAINT_DIM);
    for (int i = 0; i < (style->columns > 0 ? style->columns : 80); i++)
        buf_addc(out, '-');
    text_paint_off(out, style);
    buf_adds(out, "\n\n");
}

/* Sessions found by their reason: numbers alone, for there may be many. */
struct found {
    struct store *store;
    const struct binding *bindings;
    size_t n_bindings;
    long *sessions;
    size_t n, cap;
    struct err *err;
};

static int add_found(void *arg, const struct section *s)
{
    struct found *f = arg;
    if (!s->n_rows)
        return 0;
    f->sessions = mem_grow(f->sessions, &f->cap, f->n, sizeof *f->sessions);
    f->sessions[f->n++] = figures_long(s, 0, "session");
    return 0;
}

static int find_sessions(void *arg, const struct figures_part *p)
{
    struct found *f = arg;
    return figures_stream(f->store, p->sql, f->bindings, f->n_bindings, add_found, f, f->err);
}

/* One after the other. */
static int show_several(struct store *s, const struct report_show *request, const struct found *f,
                        const struct report_style *style, struct buf *out, struct err *err)
{
    struct report_show one = *request;
    for (size_t i = 0; i < f->n; i++) {
        one.session = f->sessions[i];
        if (i && !style->json && request->form != SHOW_CURL)
            separate(style, out);
        if (show_one(s, &one, style, out, err) < 0)
            return -1;
        if (request->flush && f->n > 1) {
            if (request->flush(request->arg, out, err) != 0)
                return -1;
            buf_clear(out);
        }
    }
    return 0;
}

static int show_matching(struct store *s, const struct report_show *request,
                         const struct report_style *style, struct buf *out, struct err *err)
{
    const char *reason = request->reason;
    struct binding bindings[4] = {{.name = "run", .number = request->run},
                                  {.name = "limit", .number = request->all ? -1 : 1}};
    size_t n = 2;
    if (reason) {
        const char *class = report_class(reason, err);
        if (!class)
            return -1;
        bindings[n++] = (struct binding){.name = "class", .text = class};
        if (strcmp(class, reason) != 0)
            bindings[n++] = (struct binding){.name = "reason", .text = reason};
    }
    struct found f = {.store = s, .bindings = bindings, .n_bindings = n, .err = err};
    int rc = figures_walk(s, "reports/sessions.sql", bindings, n, find_sessions, &f, err);
    if (rc == 0 && !f.n)
        rc = err_set(err, STATUS_USAGE, "run %ld has no session with %s", request->run,
                     reason ? reason : "damage: give the session's number");
    if (rc == 0)
        rc = show_several(s, request, &f, style, out, err);
    free(f.sessions);
    return rc;
}

int report_show(struct store *s, const struct report_show *request,
                const struct report_style *style, struct buf *out, struct err *err)
{
    struct report_show full = *request;
    if (!full.run && (full.run = report_newest_run(s, err)) < 0)
        return -1;
    if (report_check_run(s, full.run, err) < 0 || words_sql_define(s, err) < 0)
        return -1;
    return full.session ? show_one(s, &full, style, out, err)
                        : show_matching(s, &full, style, out, err);
}
