/* raw_string.h - strings of JSON as they stand between their quotes. Inside wire only. */
#ifndef RAW_STRING_H
#define RAW_STRING_H

#include <stdbool.h>

#include "accum.h"
#include "buf.h"

/* A string that stands in the event's bytes, or null, or not there. */
struct raw {
    enum piece_kind kind;
    struct span text;
    bool escaped;
};

/* Reads the string whose opening quote is at `at`. Returns where its closing quote ends, or NULL if
 * it is none, is cut, or holds an escape that can't stand for itself. */
const char *raw_string_read(const char *at, const char *end, struct raw *out);

/* The string's text: as it stands, or written out into `scratch`, which must have room for it: then
 * nothing moves. */
struct span raw_string_text(const struct raw *raw, struct buf *scratch);

#endif
