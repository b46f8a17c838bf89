/* transcript.h - what was said, for people: long texts cut to where something happens, damage
 * marked, hidden characters made visible. */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stddef.h>

#include "buf.h"

struct json;
struct report_style;

/* Bytes [from, to) of a text are damage. */
struct mark {
    size_t from, to;
};

struct transcript {
    const struct report_style *style;
    size_t context; /* bytes shown at both ends of a text and around each mark; 0 = all */
    struct buf *out;
};

/* Adds a text, each line behind four spaces, the marks in colour or between >>> and <<<. `marks` is
 * sorted and merged in place. */
void transcript_text(const struct transcript *t, struct span text, struct mark *marks,
                     size_t n_marks);

/* Adds the messages of a request's history: who, what, which calls. */
void transcript_messages(const struct transcript *t, const struct json *messages);

#endif
