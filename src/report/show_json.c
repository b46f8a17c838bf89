/* show_json.c - one session as JSON: the figures, the history, the decoded replies. */
#include <string.h>

#include "json.h"
#include "reply.h"
#include "show.h"

static void write_calls(const struct reply *r, struct jsonw *w)
{
    jsonw_array(w);
    for (size_t i = 0; i < r->n_calls; i++) {
        jsonw_object(w);
        jsonw_key(w, "id");
        jsonw_span(w, buf_span(&r->calls[i].id));
        jsonw_key(w, "name");
        jsonw_span(w, buf_span(&r->calls[i].name));
        jsonw_key(w, "arguments");
        jsonw_span(w, buf_span(&r->calls[i].args));
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void write_replies(const struct shown *s, struct jsonw *w)
{
    const struct section *rounds = figures_get(&s->figures, "rounds");
    jsonw_array(w);
    for (size_t i = 0; i < rounds->n_rows; i++) {
        struct reply r;
        if (shown_reply(s, i, &r)) {
            jsonw_object(w);
            jsonw_key(w, "round");
            jsonw_long(w, figures_long(rounds, i, "round"));
            jsonw_key(w, "content");
            jsonw_span(w, buf_span(&r.content));
            jsonw_key(w, "reasoning");
            jsonw_span(w, buf_span(&r.reasoning));
            jsonw_key(w, "tool_calls");
            write_calls(&r, w);
            jsonw_key(w, "finish_reason");
            jsonw_text(w, r.finish);
            jsonw_key(w, "error");
            jsonw_span(w, buf_span(&r.error_text));
            jsonw_end_object(w);
        }
        reply_release(&r);
    }
    jsonw_end_array(w);
}

/* The messages of the last kept request, as they were sent. */
static void write_messages(const struct shown *s, struct jsonw *w)
{
    const struct section *rounds = figures_get(&s->figures, "rounds");
    for (size_t i = rounds->n_rows; i-- > 0;) {
        struct span request = shown_part(s, figures_long(rounds, i, "round"), "request");
        struct span messages = json_raw_get(request, "messages");
        if (messages.len && json_check(messages) < 0) {
            jsonw_raw(w, messages);
            return;
        }
    }
    jsonw_null(w);
}

void show_json(const struct shown *s)
{
    struct jsonw w = {.out = s->out};
    jsonw_object(&w);
    figures_write(&s->figures, &w);
    jsonw_key(&w, "messages");
    write_messages(s, &w);
    jsonw_key(&w, "replies");
    write_replies(s, &w);
    jsonw_end_object(&w);
    buf_addc(s->out, '\n');
}
