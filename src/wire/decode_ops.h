/* decode_ops.h - how a dialect reads answers: the column of its row behind struct dialect's
 * `decode`. Inside wire only. */
#ifndef DECODE_OPS_H
#define DECODE_OPS_H

#include <stdbool.h>

#include "buf.h"

struct accum;
struct json;

struct decode_ops {
    /* Reads one event of a stream, or one whole body (a->whole). False if it holds neither a part
     * of an answer, nor an error, nor anything else that this API sends. */
    bool (*read)(struct accum *a, const struct json *v);

    /* Reads an event's text without a tree. False, with nothing touched, if anything in it is not
     * of the plainest form: then read() has to. */
    bool (*read_fast)(struct accum *a, struct span text);
};

extern const struct decode_ops decode_openai;

/* The read_fast of decode_openai. */
bool decode_fast_event(struct accum *a, struct span text);

#endif
