// layers: wire chat base
/* Any bytes, whole and in pieces whose lengths the first byte makes up, give the same events. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fuzz.h"
#include "sse.h"

static void note(void *arg, const struct sse_event *e)
{
    struct buf *out = arg;
    buf_addf(out, "%d%d %zu:", e->unfinished, e->stray, e->type.len);
    buf_add(out, e->type.data, e->type.len);
    buf_add(out, e->data.data, e->data.len);
    buf_addc(out, '\n');
}

static void feed(const uint8_t *data, size_t len, unsigned step, struct buf *out)
{
    struct sse s;
    sse_init(&s, 300, note, out);
    int rc = 0;
    for (size_t at = 0, n; at < len && rc == 0; at += n) {
        n = step ? 1 + step % 7 : len;
        step = step * 5 + 3;
        n = n < len - at ? n : len - at;
        char *piece = malloc(n);
        if (!piece)
            abort();
        memcpy(piece, data + at, n);
        rc = sse_feed(&s, piece, n);
        free(piece);
    }
    if (rc == 0)
        rc = sse_end(&s);
    /* what a line that passes the cap leaves of its habits is nobody's */
    buf_addf(out, "end %d %llx", rc, rc ? 0 : s.quirks);
    sse_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct buf whole = BUF_INIT, pieces = BUF_INIT;
    if (!len)
        return 0;
    feed(data + 1, len - 1, 0, &whole);
    feed(data + 1, len - 1, data[0] + 1u, &pieces);
    if (whole.len != pieces.len || memcmp(whole.data, pieces.data, whole.len) != 0)
        abort();
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
