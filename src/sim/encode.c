/* encode.c - chat completions and their chunks. Nothing is encoded ahead: a stream that waits holds
 * its texts and a place in them. It does not know which answers are damaged. */
#include "encode.h"

#include <stdio.h>

#include "answer.h"
#include "json.h"

static void open_object(struct jsonw *w, const struct encode_settings *s, const char *object)
{
    char id[40];
    snprintf(id, sizeof id, "chatcmpl-%016llx", (unsigned long long)s->id);
    jsonw_object(w);
    jsonw_key(w, "id");
    jsonw_text(w, id);
    jsonw_key(w, "object");
    jsonw_text(w, object);
    jsonw_key(w, "created");
    jsonw_long(w, s->created);
    jsonw_key(w, "model");
    jsonw_text(w, s->model);
    jsonw_key(w, "choices");
    jsonw_array(w);
}

static void write_usage(struct jsonw *w, const struct usage *u)
{
    jsonw_key(w, "usage");
    jsonw_object(w);
    jsonw_key(w, "prompt_tokens");
    jsonw_long(w, u->prompt_tokens);
    jsonw_key(w, "completion_tokens");
    jsonw_long(w, u->completion_tokens);
    jsonw_key(w, "total_tokens");
    jsonw_long(w, u->prompt_tokens + u->completion_tokens);
    jsonw_end_object(w);
}

static void write_function(struct jsonw *w, const struct tool_call *c, struct span args)
{
    jsonw_key(w, "type");
    jsonw_text(w, "function");
    jsonw_key(w, "function");
    jsonw_object(w);
    jsonw_key(w, "name");
    jsonw_span(w, buf_span(&c->name));
    jsonw_key(w, "arguments");
    jsonw_span(w, args);
    jsonw_end_object(w);
}

