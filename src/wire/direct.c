/* direct.c - peeks at what a socket or a TLS record holds and takes the whole chunks at its start.
 * Peeking first is what leaves the end of an answer to libcurl, so that it can use the connection
 * again. */
#include "direct.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "endpoint.h"
#include "http_multi.h"
#include "loop.h"
#include "tls.h"

#define PEEK_BYTES 16384 /* as libcurl reads, and a full TLS record */

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

/* How many bytes the whole chunks at the start of `text` take. */
static size_t whole_chunks(struct span text)
{
    struct span payload;
    size_t whole = 0;
    for (size_t size; (size = chunks_whole(text, &payload)); whole += size)
        text = (struct span){text.data + size, text.len - size};
    return whole;
}

/* What was read at once. */
struct reading {
    char text[PEEK_BYTES];
    size_t len;  /* of the whole chunks in it */
    bool rest;   /* something is left for libcurl */
    bool broken; /* which libcurl, asking the session again, might take for a pause */
};

/* What the socket holds, up to `cap` bytes; it stays there. */
static size_t peek(int fd, char *bytes, size_t cap)
{
    ssize_t n = recv(fd, bytes, cap, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 ? (size_t)n : 0;
}

/* Takes `n` bytes that were peeked from the socket, where the kernel can without copying them. */
static bool drop(int fd, char *bytes, size_t n)
{
    return recv(fd, bytes, n, MSG_DONTWAIT | MSG_TRUNC) == (ssize_t)n;
}

static void read_plain(int fd, struct reading *in)
{
    size_t n = peek(fd, in->text, sizeof in->text);
    size_t whole = whole_chunks((struct span){in->text, n});
    bool more = n == sizeof in->text; /* which the next turn takes */
    if (whole && drop(fd, in->text, whole))
        in->len = whole;
    in->rest = !in->len || (in->len < n && !more);
}

/* A record is taken as far as it holds whole chunks; what then stays in the session is libcurl's.
 */
static void read_records(struct tls *t, struct reading *in)
{
    while (!in->rest && !in->broken) {
        in->rest = in->len == sizeof in->text;
        if (in->rest)
            return;
        char *text = in->text + in->len;
        long n = tls_peek(t, text, sizeof in->text - in->len);
        if (n == TLS_NONE)
            return;
        size_t whole = n > 0 ? whole_chunks((struct span){text, (size_t)n}) : 0;
        in->broken = n == TLS_BROKEN || (whole && !tls_take(t, text, whole));
        in->rest = n == TLS_OVER || (n > 0 && whole < (size_t)n);
        in->len += in->broken ? 0 : whole;
    }
}

static void read_tls(struct direct *d, int fd, struct reading *in)
{
    char raw[PEEK_BYTES];
    size_t n = peek(fd, raw, sizeof raw);
    in->rest = !n || !tls_begin(d->tls, d->session, fd, (struct span){raw, n});
    if (in->rest)
        return;
    read_records(d->tls, in);
    size_t used = tls_end(d->tls);
    in->broken |= used && !drop(fd, raw, used);
}

/* Hands on what was read. False if the exchange is over, and `d` perhaps gone. */
static bool take_chunks(struct direct *d, const struct reading *in)
{
    struct span payload;
    for (size_t at = 0; at < in->len;) {
        at += chunks_whole((struct span){in->text + at, in->len - at}, &payload);
        d->chunks.payload += payload.len;
        d->delivered += payload.len;
        if (!d->take(d->arg, payload))
            return false;
    }
    return !in->broken || d->take(d->arg, (struct span){0});
}

/* A loop_ready. */
static void direct_ready(void *arg, int fd, unsigned what)
{
    struct direct *d = arg;
    struct http_multi *m = d->multi;
    struct reading in;
    in.len = 0;
    in.rest = in.broken = false;
    bool may = d->following && what == LOOP_READ && chunks_between(&d->chunks) &&
               d->chunks.payload == d->delivered;
    if (may && d->session)
        read_tls(d, fd, &in);
    else if (may)
        read_plain(fd, &in);
    bool goes_on = take_chunks(d, &in);
    if (!may || (goes_on && in.rest))
        http_multi_ready(m, fd, what);
}

/* Whether a proxy stands between, which may speak TLS itself, around the server's. */
static bool proxied(const struct endpoint *ep)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    if (ep->proxy)
        return ep->proxy[0];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return true;
    }
    return false;
}

bool direct_open(const struct endpoint *ep, struct tls **t)
{
    bool https = endpoint_speaks_tls(ep);
    *t = NULL;
    if (ep->through_libcurl || ep->http2)
        return false;
    if (https && !proxied(ep))
        *t = tls_new();
    return *t || !https;
}

void direct_init(struct direct *d, CURL *easy, struct tls *t, direct_take *take, void *arg)
{
    *d = (struct direct){.easy = easy, .tls = t, .take = take, .arg = arg, .fd = -1};
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, d);
}

void direct_start(struct direct *d, struct http_multi *m)
{
    follow_no_more(d);
    d->multi = m;
    d->fd = -1;
}

/* The headers may have come before the socket was watched: with the request, where a connection is
 * used again and the server is quick. */
static void divert(struct direct *d)
{
    if (d->following && d->fd >= 0)
        loop_divert(d->multi->loop, d->fd, direct_ready, d);
}

void direct_socket(struct direct *d, int fd)
{
    d->fd = fd;
    divert(d);
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

void direct_header(struct direct *d, struct span line, bool may)
{
    if (span_starts(line, "HTTP/"))
        d->chunked = d->other_coding = false;
    struct span transfer = value_of(line, "Transfer-Encoding:");
    if (transfer.data && transfer.len == 7 && strncasecmp(transfer.data, "chunked", 7) == 0)
        d->chunked = true;
    else if (transfer.data || value_of(line, "Content-Encoding:").data)
        d->other_coding = true;
    bool end = line.len <= 2;
    if (!end || !may || !d->chunked || d->other_coding)
        return;
    d->session = tls_session_of(d->tls, d->easy);
    if (d->tls && !d->session)
        return;
    d->chunks = (struct chunks){0};
    d->delivered = 0;
    d->following = true;
    curl_easy_setopt(d->easy, CURLOPT_VERBOSE, 1L);
    divert(d);
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
