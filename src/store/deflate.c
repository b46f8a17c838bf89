/* deflate.c - zlib for evidence. Speed before size: it runs on the thread that writes the database
 * while a load test is going on. The one home of zlib. */
#include "deflate.h"

#define ZLIB_CONST /* next_in is only read through */
#include <zlib.h>

/* Less than this is not worth a header. */
#define DEFLATE_MIN 200

bool deflate_pays(struct span bytes, struct buf *out)
{
    if (bytes.len < DEFLATE_MIN || bytes.len > INFLATE_MAX)
        return false;
    uLong bound = compressBound((uLong)bytes.len);
    buf_reserve(out, bound);
    uLongf len = bound;
    int rc = compress2((Bytef *)out->data, &len, (const Bytef *)bytes.data, (uLong)bytes.len,
                       Z_BEST_SPEED);
    if (rc != Z_OK || len > bytes.len - bytes.len / 10) {
        buf_release(out);
        return false;
    }
    out->len = len;
    out->data[len] = '\0';
    return true;
}

int deflate_undo(struct span bytes, struct buf *out)
{
    z_stream z = {0};
    if (bytes.len > INFLATE_MAX || inflateInit(&z) != Z_OK)
        return -1;
    z.next_in = (const Bytef *)bytes.data;
    z.avail_in = (uInt)bytes.len;
    size_t total = 0;
    int rc = Z_OK;
    while (rc == Z_OK) {
        Bytef chunk[16384];
        z.next_out = chunk;
        z.avail_out = sizeof chunk;
        rc = inflate(&z, Z_NO_FLUSH);
        size_t n = sizeof chunk - z.avail_out;
        total += n;
        if (total > INFLATE_MAX)
            rc = Z_MEM_ERROR;
        if (rc == Z_OK || rc == Z_STREAM_END)
            buf_add(out, chunk, n);
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END ? 0 : -1;
}
