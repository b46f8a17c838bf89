/* evidence.h - what is kept of an answer as it came: header lines, body bytes, arrival times.
 * Inside wire only. */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct reply;

#define EVIDENCE_MAX_ARRIVALS 16384 /* arrival times kept; the last one takes in the rest */

/* Adds a header line as received. A status line begins the headers anew. */
void evidence_header(struct reply *r, struct span line);

/* Adds body bytes that were there at `now_us`. */
void evidence_body(struct reply *r, const char *data, size_t len, int64_t now_us);

/* Seconds of a Retry-After header, which may be a number or a date; -1 if `value` is neither. */
long evidence_retry_after(struct span value, int64_t wall_us);

#endif
