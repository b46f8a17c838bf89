/* pair_request.h - a logged chat request as the `asked` of a case. Inside wire only. */
#ifndef PAIR_REQUEST_H
#define PAIR_REQUEST_H

#include "buf.h"
#include "err.h"

struct json;

/* Bytes of messages that are looked at for markup; the rest of a longer prompt is not. */
#define PAIR_MAX_PROMPT (8u << 20)

/* Adds members of a case's `asked`, each behind a comma, and to `prompt` what the messages say that
 * are not the assistant's: a leak of its own in the history excuses nothing. Tools of other kinds
 * than functions are taken by their names. -1 if it is no chat request. */
int pair_request_read(const struct json *request, struct buf *asked, struct buf *prompt,
                      struct err *err) MUST_CHECK;

#endif
