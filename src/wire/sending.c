/* sending.c - libcurl sends a body in one piece by itself, a short one along with its headers; one
 * in two pieces it asks for, and may ask for again on another connection. */
#include "sending.h"

#include <stdio.h>

/* Copies what of `piece`, which begins at `start` of the body, is at `at`, as far as there is room.
 */
static size_t copy(struct span piece, size_t start, size_t at, char *to, size_t room)
{
    if (at < start || at >= start + piece.len)
        return 0;
    size_t left = start + piece.len - at;
    size_t n = left < room ? left : room;
    memcpy(to, piece.data + (at - start), n);
    return n;
}

static size_t on_read(char *to, size_t size, size_t n, void *arg)
{
    struct sending *s = arg;
    size_t room = size * n;
    size_t first = copy(s->body.shared, 0, s->sent, to, room);
    size_t then = copy(s->body.own, s->body.shared.len, s->sent + first, to + first, room - first);
    s->sent += first + then;
    return first + then;
}

static int on_seek(void *arg, curl_off_t offset, int origin)
{
    struct sending *s = arg;
    if (origin != SEEK_SET || offset < 0)
        return CURL_SEEKFUNC_CANTSEEK;
    s->sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

void sending_init(struct sending *s, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, s);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, s);
}

void sending_set(struct sending *s, CURL *easy, struct http_body body)
{
    s->body = body;
    curl_off_t len = (curl_off_t)(body.shared.len + body.own.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.shared.len ? NULL : body.own.data);
}

void sending_begin(struct sending *s)
{
    s->sent = 0;
}
