/* show_text.c - one session as a person reads it: verdict, rounds, conversation, damage in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "reply.h"
#include "show.h"
#include "text.h"
#include "transcript.h"

#define INDENT 2

static size_t columns(const struct shown *s)
{
    return s->style->columns > 0 ? (size_t)s->style->columns : 80;
}

static void heading(const struct shown *s, const char *text)
{
    buf_addc(s->out, '\n');
    text_paint(s->out, s->style, PAINT_BOLD, text);
    buf_addc(s->out, '\n');
}

static enum paint class_paint(const char *class)
{
    if (strcmp(class, "ok") == 0)
        return PAINT_GOOD;
    return strcmp(class, "error") == 0 ? PAINT_WARN : PAINT_BAD;
}

static void wrapped(const struct shown *s, const struct buf *text)
{
    buf_addf(s->out, "%*s", INDENT, "");
    text_wrap(s->out, buf_str(text), INDENT, columns(s));
}

static void head(const struct shown *s)
{
    const struct section *run = figures_get(&s->figures, "run");
    const struct section *session = figures_get(&s->figures, "session");
    struct buf text = BUF_INIT;
    buf_addf(s->out, "session %ld of run %ld: ", figures_long(session, 0, "session"),
             figures_long(run, 0, "run"));
    text_paint(s->out, s->style, class_paint(figures_text(session, 0, "class")),
               figures_text(session, 0, "reason"));
    if (figures_long(session, 0, "first_bad_round"))
        buf_addf(s->out, " in round %ld", figures_long(session, 0, "first_bad_round"));
    buf_addc(s->out, '\n');
    buf_adds(&text, figures_text(session, 0, "meaning"));
    wrapped(s, &text);
    buf_clear(&text);
    if (figures_text(run, 0, "label")[0]) {
        text_safe(&text, figures_span(run, 0, "label"), false);
        buf_adds(&text, ", ");
    }
    text_safe(&text, figures_span(run, 0, "model"), false);
    buf_adds(&text, " at ");
    text_safe(&text, figures_span(run, 0, "base_url"), false);
    buf_addf(&text, ", seed %ld, canary ", figures_long(run, 0, "seed"));
    text_safe(&text, figures_span(session, 0, "canary"), false);
    buf_adds(&text, ", from ");
    text_duration(&text, figures_double(session, 0, "start_us"));
    buf_adds(&text, " to ");
    text_duration(&text, figures_double(session, 0, "end_us"));
    buf_adds(&text, " of the run");
    if (figures_long(session, 0, "ramp"))
        buf_adds(&text, ", while the load rose or fell");
    if (figures_long(session, 0, "warmup"))
        buf_adds(&text, ", not counted");
    wrapped(s, &text);
    if (!figures_null(run, 0, "unfinished")) {
        buf_clear(&text);
        buf_addf(&text, "the run did not finish: %s", figures_text(run, 0, "unfinished"));
        wrapped(s, &text);
    }
    buf_release(&text);
}

/* --- the rounds --------------------------------------------------------------------------------
 */

static void add_time(struct grid *g, const struct section *s, size_t row, const char *column)
{
    struct buf text = BUF_INIT;
    text_duration(&text, figures_double(s, row, column));
    grid_add(g, buf_str(&text));
    buf_release(&text);
}

static void add_tokens(struct grid *g, const struct section *s, size_t row, const char *column)
{
    if (figures_null(s, row, column))
        grid_add(g, "-");
    else
        grid_addf(g, "%ld", figures_long(s, row, column));
}

/* What a reader may need of a round besides the columns of the table. */
static void round_note(struct grid *g, const struct section *s, size_t i)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "HTTP %ld, finish ", figures_long(s, i, "status"));
    const char *finish = figures_text(s, i, "finish");
    text_safe(&text, span_of(*finish ? finish : "none"), false);
    buf_addf(&text, ", in flight %ld, at most %ld", figures_long(s, i, "in_flight_start"),
             figures_long(s, i, "in_flight_max"));
    if (!figures_long(s, i, "reused"))
        buf_adds(&text, ", new connection");
    if (figures_long(s, i, "retries"))
        buf_adds(&text, ", sent again");
    if (figures_long(s, i, "overload_retries"))
        buf_addf(&text, ", sent again %ld times after an overload",
                 figures_long(s, i, "overload_retries"));
    if (figures_long(s, i, "budget"))
        buf_adds(&text, ", cut by max_tokens");
    if (figures_text(s, i, "end_detail")[0]) {
        buf_adds(&text, ", ");
        text_safe(&text, figures_span(s, i, "end_detail"), false);
    }
    if (figures_text(s, i, "quirks")[0]) {
        buf_adds(&text, "; quirks ");
        text_safe(&text, figures_span(s, i, "quirks"), false);
    }
    if (figures_text(s, i, "twin_reason")[0])
        buf_addf(&text, "; twin %s", figures_text(s, i, "twin_reason"));
    grid_note(g, buf_str(&text));
    buf_release(&text);
}

