/* decode.h - bytes of a response to a struct reply, in any chunking.
 *
 * The reply is the same for every way of cutting the same bytes into chunks. */
#ifndef DECODE_H
#define DECODE_H

#include <stddef.h>
#include <stdint.h>

struct decoder;
struct dialect;
struct reply;
struct wire_caps;

/* Errors of a server come to r->error_text as plain text: the message first, then all other texts
 * and numbers of the error object as key=value, unescaped, so that markup in them can be found. */

/* Decodes into `r`, which is initialised, has `stream` set to what was asked for, and outlives the
 * decoder. Nothing is kept in r->raw: that is the caller's. */
struct decoder *decoder_new(const struct dialect *d, const struct wire_caps *caps, struct reply *r);
void decoder_free(struct decoder *d);

/* Call when status and content type are known, before the first byte. */
void decoder_start(struct decoder *d, int status, const char *content_type);

/* Takes bytes in. `now_us` stamps first_token_us and the gaps; 0 = no times. Returns -1 if a cap
 * was passed (r->end and end_detail are set): the caller should end the exchange. */
int decoder_feed(struct decoder *d, const char *data, size_t len, int64_t now_us);

/* No more bytes will come, for whatever reason; r->end is set by the caller. */
void decoder_end(struct decoder *d);

#endif
