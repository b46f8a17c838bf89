/* message.h - what is said: messages and the tools on offer. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>

#include "buf.h"

struct reply;
struct tool_call;

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

const char *role_name(enum role r);

/* A call as it stands in the history. */
struct said_call {
    char *id, *name, *args;
};

struct message {
    enum role role;
    struct buf content;      /* may hold any UTF-8 */
    struct said_call *calls; /* assistant only */
    size_t n_calls;
    char *tool_call_id, *tool_name; /* tool only; else NULL */
};

void message_release(struct message *m);

/* The assistant message that `r` adds to the history. */
void message_from_reply(struct message *m, const struct reply *r);

/* A tool on offer. */
struct tool {
    char *name;
    char *definition; /* the OpenAI form {"type":"function",...} as JSON text, byte for byte */
    char *parameters; /* the JSON Schema inside it, as JSON text; NULL if there is none */
};

void tool_release(struct tool *t);

#endif
