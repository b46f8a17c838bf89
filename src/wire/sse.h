/* sse.h - an event stream by the rules of the WHATWG, in any chunking. Inside wire only. */
#ifndef SSE_H
#define SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "words.h"

struct sse_event {
    struct span type; /* of the `event:` field; empty if there was none */
    struct span data; /* the data lines, joined by LF */
    bool unfinished;  /* the bytes ended before the event's blank line */
    bool stray;       /* no event: one JSON object on a line without a field name */
};

/* Spans in `e` live until the call returns. */
typedef void sse_handler(void *arg, const struct sse_event *e);

struct sse {
    sse_handler *handler;
    void *arg;
    size_t cap;       /* most bytes of one line, and of one event's data */
    quirk_set quirks; /* what was seen so far */
    long n_fields;    /* lines that are a field or a comment */
    long n_stray;     /* lines that are neither */

    /* private */
    struct buf line;      /* the start of a line whose end has not come */
    struct buf data;      /* data lines of the event, unless `borrowed` */
    struct span borrowed; /* the event's only data line, inside the bytes being fed */
    char type[32];        /* longer names are cut: none that matters is longer */
    size_t type_len;
    long n_data;
    bool after_cr, past_first;
};

void sse_init(struct sse *s, size_t cap, sse_handler *handler, void *arg);
void sse_release(struct sse *s);

/* Takes bytes in and calls the handler for every event that they complete. -1 if a line or an
 * event's data passes the cap; what was complete before has been handled, nothing may follow. */
int sse_feed(struct sse *s, const char *data, size_t len);

/* No more bytes: a last event that lacks its line end or blank line is handed out as `unfinished`,
 * which browsers would not do and clients of this API do. */
int sse_end(struct sse *s);

#endif
