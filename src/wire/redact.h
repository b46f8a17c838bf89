/* redact.h - texts and bytes of a server without what the user keeps secret (secrets.h). */
#ifndef REDACT_H
#define REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct endpoint;
struct redactor;
struct reply;

#define REDACT_PIECE 8 /* bytes of a secret that go from a text that may have been cut */

/* Whether `text` holds a secret, as it is or with JSON's escapes. */
bool redact_holds(const struct redactor *d, struct span text);

/* Writes '*' over every byte of every secret, as it is or with JSON's escapes: no other byte
 * moves. */
void redact_bytes(const struct redactor *d, char *data, size_t len);

/* The same for a short text that may have been cut within a secret: pieces go, too. */
void redact_pieces(const struct redactor *d, char *text);

/* The same for the bytes of an answer and for its texts about itself; for `raw` also where a secret
 * came in pieces, one event after the other. The decoded message stays as it is, so that it is
 * judged as it came: whoever keeps a part of it redacts that. */
void redact_reply(const struct redactor *d, const struct endpoint *ep, struct reply *r);

/* The same for the decoded message. */
void redact_message(const struct redactor *d, struct reply *r);

#endif
