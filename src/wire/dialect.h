/* dialect.h - how an API writes requests and answers. One row per API; what differs between servers
 * of one API is words in the row, not code. */
#ifndef DIALECT_H
#define DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "message.h"

struct json;

#define DIALECT_REASONING_FIELDS 4

struct chat_request {
    const char *model;
    struct span messages; /* the elements of the messages array, comma separated, as encoded */
    size_t *messages_end; /* if not NULL: set to where they end in the body's buffer, so that more
                             can be put there */
    struct span tools;    /* the tools array as JSON text; empty = none */
    const char *tool_choice; /* "auto", "none", "required", a tool's name, or NULL = not sent */
    bool stream;
    double temperature; /* < 0: not sent */
    long max_tokens;    /* 0: not sent */
    long long seed;     /* < 0: not sent */
    /* Members that replace ours, all but the messages, or join them; or NULL. */
    const struct json *extra_body;
};

struct dialect {
    const char *name;  /* "openai-chat" */
    const char *route; /* below the base URL: "/chat/completions" */
    /* Names that reasoning text comes under, the usual one first; NULL ends them. */
    const char *reasoning_fields[DIALECT_REASONING_FIELDS];
    /* Adds one message to an encoded history (with the comma, unless it is the first: then
     * nothing, or the bracket that opens the array, stands before it). */
    void (*message)(const struct message *m, struct buf *history);
    /* Adds the request body. */
    void (*request)(const struct chat_request *q, struct buf *out);
    /* See decode_ops.h: reads one event's JSON, or a whole body. */
    const struct decode_ops *decode;
};

const struct dialect *dialect_find(const char *name); /* NULL if unknown */
const struct dialect *dialect_default(void);

#endif
