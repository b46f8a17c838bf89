/* direct.c - peeks at what a socket holds and takes the whole chunks at its start. Peeking first is
 * what leaves the end of an answer to libcurl, so that it can use the connection again. */
#include "direct.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "http_multi.h"
#include "loop.h"

#define PEEK_BYTES 4096 /* a token's event is about 250 */

static void follow_no_more(struct direct *d)
{
    d->following = false;
    curl_easy_setopt(d->easy, CURLOPT_VERBOSE, 0L);
}

void direct_seen(struct direct *d, struct span bytes)
{
    if (!d->following)
        return;
    chunks_follow(&d->chunks, bytes);
    d->last_read = bytes.len;
    if (chunks_over(&d->chunks))
        follow_no_more(d);
}

static int on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *arg)
{
    (void)easy;
    if (type == CURLINFO_DATA_IN)
        direct_seen(arg, (struct span){data, size});
    return 0;
}

/* Takes whole chunks; false if there is something left for libcurl. */
static bool read_chunks(struct direct *d, int fd)
{
    char bytes[PEEK_BYTES];
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0 || n == sizeof bytes)
        return false;
    struct span payload, left = {bytes, (size_t)n};
    size_t whole = 0;
    for (size_t size; (size = chunks_whole(left, &payload)); whole += size)
        left = (struct span){left.data + size, left.len - size};
    if (!whole || recv(fd, bytes, whole, MSG_DONTWAIT) != (ssize_t)whole)
        return false;
    for (size_t at = 0; at < whole;) {
        at += chunks_whole((struct span){bytes + at, whole - at}, &payload);
        d->chunks.payload += payload.len;
        d->delivered += payload.len;
        if (!d->take(d->arg, payload))
            return true;
    }
    return left.len == 0;
}

/* A loop_ready. */
static void direct_ready(void *arg, int fd, unsigned what)
{
    struct direct *d = arg;
    struct http_multi *m = d->multi;
    bool may = d->following && what == LOOP_READ && d->last_read < PEEK_BYTES &&
               chunks_between(&d->chunks) && d->chunks.payload == d->delivered;
    if (!may || !read_chunks(d, fd))
        http_multi_ready(m, fd, what);
}

void direct_init(struct direct *d, CURL *easy, direct_take *take, void *arg)
{
    *d = (struct direct){.easy = easy, .take = take, .arg = arg, .fd = -1};
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, d);
}

void direct_start(struct direct *d, struct http_multi *m)
{
    follow_no_more(d);
    d->multi = m;
    d->fd = -1;
}

void direct_socket(struct direct *d, int fd)
{
    d->fd = fd;
}

/* The value of header `name` (with its colon) in `line`; no data if it is another header. */
static struct span value_of(struct span line, const char *name)
{
    size_t n = strlen(name);
    if (line.len < n || strncasecmp(line.data, name, n) != 0)
        return (struct span){0};
    struct span value = {line.data + n, line.len - n};
    while (value.len && strchr(" \t", value.data[0]))
        value.data++, value.len--;
    while (value.len && strchr(" \t\r\n", value.data[value.len - 1]))
        value.len--;
    return value;
}

void direct_header(struct direct *d, struct span line, bool plain)
{
    if (span_starts(line, "HTTP/"))
        d->chunked = d->other_coding = false;
    struct span transfer = value_of(line, "Transfer-Encoding:");
    if (transfer.data && transfer.len == 7 && strncasecmp(transfer.data, "chunked", 7) == 0)
        d->chunked = true;
    else if (transfer.data || value_of(line, "Content-Encoding:").data)
        d->other_coding = true;
    bool end = line.len <= 2;
    if (!end || !plain || !d->chunked || d->other_coding || d->fd < 0)
        return;
    d->chunks = (struct chunks){0};
    d->delivered = 0;
    d->last_read = 0;
    d->following = true;
    curl_easy_setopt(d->easy, CURLOPT_VERBOSE, 1L);
    loop_divert(d->multi->loop, d->fd, direct_ready, d);
}

void direct_delivered(struct direct *d, size_t n)
{
    d->delivered += n;
}

void direct_stop(struct direct *d)
{
    if (d->fd >= 0)
        loop_undivert(d->multi->loop, d->fd, d);
    d->fd = -1;
}
