/* show_raw.c - the stored bytes with their times, and the command that repeats a request. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "show.h"
#include "text.h"

static void title(const struct shown *s, long round, const char *part, size_t bytes)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "== round %ld, %s: ", round, part);
    text_count(&text, (long)bytes);
    buf_adds(&text, " bytes");
    text_paint(s->out, s->style, PAINT_BOLD, buf_str(&text));
    buf_addc(s->out, '\n');
    buf_release(&text);
}

static void add_bytes(const struct shown *s, struct span bytes, bool lines)
{
    text_safe(s->out, bytes, lines);
    if (bytes.len && (!lines || bytes.data[bytes.len - 1] != '\n'))
        buf_addc(s->out, '\n');
}

/* "+   45.123 ms       0  data: ...": what had arrived when. */
static void add_arrivals(const struct shown *s, struct span response, struct span arrivals)
{
    struct json *list = json_parse(arrivals, NULL);
    size_t from = 0;
    for (const struct json *a = json_first(list); a && from < response.len; a = json_next(a)) {
        long to = json_long(json_at(a, 0), 0), at_us = json_long(json_at(a, 1), 0);
        size_t end = to > 0 && (size_t)to < response.len ? (size_t)to : response.len;
        if (to < 0 || end <= from)
            continue;
        struct buf when = BUF_INIT;
        buf_addf(&when, "+%10.3f ms %8zu  ", (double)at_us / 1e3, from);
        text_paint(s->out, s->style, PAINT_DIM, buf_str(&when));
        add_bytes(s, (struct span){response.data + from, end - from}, false);
        buf_release(&when);
        from = end;
    }
    if (from < response.len) {
        buf_addf(s->out, "%14s %8zu  ", "", from);
        add_bytes(s, (struct span){response.data + from, response.len - from}, false);
    }
    json_free(list);
}

/* One exchange; `whose` is "" or "twin". False if nothing of it was kept. */
static bool add_exchange(const struct shown *s, long round, const char *whose)
{
    static const char *const parts[] = {"request", "headers", "response", "arrivals"};
    struct span kept[4];
    char *titles[4];
    for (size_t i = 0; i < 4; i++) {
        char *name = mem_printf("%s%s%s", whose, *whose ? "." : "", parts[i]);
        kept[i] = shown_part(s, round, name);
        titles[i] =
            mem_printf("%s%s%s%s", whose, *whose ? "'s " : "", i == 1 ? "response " : "", parts[i]);
        free(name);
    }
    bool any = kept[0].len || kept[2].len;
    if (any) {
        title(s, round, titles[0], kept[0].len);
        add_bytes(s, kept[0], true);
    }
    if (any && kept[1].len) {
        title(s, round, titles[1], kept[1].len);
        add_bytes(s, kept[1], true);
    }
    if (any) {
        title(s, round, titles[2], kept[2].len);
        add_arrivals(s, kept[2], kept[3]);
    }
    for (size_t i = 0; i < 4; i++)
        free(titles[i]);
    return any;
}

void show_raw(const struct shown *s)
{
    const struct section *rounds = figures_get(&s->figures, "rounds");
    bool any = false;
    for (size_t i = 0; i < rounds->n_rows; i++) {
        long round = figures_long(rounds, i, "round");
        if (s->request->round && s->request->round != round)
            continue;
        any |= add_exchange(s, round, "");
        any |= add_exchange(s, round, "twin");
    }
    if (!any)
        buf_adds(s->out, "no bytes were kept; run with --keep all to keep every round\n");
}

/* --- curl ---------------------------------------------------------------------------------------
 */

/* The round to repeat: the one asked for, the first damaged one, or the last one kept. */
static long round_to_repeat(const struct shown *s)
{
    const struct section *rounds = figures_get(&s->figures, "rounds");
    if (s->request->round)
        return s->request->round;
    long bad = figures_long(figures_get(&s->figures, "session"), 0, "first_bad_round");
    if (bad && shown_part(s, bad, "request").len)
        return bad;
    for (size_t i = rounds->n_rows; i-- > 0;)
        if (shown_part(s, figures_long(rounds, i, "round"), "request").len)
            return figures_long(rounds, i, "round");
    return 0;
}

int show_curl(const struct shown *s, struct err *err)
{
    const struct section *run = figures_get(&s->figures, "run");
    long round = round_to_repeat(s);
    struct span request = shown_part(s, round, "request");
    if (!request.len)
        return err_set(err, STATUS_USAGE,
                       "the request of session %ld was not kept: run with --keep all",
                       s->request->session);
    const char *dialect = figures_text(run, 0, "dialect");
    const char *route = s->request->wire.route ? s->request->wire.route(dialect) : NULL;
    char *url = mem_printf("%s%s", figures_text(run, 0, "base_url"), route ? route : "");
    const char *key = figures_text(run, 0, "api_key_env");
    char *body = mem_copy(request.data, request.len);
    if (figures_long(run, 0, "simulated"))
        buf_adds(s->out, "# the simulated endpoint ended with the run: put the port of a "
                         "'toolstorm sim' here\n");
    /* By way of a pipe: an argument may not be as long as a request. */
    buf_adds(s->out, "printf %s ");
    text_shell_word(s->out, body);
    buf_addf(s->out, " |\n  curl -sS%s ", figures_long(run, 0, "stream") ? "N" : "");
    text_shell_word(s->out, url);
    buf_addf(s->out,
             " \\\n  -H 'content-type: application/json' -H \"authorization: Bearer $%s\" "
             "\\\n  --data-binary @-\n",
             *key ? key : "OPENAI_API_KEY");
    free(body);
    free(url);
    return 0;
}
