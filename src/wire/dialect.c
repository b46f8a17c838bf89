/* dialect.c - the table of APIs, and how a chat completions request is written. Texts of which the
 * user controls every byte (tools, an encoded history) go in as they stand. */
#include "dialect.h"

#include <string.h>

#include "decode_ops.h"
#include "json.h"

static void write_calls(struct jsonw *w, const struct message *m)
{
    jsonw_key(w, "tool_calls");
    jsonw_array(w);
    for (size_t i = 0; i < m->n_calls; i++) {
        jsonw_object(w);
        jsonw_key(w, "id");
        jsonw_text(w, m->calls[i].id);
        jsonw_key(w, "type");
        jsonw_text(w, "function");
        jsonw_key(w, "function");
        jsonw_object(w);
        jsonw_key(w, "name");
        jsonw_text(w, m->calls[i].name);
        jsonw_key(w, "arguments");
        jsonw_text(w, m->calls[i].args);
        jsonw_end_object(w);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

static void openai_message(const struct message *m, struct buf *history)
{
    if (history->len && history->data[history->len - 1] != '[')
        buf_addc(history, ',');
    struct jsonw w = {.out = history};
    jsonw_object(&w);
    jsonw_key(&w, "role");
    jsonw_text(&w, role_name(m->role));
    if (m->role == ROLE_TOOL) {
        jsonw_key(&w, "tool_call_id");
        jsonw_text(&w, m->tool_call_id);
    }
    jsonw_key(&w, "content");
    if (m->n_calls && !m->content.len)
        jsonw_null(&w);
    else
        jsonw_span(&w, buf_span(&m->content));
    if (m->n_calls)
        write_calls(&w, m);
    jsonw_end_object(&w);
}

/* Begins a member of ours, unless the user's extra members bring their own. */
static bool member(struct jsonw *w, const struct chat_request *q, const char *key)
{
    if (json_get(q->extra_body, key))
        return false;
    jsonw_key(w, key);
    return true;
}

static void write_choice(struct jsonw *w, const char *choice)
{
    if (strcmp(choice, "auto") == 0 || strcmp(choice, "none") == 0 ||
        strcmp(choice, "required") == 0) {
        jsonw_text(w, choice);
        return;
    }
    jsonw_object(w);
    jsonw_key(w, "type");
    jsonw_text(w, "function");
    jsonw_key(w, "function");
    jsonw_object(w);
    jsonw_key(w, "name");
    jsonw_text(w, choice);
    jsonw_end_object(w);
    jsonw_end_object(w);
}

static void write_stream(struct jsonw *w, const struct chat_request *q)
{
    if (member(w, q, "stream"))
        jsonw_bool(w, q->stream);
    if (q->stream && member(w, q, "stream_options")) {
        jsonw_object(w);
        jsonw_key(w, "include_usage");
        jsonw_bool(w, true);
        jsonw_end_object(w);
    }
}

static void write_sampling(struct jsonw *w, const struct chat_request *q)
{
    if (q->temperature >= 0 && member(w, q, "temperature"))
        jsonw_double(w, q->temperature);
    if (q->max_tokens && member(w, q, "max_tokens"))
        jsonw_long(w, q->max_tokens);
    if (q->seed >= 0 && member(w, q, "seed"))
        jsonw_long(w, q->seed);
}

static void openai_request(const struct chat_request *q, struct buf *out)
{
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    if (member(&w, q, "model"))
        jsonw_text(&w, q->model);
    jsonw_key(&w, "messages");
    jsonw_array(&w);
    jsonw_raw(&w, q->messages);
    if (q->messages_end)
        *q->messages_end = out->len;
    jsonw_end_array(&w);
    if (q->tools.len && member(&w, q, "tools"))
        jsonw_raw(&w, q->tools);
    if (q->tools.len && q->tool_choice && member(&w, q, "tool_choice"))
        write_choice(&w, q->tool_choice);
    write_stream(&w, q);
    write_sampling(&w, q);
    for (const struct json *m = json_first(q->extra_body); m; m = json_next(m)) {
        jsonw_key(&w, json_key(m));
        jsonw_value(&w, m);
    }
    jsonw_end_object(&w);
}

static const struct dialect dialects[] = {
    {.name = "openai-chat",
     .route = "/chat/completions",
     .reasoning_fields = {"reasoning_content", "reasoning", "thinking", "reasoning_details"},
     .message = openai_message,
     .request = openai_request,
     .decode = &decode_openai},
};

const struct dialect *dialect_find(const char *name)
{
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    return NULL;
}

const struct dialect *dialect_default(void)
{
    return &dialects[0];
}
