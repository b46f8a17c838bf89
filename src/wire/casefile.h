/* casefile.h - labelled replies: one JSON object a line, as `toolstorm judge` reads them. */
#ifndef CASEFILE_H
#define CASEFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"
#include "expect.h"
#include "reply.h"

struct json;

struct casefile {
    char *id;
    struct expect expect;
    struct reply reply;
    bool has_expectation; /* the case says what the verdict should be */
    char *want_class;
    char **want_reasons; /* the primary reason is one of these; empty = any */
    size_t n_want_reasons;
    struct buf prompt;   /* of a logged pair: what its messages say, the assistant's left out */
    struct json *source; /* owns what `expect` borrows */
    void *owned;         /* further memory behind `expect` */
};

/* Reads one case. A wrong field is an error of status 2 that names it ("'asked.tools[0]' must be
 * ..."). `chunk` is how many bytes of a raw response are decoded at a time (0 = all at once), for
 * tests of chunking. */
int casefile_read(struct span json, size_t chunk, struct casefile *c, struct err *err) MUST_CHECK;
void casefile_release(struct casefile *c);

/* Decodes c->reply.raw into the rest of c->reply, whose `stream` and `end` are set. */
void casefile_decode(struct casefile *c, size_t chunk, int status, const char *content_type);

#endif
