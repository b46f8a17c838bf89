/* zone.h - which bytes of a text show something instead of saying it: code, quotes. */
#ifndef ZONE_H
#define ZONE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

enum zone {
    ZONE_PROSE,
    ZONE_FENCE,
    ZONE_INDENT, /* indented code behind a blank line */
    ZONE_INLINE, /* between equal runs of back-ticks on one line */
    ZONE_BLOCKQUOTE,
    ZONE_QUOTE /* between double quotes on one line */
};

struct zones {
    unsigned char *of;      /* one enum zone per byte */
    bool whole_fence;       /* the text is nothing but one fence */
    struct span fence_info; /* its info string; borrowed from the text */
};

/* Reads a folded text, in Markdown's terms. Linear. */
void zones_init(struct zones *z, struct span text);
void zones_release(struct zones *z);

const char *zone_name(enum zone z);

#endif