static void write_calls(struct jsonw *w, const struct reply *said)
{
    jsonw_key(w, "tool_calls");
    jsonw_array(w);
    for (size_t i = 0; i < said->n_calls; i++) {
        const struct tool_call *c = &said->calls[i];
        jsonw_object(w);
        jsonw_key(w, "id");
        jsonw_span(w, buf_span(&c->id));
        write_function(w, c, buf_span(&c->args));
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

void encode_body(const struct answer *a, const struct encode_settings *s, struct buf *out)
{
    const struct reply *said = &a->said;
    struct jsonw w = {.out = out};
    open_object(&w, s, "chat.completion");
    jsonw_object(&w);
    jsonw_key(&w, "index");
    jsonw_long(&w, 0);
    jsonw_key(&w, "message");
    jsonw_object(&w);
    jsonw_key(&w, "role");
    jsonw_text(&w, "assistant");
    jsonw_key(&w, "content");
    if (said->content.len == 0 && said->n_calls > 0)
        jsonw_null(&w);
    else
        jsonw_span(&w, buf_span(&said->content));
    if (said->reasoning.len > 0) {
        jsonw_key(&w, "reasoning_content");
        jsonw_span(&w, buf_span(&said->reasoning));
    }
    if (said->n_calls > 0)
        write_calls(&w, said);
    jsonw_end_object(&w);
    jsonw_key(&w, "logprobs");
    jsonw_null(&w);
    jsonw_key(&w, "finish_reason");
    jsonw_text(&w, said->finish);
    jsonw_end_object(&w);
    jsonw_end_array(&w);
    write_usage(&w, &said->usage);
    jsonw_end_object(&w);
}

/* Everything of a chunk up to its delta, and what comes behind it. */
static void open_chunk(struct jsonw *w, const struct encode_settings *s)
{
    buf_adds(w->out, "data: ");
    open_object(w, s, "chat.completion.chunk");
    jsonw_object(w);
    jsonw_key(w, "index");
    jsonw_long(w, 0);
    jsonw_key(w, "delta");
    jsonw_object(w);
}

static void close_chunk(struct jsonw *w, const char *finish)
{
    jsonw_end_object(w);
    jsonw_key(w, "logprobs");
    jsonw_null(w);
    jsonw_key(w, "finish_reason");
    jsonw_text(w, finish);
    jsonw_end_object(w);
    jsonw_end_array(w);
    jsonw_end_object(w);
    buf_adds(w->out, "\n\n");
}

static void write_text(const struct encode_settings *s, const char *key, struct span text,
                       struct buf *out)
{
    struct jsonw w = {.out = out};
    open_chunk(&w, s);
    jsonw_key(&w, key);
    jsonw_span(&w, text);
    close_chunk(&w, NULL);
}

static void write_role(const struct encode_settings *s, struct buf *out)
{
    struct jsonw w = {.out = out};
    open_chunk(&w, s);
    jsonw_key(&w, "role");
    jsonw_text(&w, "assistant");
    jsonw_key(&w, "content");
    jsonw_text(&w, "");
    close_chunk(&w, NULL);
}

static void open_call(struct jsonw *w, const struct tool_call *c, size_t number)
{
    jsonw_key(w, "tool_calls");
    jsonw_array(w);
    jsonw_object(w);
    jsonw_key(w, "index");
    jsonw_long(w, c->index >= 0 ? c->index : (long)number);
}

static void close_call(struct jsonw *w)
{
    jsonw_end_object(w);
    jsonw_end_array(w);
    close_chunk(w, NULL);
}

static void write_call_start(const struct encode_settings *s, const struct tool_call *c,
                             size_t number, struct buf *out)
{
    struct jsonw w = {.out = out};
    open_chunk(&w, s);
    open_call(&w, c, number);
    jsonw_key(&w, "id");
    jsonw_span(&w, buf_span(&c->id));
    write_function(&w, c, span_of(""));
    close_call(&w);
}

static void write_call_args(const struct encode_settings *s, const struct encode_place *place,
                            const struct tool_call *c, struct span piece, struct buf *out)
{
    struct jsonw w = {.out = out};
    open_chunk(&w, s);
    open_call(&w, c, place->call);
    jsonw_key(&w, "function");
    jsonw_object(&w);
    jsonw_key(&w, "arguments");
    jsonw_span(&w, piece);
    jsonw_end_object(&w);
    close_call(&w);
}

static void write_finish(const struct encode_settings *s, const char *finish, struct buf *out)
{
    struct jsonw w = {.out = out};
    open_chunk(&w, s);
    close_chunk(&w, finish);
}

static void write_usage_chunk(const struct answer *a, const struct encode_settings *s,
                              struct buf *out)
{
    struct jsonw w = {.out = out};
    buf_adds(out, "data: ");
    open_object(&w, s, "chat.completion.chunk");
    jsonw_end_array(&w);
    write_usage(&w, &a->said.usage);
    jsonw_end_object(&w);
    buf_adds(out, "\n\n");
}

void encode_words(const struct encode_settings *s, const char *words, struct buf *out)
{
    write_text(s, "content", span_of(words), out);
}

void encode_open_line(const struct encode_settings *s, bool stream, struct buf *out)
{
    struct jsonw w = {.out = out};
    if (stream)
        open_chunk(&w, s);
    else
        open_object(&w, s, "chat.completion");
    if (stream)
        buf_adds(out, "\"content\":");
    buf_addc(out, '"');
}

static const struct buf *phase_text(const struct answer *a, const struct encode_place *place)
{
    if (place->phase == PHASE_REASONING)
        return &a->said.reasoning;
    if (place->phase == PHASE_CONTENT)
        return &a->said.content;
    if (place->phase == PHASE_ARGS)
        return &a->said.calls[place->call].args;
    return NULL;
}

static void leave_phase(const struct answer *a, struct encode_place *place)
{
    place->offset = 0;
    if (place->phase == PHASE_ARGS && ++place->call < a->said.n_calls)
        place->phase = PHASE_CALL;
    else if (place->phase == PHASE_CONTENT && a->said.n_calls == 0)
        place->phase = PHASE_FINISH;
    else
        place->phase++;
}

void encode_settle(const struct answer *a, struct encode_place *place)
{
    const struct buf *text;
    while ((text = phase_text(a, place)) && place->offset >= text->len)
        leave_phase(a, place);
}

/* The next piece of a text: so many tokens, cut where a character begins. */
static struct span next_piece(const struct buf *text, struct encode_place *place, int tokens)
{
    size_t from = place->offset, want = (size_t)tokens * ANSWER_TOKEN_BYTES;
    size_t to = text->len - from > want ? from + want : text->len;
    while (to < text->len && ((unsigned char)text->data[to] & 0xC0) == 0x80)
        to++;
    place->offset = to;
    place->said += to - from;
    return (struct span){text->data + from, to - from};
}

static void text_event(const struct answer *a, const struct encode_settings *s,
                       struct encode_place *place, struct buf *out)
{
    struct span piece = next_piece(phase_text(a, place), place, s->tokens_per_chunk);
    if (place->phase == PHASE_ARGS)
        write_call_args(s, place, &a->said.calls[place->call], piece, out);
    else
        write_text(s, place->phase == PHASE_CONTENT ? "content" : "reasoning_content", piece, out);
}

void encode_event(const struct answer *a, const struct encode_settings *s,
                  struct encode_place *place, struct buf *out)
{
    encode_settle(a, place);
    switch (place->phase) {
    case PHASE_ROLE: write_role(s, out); break;
    case PHASE_CALL: write_call_start(s, &a->said.calls[place->call], place->call, out); break;
    case PHASE_FINISH: write_finish(s, a->said.finish, out); break;
    case PHASE_USAGE:
        if (s->include_usage)
            write_usage_chunk(a, s, out);
        break;
    case PHASE_DONE: buf_adds(out, "data: [DONE]\n\n"); break;
    case PHASE_REASONING:
    case PHASE_CONTENT:
    case PHASE_ARGS: text_event(a, s, place, out); return;
    case PHASE_OVER:
    default: return;
    }
    leave_phase(a, place);
}

size_t encode_total(const struct answer *a)
{
    size_t total = a->said.reasoning.len + a->said.content.len;
    for (size_t i = 0; i < a->said.n_calls; i++)
        total += a->said.calls[i].args.len;
    return total;
}
