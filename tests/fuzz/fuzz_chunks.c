// layers: wire chat base
/* Any bytes: following them in pieces ends where following them whole does, and what is taken as a
 * whole chunk is one for who follows. */
#include "chunks.h"

#include <stdint.h>
#include <stdlib.h>

#include "fuzz.h"

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct chunks whole = {0}, pieces = {0};
    struct span bytes = {(const char *)data, len}, left = bytes, payload;
    chunks_follow(&whole, bytes);
    for (size_t at = 0, n = len % 7 + 1; at < len; at += n, n = n * 5 % 13 + 1)
        chunks_follow(&pieces, (struct span){bytes.data + at, n < len - at ? n : len - at});
    check(whole.payload == pieces.payload && whole.state == pieces.state);

    struct chunks c = {0};
    for (size_t n; (n = chunks_whole(left, &payload));) {
        uint64_t before = c.payload;
        check(payload.data > left.data && payload.data + payload.len < left.data + n);
        chunks_follow(&c, (struct span){left.data, n});
        check(chunks_between(&c) && c.payload - before == payload.len);
        left = (struct span){left.data + n, left.len - n};
    }
    chunks_follow(&c, left);
    check(c.payload == whole.payload && c.state == whole.state);
    return 0;
}