static void rounds(const struct shown *s)
{
    static const char *const heads[] = {"round", "verdict",   "sent at", "first token",
                                        "whole", "tokens in", "out"};
    const struct section *r = figures_get(&s->figures, "rounds");
    struct grid g = {.align = "rlrrrrr"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        grid_add(&g, heads[i]);
        grid_paint(&g, PAINT_BOLD);
    }
    for (size_t i = 0; i < r->n_rows; i++) {
        grid_addf(&g, "%ld", figures_long(r, i, "round"));
        grid_add(&g, figures_text(r, i, "reason"));
        grid_paint(&g, class_paint(figures_text(r, i, "class")));
        add_time(&g, r, i, "sent_us");
        add_time(&g, r, i, "ttft_us");
        add_time(&g, r, i, "round_us");
        add_tokens(&g, r, i, "prompt_tokens");
        add_tokens(&g, r, i, "completion_tokens");
        round_note(&g, r, i);
    }
    buf_addc(s->out, '\n');
    grid_print(&g, s->style, 0, s->out);
}

/* --- what was found ----------------------------------------------------------------------------
 */

/* Whose literal it is, from which of that session's rounds, and whether both ran at one time: two
 * sequences in one batch, or state that outlived its owner. */
static void add_owner(const struct section *f, size_t i, struct buf *text)
{
    long round = figures_long(f, i, "owner_round");
    buf_addf(text, ", belongs to session %ld", figures_long(f, i, "owner_session"));
    if (round > 0)
        buf_addf(text, " (its round %ld)", round);
    else if (round == 0)
        buf_adds(text, " (its opening)");
    if (!figures_null(f, i, "owner_overlaps"))
        buf_adds(text, figures_long(f, i, "owner_overlaps")
                           ? ", which ran at the same time"
                           : ", which did not run at the same time");
}

static void finding_line(const struct shown *s, const struct section *f, size_t i)
{
    struct buf text = BUF_INIT;
    bool suspect = strcmp(figures_text(f, i, "level"), "suspect") == 0;
    text_paint(&text, s->style, suspect ? PAINT_WARN : PAINT_BAD, figures_text(f, i, "reason"));
    buf_addf(&text, " %s", suspect ? "(suspect, not counted) " : "");
    text_safe(&text, figures_span(f, i, "channel"), false);
    if (!figures_null(f, i, "call"))
        buf_addf(&text, " of call %ld", figures_long(f, i, "call") + 1);
    buf_addf(&text, ", byte %ld, %ld long", figures_long(f, i, "offset"),
             figures_long(f, i, "length"));
    if (figures_text(f, i, "rule")[0]) {
        buf_adds(&text, ", rule ");
        text_safe(&text, figures_span(f, i, "rule"), false);
    }
    if (figures_long(f, i, "owner_session"))
        add_owner(f, i, &text);
    if (figures_text(f, i, "note")[0]) {
        buf_adds(&text, ": ");
        text_safe(&text, figures_span(f, i, "note"), false);
    }
    wrapped(s, &text);
    buf_release(&text);
}

/* The excerpt, for rounds of which no evidence was kept. */
static void excerpt(const struct shown *s, const struct section *f, size_t i)
{
    struct span text = figures_span(f, i, "excerpt");
    if (!text.len)
        return;
    long from = figures_long(f, i, "offset") - figures_long(f, i, "excerpt_offset");
    if (from < 0 || (size_t)from > text.len)
        from = 0;
    struct mark mark = {(size_t)from, (size_t)(from + figures_long(f, i, "length"))};
    const struct transcript t = {.style = s->style, .out = s->out};
    transcript_text(&t, text, &mark, 1);
}

static void findings(const struct shown *s, long round, bool excerpts)
{
    const struct section *f = figures_get(&s->figures, "findings");
    for (size_t i = 0; i < f->n_rows; i++) {
        if (figures_long(f, i, "round") != round)
            continue;
        finding_line(s, f, i);
        if (excerpts)
            excerpt(s, f, i);
    }
}

/* --- the reply ---------------------------------------------------------------------------------
 */

