/* stream.h - one answer on its way: paced, cut into pieces, ended well or badly. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct encode_settings;
struct evhttp_request;
struct ledger_line;
struct loop;

struct stream_order {
    struct answer *answer; /* emptied by stream_start() */
    const struct encode_settings *encode;
    bool stream;
    uint64_t dice;                    /* for jitter and splitting */
    const struct ledger_line *damage; /* that the answer carries, or NULL; its texts but `scenario`
                                         and `boot` are the server's */
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
