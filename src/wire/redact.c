/* redact.c - finds secrets in bytes that a server sent. It knows how they are written in JSON and
 * over several events of a stream, and decides nothing but which bytes must go. */
#include "redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "endpoint.h"
#include "reply.h"
#include "secrets.h"

#define GAP_BYTES (64u << 10) /* between two pieces of a secret in a stream */
#define MAX_DEPTH 2
#define MAX_WORK  (64u << 20) /* bytes looked at for pieces; who makes us look at more loses all */

/* --- one secret at one place --- */

/* Bytes on their way over a text in which a secret may stand. */
struct walk {
    char *data;
    size_t len;
    bool gaps; /* go on in the next event's string */
    int depth; /* of strings of JSON: 1, or 2 in the arguments of a call */
    size_t *work;
};

/* The byte that four hexadecimal digits at `at` name; -1 if they are none or name none of ASCII. */
static int hex_byte(const struct walk *w, size_t at)
{
    char hex[5] = {0}, *end;
    if (at + 4 > w->len)
        return -1;
    memcpy(hex, w->data + at, 4);
    long code = strtol(hex, &end, 16);
    return end != hex + 4 || code > 0x7F ? -1 : (int)code;
}

/* The byte meant at `at`, and in *n how many bytes it takes, in JSON within so many strings of
 * JSON. */
static int byte_at(const struct walk *w, size_t at, int depth, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    *n = 1;
    if (at >= w->len)
        return -1;
    if (depth == 0)
        return (unsigned char)w->data[at];
    int byte = byte_at(w, at, depth - 1, n);
    if (byte != '\\')
        return byte;
    size_t more, first = *n;
    int kind = byte_at(w, at + first, depth - 1, &more);
    const char *simple = kind > 0 ? strchr(from, kind) : NULL;
    if (simple) {
        *n = first + more;
        return (unsigned char)to[simple - from];
    }
    int code = kind == 'u' ? hex_byte(w, at + first + more) : -1;
    if (code >= 0)
        *n = first + more + 4;
    return code >= 0 ? code : byte;
}

/* Where the string begins that the byte at `at` is in: its opening quote, or -1. */
static long opening(const struct walk *w, size_t at)
{
    for (size_t i = at; i-- > 0 && at - i < GAP_BYTES;)
        if (w->data[i] == '"' && (i == 0 || w->data[i - 1] != '\\'))
            return (long)i;
    return -1;
}

/* The member's name with its quotes, given its value's opening quote; empty if there is none. */
static struct span name_before(const struct walk *w, size_t quote)
{
    size_t end = quote;
    while (end > 0 && strchr(" \t:", w->data[end - 1]) && w->data[end - 1])
        end--;
    if (end < 2 || end == quote || w->data[end - 1] != '"')
        return (struct span){"", 0};
    long from = opening(w, end - 1);
    return from < 0 ? (struct span){"", 0} : (struct span){w->data + from, end - (size_t)from};
}

/* The first byte of the next string that is the value of a member of that name, or -1. */
static long next_string(const struct walk *w, struct span name, size_t from)
{
    size_t stop = w->len - from > GAP_BYTES ? from + GAP_BYTES : w->len;
    struct span text = {w->data, stop};
    for (long hit; name.len && (hit = span_find(text, name, from)) >= 0;) {
        size_t at = (size_t)hit + name.len;
        while (at < stop && w->data[at] && strchr(" \t:", w->data[at]))
            at++;
        if (at < stop && w->data[at] == '"')
            return (long)at + 1;
        from = (size_t)hit + name.len;
    }
    return -1;
}

/* From the closing quote at `at` to the next piece of the string that byte `start` is in. */
static long over_gap(const struct walk *w, size_t start, size_t at)
{
    if (!w->gaps || *w->work > MAX_WORK)
        return -1;
    long quote = opening(w, start);
    long next = quote < 0 ? -1 : next_string(w, name_before(w, (size_t)quote), at + 1);
    *w->work += next < 0 ? GAP_BYTES : (size_t)next - at + (start - (size_t)quote);
    return next;
}

/* Whether the secret stands at `start`; *end is where it ends. With `paint` it is written over. */
static bool stands(const struct walk *w, struct span secret, size_t start, bool paint, size_t *end)
{
    size_t at = start;
    for (size_t k = 0; k < secret.len;) {
        size_t n = 1;
        int byte = byte_at(w, at, w->depth, &n);
        if (byte < 0)
            return false;
        bool closes = k > 0 && w->gaps && w->data[at] == '"';
        if (byte == (unsigned char)secret.data[k] && !closes) {
            if (paint)
                memset(w->data + at, '*', n);
            at += n;
            k++;
            continue;
        }
        long next = closes ? over_gap(w, start, at) : -1;
        if (next < 0)
            return false;
        at = (size_t)next;
    }
    *end = at;
    return true;
}

/* --- all secrets in a text --- */

/* No JSON writer escapes such a byte. */
static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool is_all_plain(struct span secret)
{
    size_t n = 0;
    while (n < secret.len && is_plain(secret.data[n]))
        n++;
    return n == secret.len;
}

/* Where the secret could begin, from `at` on; w->len if nowhere. */
static size_t candidate(const struct walk *w, char first, size_t at)
{
    if (is_plain(first)) {
        const char *hit = memchr(w->data + at, first, w->len - at);
        return hit ? (size_t)(hit - w->data) : w->len;
    }
    while (at < w->len && w->data[at] != first && w->data[at] != '\\')
        at++;
    return at;
}

