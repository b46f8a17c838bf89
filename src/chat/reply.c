/* reply.c - the life of a struct reply. */
#include "reply.h"

#include <stdlib.h>

#include "mem.h"

void reply_init(struct reply *r)
{
    *r = (struct reply){.retry_after_s = -1,
                        .usage = {.prompt_tokens = -1,
                                  .completion_tokens = -1,
                                  .cached_tokens = -1,
                                  .reasoning_tokens = -1}};
}

void reply_release(struct reply *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        buf_release(&r->calls[i].id);
        buf_release(&r->calls[i].name);
        buf_release(&r->calls[i].args);
    }
    free(r->calls);
    free(r->arrivals);
    buf_release(&r->content);
    buf_release(&r->reasoning);
    buf_release(&r->error_text);
    buf_release(&r->raw);
    buf_release(&r->headers);
    reply_init(r);
}

struct tool_call *reply_add_call(struct reply *r)
{
    r->calls = mem_grow(r->calls, &r->calls_cap, r->n_calls, sizeof *r->calls);
    struct tool_call *call = &r->calls[r->n_calls++];
    *call = (struct tool_call){.index = -1};
    return call;
}

struct span reply_channel(const struct reply *r, enum channel channel, int call)
{
    const struct tool_call *c = call >= 0 && (size_t)call < r->n_calls ? &r->calls[call] : NULL;
    switch (channel) {
    case CHANNEL_content: return buf_span(&r->content);
    case CHANNEL_reasoning:
    case CHANNEL_boundary: return buf_span(&r->reasoning);
    case CHANNEL_name: return c ? buf_span(&c->name) : span_of("");
    case CHANNEL_args: return c ? buf_span(&c->args) : span_of("");
    case CHANNEL_id: return c ? buf_span(&c->id) : span_of("");
    case CHANNEL_error: return buf_span(&r->error_text);
    case CHANNEL_finish: return span_of(r->finish);
    case CHANNEL_calls:
    case CHANNEL_transport:
    case N_CHANNELS: break;
    }
    return span_of("");
}

bool reply_complete(const struct reply *r)
{
    return r->done || r->finish[0];
}
