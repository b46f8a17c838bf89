/* stream.h - one answer on its way: paced, cut into pieces, ended well or badly. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "answer.h"
#include "encode.h"
#include "ledger.h"

struct evhttp_connection;
struct evhttp_request;
struct loop;

struct stream_order {
    struct answer answer; /* emptied by stream_start() */
    struct encode_settings encode;
    bool stream;
    uint64_t dice; /* for jitter and splitting */

    /* The damage that this answer carries; borrowed from the server but for `scenario`. */
    bool damaged;
    struct ledger_line line;
};

/* Answers the request from the loop's thread. The line goes to the ledger just before the first
 * byte that makes the reply a damaged one is handed to the socket: before the finish reason, the
 * whole body, the close, the silence. A client that has left by then is not in the ledger. */
void stream_start(struct loop *loop, struct evhttp_request *req, struct stream_order *order);

/* Answers a request that is no chat with a short body. `type` is a content type. */
void stream_plain(struct loop *loop, struct evhttp_request *req, int status, const char *type,
                  const char *body, size_t len);

/* Call for every request, before it is answered: counts it on its connection. */
void stream_note(struct loop *loop, struct evhttp_request *req);

#endif