static bool walk_over(const struct walk *w, struct span secret, bool paint)
{
    if (!w->gaps && is_all_plain(secret))
        return false; /* as it is, it was looked for */
    bool found = false;
    for (size_t at = candidate(w, secret.data[0], 0); at < w->len;) {
        size_t end;
        if (stands(w, secret, at, false, &end)) {
            found = true;
            if (!paint)
                break;
            stands(w, secret, at, true, &end);
        }
        at = candidate(w, secret.data[0], at + 1);
    }
    return found;
}

static void paint_plain(struct span secret, char *data, size_t len)
{
    for (long hit = 0; (hit = span_find((struct span){data, len}, secret, (size_t)hit)) >= 0;)
        memset(data + hit, '*', secret.len);
}

bool redact_holds(const struct redactor *d, struct span text)
{
    size_t work = 0;
    struct buf copy = BUF_INIT; /* nothing is painted; a walk wants bytes that may be */
    bool held = false;
    if (d->n)
        buf_add(&copy, text.data, text.len);
    struct walk w = {.data = copy.data, .len = copy.len, .work = &work};
    for (size_t i = 0; i < d->n && copy.len && !held; i++) {
        held = span_find(text, d->secrets[i], 0) >= 0;
        for (w.depth = 1; w.depth <= MAX_DEPTH && !held; w.depth++)
            held = walk_over(&w, d->secrets[i], false);
    }
    buf_release(&copy);
    return held;
}

static void paint(const struct redactor *d, char *data, size_t len, bool gaps)
{
    size_t work = 0;
    struct walk w = {.data = data, .len = len, .gaps = gaps, .work = &work};
    for (size_t i = 0; i < d->n && len; i++) {
        paint_plain(d->secrets[i], data, len);
        for (w.depth = 1; w.depth <= MAX_DEPTH; w.depth++)
            walk_over(&w, d->secrets[i], true);
    }
}

void redact_bytes(const struct redactor *d, char *data, size_t len)
{
    paint(d, data, len, false);
}

/* How many bytes of the secret, from whatever place in it, stand at `text`. */
static size_t piece_at(struct span secret, const char *text)
{
    size_t most = 0;
    for (size_t from = 0; from < secret.len; from++) {
        size_t n = 0;
        while (from + n < secret.len && text[n] && text[n] == secret.data[from + n])
            n++;
        most = n > most ? n : most;
    }
    return most;
}

void redact_pieces(const struct redactor *d, char *text)
{
    redact_bytes(d, text, strlen(text));
    for (size_t i = 0; i < d->n; i++)
        for (char *at = text; *at;) {
            size_t n = piece_at(d->secrets[i], at);
            if (n >= REDACT_PIECE)
                memset(at, '*', n);
            at += n >= REDACT_PIECE ? n : 1;
        }
}

static void paint_buf(const struct redactor *d, struct buf *b)
{
    if (b->len)
        redact_bytes(d, b->data, b->len);
}

/* --- answers --- */

static bool message_holds(const struct redactor *d, const struct reply *r)
{
    bool held = redact_holds(d, buf_span(&r->content)) ||
                redact_holds(d, buf_span(&r->reasoning)) ||
                redact_holds(d, buf_span(&r->error_text)) || redact_holds(d, span_of(r->finish));
    for (size_t i = 0; i < r->n_calls && !held; i++)
        held = redact_holds(d, buf_span(&r->calls[i].id)) ||
               redact_holds(d, buf_span(&r->calls[i].name)) ||
               redact_holds(d, buf_span(&r->calls[i].args));
    return held;
}

/* Whether what is left of the bytes can still be read as a secret. */
static bool reads_back(const struct redactor *d, const struct endpoint *ep, const struct reply *r)
{
    struct reply again;
    reply_init(&again);
    again.stream = r->stream;
    struct decoder *decoder = decoder_new(ep->dialect, &ep->caps, &again);
    decoder_start(decoder, r->status, r->content_type);
    decoder_feed(decoder, r->raw.data, r->raw.len, 0);
    decoder_end(decoder);
    bool held = message_holds(d, &again);
    decoder_free(decoder);
    reply_release(&again);
    return held;
}

void redact_reply(const struct redactor *d, const struct endpoint *ep, struct reply *r)
{
    if (!d->n)
        return;
    bool held = message_holds(d, r);
    if (r->raw.len) {
        paint(d, r->raw.data, r->raw.len, held);
        if (held && reads_back(d, ep, r))
            memset(r->raw.data, '*', r->raw.len);
    }
    paint_buf(d, &r->headers);
    paint_buf(d, &r->error_text);
    redact_pieces(d, r->end_detail);
    redact_pieces(d, r->content_type);
}

void redact_message(const struct redactor *d, struct reply *r)
{
    if (!d->n)
        return;
    paint_buf(d, &r->content);
    paint_buf(d, &r->reasoning);
    redact_pieces(d, r->finish);
    for (size_t i = 0; i < r->n_calls; i++) {
        paint_buf(d, &r->calls[i].id);
        paint_buf(d, &r->calls[i].name);
        paint_buf(d, &r->calls[i].args);
    }
}
