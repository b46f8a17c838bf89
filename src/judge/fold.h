/* fold.h - a text in which look-alike characters are ASCII, and the way back to its own offsets. */
#ifndef FOLD_H
#define FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct fold {
    struct span text; /* what patterns see; the raw text itself if nothing had to change */
    char *own;        /* its memory, or NULL */
    uint32_t *map;    /* raw offset of each byte of text, and of its end; NULL: the same */
};

/* Texts beyond this are folded up to here; the rest is not searched for markup. */
#define FOLD_MAX (64u << 20)

/* Look-alike bars, brackets, slashes, blanks and quotes become ASCII, U+2581 and "\_" become '_',
 * characters without width vanish. With `escapes` the text is JSON: escape sequences are resolved
 * as well. Borrows `raw`. Bytes that are no UTF-8 stay. The first `plain` bytes are known to be
 * ASCII without a backslash; 0 will always do. */
void fold_init(struct fold *f, struct span raw, size_t plain, bool escapes);
void fold_release(struct fold *f);

/* Raw offset of the folded offset `at` (at most text.len). */
size_t fold_raw(const struct fold *f, size_t at);

/* Folded offset of the raw offset `at`, or of the next one that was kept. */
size_t fold_at(const struct fold *f, size_t at);

#endif
