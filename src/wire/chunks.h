/* chunks.h - the framing of a chunked body (RFC 9112, section 7.1): where the bytes so far end in
 * it, and the next whole chunk. Pure. Inside wire only. */
#ifndef CHUNKS_H
#define CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Follows a body from its first byte; zeroed to begin. */
struct chunks {
    uint64_t payload; /* bytes without framing so far */
    uint64_t left;    /* of the chunk that is open */
    unsigned char state, digits;
};

/* Takes in the body's next bytes, in any pieces. */
void chunks_follow(struct chunks *c, struct span bytes);

/* True where a chunk may begin: after none or after a whole one, not after the last. */
bool chunks_between(const struct chunks *c);

/* True after the last chunk's size line, and for good once the framing made no sense. */
bool chunks_over(const struct chunks *c);

/* The chunk at the start of `bytes`, if all of it is there in its plainest form (size, CRLF,
 * payload, CRLF) and it isn't the last: its payload, within `bytes`. Returns how many bytes it
 * takes with its framing, 0 if there is no such chunk. */
size_t chunks_whole(struct span bytes, struct span *payload);

#endif
