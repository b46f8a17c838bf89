/* replydump.h - a reply as one text, without times and evidence: two replies are the same when
 * their dumps are. */
#ifndef REPLYDUMP_H
#define REPLYDUMP_H

#include <stdlib.h>

#include "buf.h"
#include "decode.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "reply.h"

static inline void dump_buf(struct buf *out, const char *name, const struct buf *b)
{
    buf_addf(out, "%s=%zu:", name, b->len);
    buf_add(out, buf_str(b), b->len);
    buf_addc(out, '\n');
}

static inline void dump_quirks(struct buf *out, quirk_set quirks)
{
    buf_adds(out, "quirks=");
    for (int q = 0; q < N_QUIRKS; q++)
        if (quirks >> q & 1)
            buf_addf(out, "%s ", quirk_name((enum quirk)q));
    buf_addc(out, '\n');
}

/* The caller's. */
static inline char *dump_reply(const struct reply *r)
{
    struct buf out = BUF_INIT;
    buf_addf(&out, "end=%d %s status=%d type=%s stream=%d\n", r->end, r->end_detail, r->status,
             r->content_type, r->stream);
    buf_addf(&out, "finish=%s done=%d choice=%d in_stream=%d unreadable=%d broken=%d\n", r->finish,
             r->done, r->has_choice, r->error_in_stream, r->body_unreadable, r->framing_broken);
    buf_addf(&out, "usage=%ld %ld %ld %ld events=%ld\n", r->usage.prompt_tokens,
             r->usage.completion_tokens, r->usage.cached_tokens, r->usage.reasoning_tokens,
             r->n_token_events);
    dump_buf(&out, "content", &r->content);
    dump_buf(&out, "reasoning", &r->reasoning);
    dump_buf(&out, "error", &r->error_text);
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct tool_call *call = &r->calls[i];
        buf_addf(&out, "call %ld conflict=%d\n", call->index, call->index_conflict);
        dump_buf(&out, " id", &call->id);
        dump_buf(&out, " name", &call->name);
        dump_buf(&out, " args", &call->args);
    }
    dump_quirks(&out, r->quirks);
    struct buf text = BUF_INIT; /* without NULs, so that it is one C string */
    for (size_t i = 0; i < out.len; i++) {
        if (out.data[i])
            buf_addc(&text, out.data[i]);
        else
            buf_adds(&text, "\\0");
    }
    buf_release(&out);
    return buf_take(&text);
}

/* What the bytes alone do not say. */
struct exchange_facts {
    bool stream;
    int status;
    const char *content_type;
    enum exchange_end end;
    struct wire_caps caps;
    const struct dialect *dialect; /* NULL = the default one */
};

/* Decodes the bytes in pieces that end at `cuts` (ascending offsets); then the rest. */
static inline void decode_pieces(const struct exchange_facts *f, struct span bytes,
                                 const size_t *cuts, size_t n_cuts, struct reply *r)
{
    reply_init(r);
    r->stream = f->stream;
    r->end = f->end;
    struct decoder *d = decoder_new(f->dialect ? f->dialect : dialect_default(), &f->caps, r);
    decoder_start(d, f->status, f->content_type);
    size_t at = 0;
    int rc = 0;
    for (size_t i = 0; i <= n_cuts && rc == 0; i++) {
        size_t to = i < n_cuts ? cuts[i] : bytes.len;
        /* a copy of its own, so that reading past the piece is seen by the sanitizer */
        char *piece = malloc(to - at + 1);
        if (!piece)
            abort();
        memcpy(piece, bytes.data + at, to - at);
        char *exact = realloc(piece, to - at ? to - at : 1);
        rc = decoder_feed(d, exact ? exact : piece, to - at, 0);
        free(exact ? exact : piece);
        at = to;
    }
    decoder_end(d);
    decoder_free(d);
}

/* The dump of bytes decoded in pieces of `chunk` bytes (0 = all at once). The caller's. */
static inline char *dump_chunked(const struct exchange_facts *f, struct span bytes, size_t chunk)
{
    size_t n = chunk && bytes.len ? (bytes.len - 1) / chunk : 0;
    size_t *cuts = calloc(n + 1, sizeof *cuts);
    if (!cuts)
        abort();
    for (size_t i = 0; i < n; i++)
        cuts[i] = (i + 1) * chunk;
    struct reply r;
    decode_pieces(f, bytes, cuts, n, &r);
    char *text = dump_reply(&r);
    reply_release(&r);
    free(cuts);
    return text;
}

#endif
