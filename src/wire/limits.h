/* limits.h - the time limits of one exchange: which is the next, and which has passed. Inside wire
 * only. */
#ifndef LIMITS_H
#define LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "reply.h"

struct endpoint;

/* How far an exchange is. Times in microseconds; 0 = not yet. */
struct limit_times {
    int64_t start_us;      /* of the exchange, its repeat included */
    int64_t sent_us;       /* of the attempt that runs */
    int64_t first_byte_us; /* of the body */
    int64_t last_byte_us;
    int64_t done_at_us; /* when a stream said [DONE] */
    bool connected;
};

#define LIMITS_DONE_GRACE_US 2000000 /* a stream may stay open after [DONE] for so long */

/* The earliest moment at which a limit can pass; INT64_MAX if none can. */
int64_t limits_next(const struct endpoint *ep, const struct limit_times *t);

/* True if one has passed: `end` and `detail` say which. END_CLEAN: the stream stayed
 * open after [DONE]. */
bool limits_passed(const struct endpoint *ep, const struct limit_times *t, int64_t now_us,
                   enum exchange_end *end, char detail[80]);

#endif