/* A text of the reply with the findings in it marked. */
static void marked(const struct shown *s, const struct reply *r, long round, const char *name,
                   const struct buf *text)
{
    const struct section *f = figures_get(&s->figures, "findings");
    struct mark *marks = mem_zero(f->n_rows, sizeof *marks);
    size_t n = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        struct span at = shown_channel(f, i, r);
        if (figures_long(f, i, "round") != round || !at.len || at.data != text->data)
            continue;
        size_t from = (size_t)figures_long(f, i, "offset");
        marks[n++] = (struct mark){from, from + (size_t)figures_long(f, i, "length")};
    }
    if (text->len) {
        const struct transcript t = {
            .style = s->style, .context = (size_t)s->request->context, .out = s->out};
        buf_addf(s->out, "%*s%s\n", INDENT, "", name);
        transcript_text(&t, buf_span(text), marks, n);
    }
    free(marks);
}

static void all_of_reply(const struct shown *s, const struct reply *r, long round)
{
    marked(s, r, round, "reasoning", &r->reasoning);
    marked(s, r, round, "content", &r->content);
    for (size_t i = 0; i < r->n_calls; i++) {
        char label[32];
        snprintf(label, sizeof label, "call %zu, name", i + 1);
        marked(s, r, round, label, &r->calls[i].name);
        marked(s, r, round, "id", &r->calls[i].id);
        marked(s, r, round, "arguments", &r->calls[i].args);
    }
    marked(s, r, round, "error", &r->error_text);
    if (!r->reasoning.len && !r->content.len && !r->n_calls && !r->error_text.len)
        buf_addf(s->out, "%*snothing visible came\n", INDENT, "");
}

static void round_reply(const struct shown *s, size_t row)
{
    const struct section *rounds_ = figures_get(&s->figures, "rounds");
    long round = figures_long(rounds_, row, "round");
    struct reply r;
    bool kept = shown_reply(s, row, &r);
    struct buf title = BUF_INIT;
    buf_addf(&title, "Reply of round %ld: %s", round, figures_text(rounds_, row, "reason"));
    heading(s, buf_str(&title));
    if (kept)
        all_of_reply(s, &r, round);
    else
        buf_addf(s->out, "%*sits bytes were not kept\n", INDENT, "");
    if (figures_text(rounds_, row, "error_text")[0] && !r.error_text.len) {
        struct buf text = BUF_INIT;
        text_safe(&text, figures_span(rounds_, row, "error_text"), false);
        wrapped(s, &text);
        buf_release(&text);
    }
    findings(s, round, !kept);
    reply_release(&r);
    buf_release(&title);
}

/* --- the conversation --------------------------------------------------------------------------
 */

/* The history that the last kept request carried: it holds everything before. */
static void conversation(const struct shown *s)
{
    const struct section *r = figures_get(&s->figures, "rounds");
    for (size_t i = r->n_rows; i-- > 0;) {
        long round = figures_long(r, i, "round");
        struct span request = shown_part(s, round, "request");
        if (!request.len)
            continue;
        struct json *body = json_parse(request, NULL);
        const struct json *messages = json_get(body, "messages");
        struct buf title = BUF_INIT;
        buf_addf(&title, "Conversation, as round %ld sent it", round);
        heading(s, buf_str(&title));
        const struct transcript t = {
            .style = s->style, .context = (size_t)s->request->context, .out = s->out};
        transcript_messages(&t, messages);
        buf_release(&title);
        json_free(body);
        return;
    }
}

static void what_next(const struct shown *s, bool kept)
{
    const struct report_show *r = s->request;
    buf_addc(s->out, '\n');
    if (!kept) {
        text_paint(
            s->out, s->style, PAINT_DIM,
            "No bytes of this session were kept; run with --keep all to keep every round.\n");
        return;
    }
    struct buf text = BUF_INIT;
    buf_addf(&text, "toolstorm show %ld %ld", r->run, r->session);
    if (s->style->db) {
        buf_adds(&text, " --db ");
        text_shell_word(&text, s->style->db);
    }
    text_paint_on(s->out, s->style, PAINT_DIM);
    buf_addf(s->out, "The bytes:          %s --raw\nRepeat the request: %s --curl\n",
             buf_str(&text), buf_str(&text));
    text_paint_off(s->out, s->style);
    buf_release(&text);
}

void show_text(const struct shown *s)
{
    const struct section *r = figures_get(&s->figures, "rounds");
    const struct section *f = figures_get(&s->figures, "findings");
    bool kept = false;
    head(s);
    rounds(s);
    conversation(s);
    for (size_t i = 0; i < r->n_rows; i++) {
        bool found = strcmp(figures_text(r, i, "class"), "ok") != 0;
        for (size_t k = 0; k < f->n_rows; k++)
            found |= figures_long(f, k, "round") == figures_long(r, i, "round");
        kept |= figures_long(r, i, "kept") != 0;
        /* A good reply stands in the history of the next round; the last one stands nowhere. */
        if (found || (i + 1 == r->n_rows && figures_long(r, i, "kept")))
            round_reply(s, i);
    }
    what_next(s, kept);
}
