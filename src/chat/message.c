/* message.c - the life of messages and tools. */
#include "message.h"

#include <stdlib.h>

#include "mem.h"
#include "reply.h"

const char *role_name(enum role r)
{
    static const char *const names[] = {"system", "user", "assistant", "tool"};
    return names[r];
}

void message_release(struct message *m)
{
    buf_release(&m->content);
    for (size_t i = 0; i < m->n_calls; i++) {
        free(m->calls[i].id);
        free(m->calls[i].name);
        free(m->calls[i].args);
    }
    free(m->calls);
    free(m->tool_call_id);
    free(m->tool_name);
    *m = (struct message){0};
}

void message_from_reply(struct message *m, const struct reply *r)
{
    *m = (struct message){.role = ROLE_ASSISTANT};
    buf_add(&m->content, buf_str(&r->content), r->content.len);
    m->n_calls = r->n_calls;
    m->calls = r->n_calls ? mem_zero(r->n_calls, sizeof *m->calls) : NULL;
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tool_call *c = &r->calls[i];
        m->calls[i].id = c->id.len ? mem_str(buf_str(&c->id)) : mem_printf("call_%zu", i);
        m->calls[i].name = mem_str(buf_str(&c->name));
        m->calls[i].args = mem_str(c->args.len ? buf_str(&c->args) : "{}");
    }
}

void tool_release(struct tool *t)
{
    free(t->name);
    free(t->definition);
    free(t->parameters);
    *t = (struct tool){0};
}
