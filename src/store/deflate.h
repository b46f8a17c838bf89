/* deflate.h - evidence made small, and read again. */
#ifndef DEFLATE_H
#define DEFLATE_H

#include <stdbool.h>

#include "buf.h"

/* Puts the zlib form of `bytes` into `out`, which is empty, and returns true if that saves at least
 * a tenth; else false, and `out` is left empty. */
bool deflate_pays(struct span bytes, struct buf *out);

/* Adds what deflate_pays() was given. -1 if `bytes` is no zlib stream, or holds more than
 * INFLATE_MAX. */
int deflate_undo(struct span bytes, struct buf *out);

/* Far above what one exchange can leave behind; a hostile file can't ask for more. */
#define INFLATE_MAX (256ul << 20)

#endif
