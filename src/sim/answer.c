/* answer.c - the noun between playing, damaging and pacing. It knows no HTTP and no SSE. */
#include "answer.h"

#include <stdio.h>

#include "ask.h"
#include "json.h"

void answer_init(struct answer *a)
{
    *a = (struct answer){.status = 200, .retry_after_s = -1};
    reply_init(&a->said);
}

void answer_release(struct answer *a)
{
    reply_release(&a->said);
    buf_release(&a->body);
    buf_release(&a->tail);
}

long answer_tokens(const struct reply *said)
{
    size_t bytes = said->content.len + said->reasoning.len;
    for (size_t i = 0; i < said->n_calls; i++)
        bytes += said->calls[i].name.len + said->calls[i].args.len;
    return (long)((bytes + ANSWER_TOKEN_BYTES - 1) / ANSWER_TOKEN_BYTES);
}

void answer_finish(struct reply *said, const char *reason)
{
    snprintf(said->finish, sizeof said->finish, "%s", reason);
}

void answer_complete(struct answer *a, const struct ask *ask)
{
    struct reply *said = &a->said;
    answer_finish(said, said->n_calls > 0 ? "tool_calls" : "stop");
    said->usage.prompt_tokens = ask->prompt_tokens;
    said->usage.completion_tokens = answer_tokens(said);
}

void answer_add_error(struct buf *out, const char *type, const char *code, const char *message)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    jsonw_key(&w, "error");
    jsonw_object(&w);
    jsonw_key(&w, "message");
    jsonw_text(&w, message);
    jsonw_key(&w, "type");
    jsonw_text(&w, type ? type : "invalid_request_error");
    jsonw_key(&w, "param");
    jsonw_null(&w);
    jsonw_key(&w, "code");
    jsonw_text(&w, code);
    jsonw_end_object(&w);
    jsonw_end_object(&w);
}

void answer_error(struct answer *a, int status, const char *type, const char *code,
                  const char *message)
{
    a->whole = true;
    a->status = status;
    a->content_type = "application/json";
    buf_clear(&a->body);
    answer_add_error(&a->body, type, code, message);
}
