/* paircase.h - replies as others keep them: saved bodies, and lines of a log that hold a request
 * and its response. Read into what a case file would have said of them. */
#ifndef PAIRCASE_H
#define PAIRCASE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "casefile.h"
#include "err.h"

struct json;

/* Where a log's line keeps what: member names joined by dots. NULL = the usual places. A member
 * whose own name holds the dots is found too. */
struct pair_fields {
    const char *request, *response, *status, *stream;
};

struct pair_options {
    struct pair_fields fields;
    /* Members of a case's `asked`, comma separated, no braces: they go before what a request
     * says. Checked by the caller: a wrong one makes every line wrong. */
    struct span asked;
    int status;   /* HTTP status where none is logged */
    size_t chunk; /* as in casefile_read() */
};

/* True if a line has a request, or a response as no case file has one. */
bool paircase_is(const struct json *line, const struct pair_fields *f);

/* Reads one line of a log. Tools, tool_choice, max_tokens and stream are the request's; a call is
 * due only where tool_choice demands one; c->prompt holds what the request's messages say. Request
 * and response may be objects, JSON text, or, for the response, an event stream as text or the
 * list of its events. c->id is NULL if the log has none. An error of status 2 says why the line
 * can't be used. */
int paircase_read(struct span line, const struct pair_options *o, struct casefile *c,
                  struct err *err) MUST_CHECK;

enum body_form { BODY_AS_SEEN, BODY_STREAMED, BODY_WHOLE };

/* Reads a response's body, of which `form` says what had been asked for. */
int paircase_body(struct span body, enum body_form form, const struct pair_options *o,
                  struct casefile *c, struct err *err) MUST_CHECK;

#endif
