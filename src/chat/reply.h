/* reply.h - one answer of the endpoint, as far as it came, and how the exchange went.
 *
 * wire fills it in, judge reads it, load stores it. Nothing here is a verdict. */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "words.h"

/* How the exchange ended, seen from the transport. */
enum exchange_end {
    END_CLEAN,       /* the server ended it as HTTP wants */
    END_CONNECT,     /* no connection: refused, unreachable, no such host, proxy refused */
    END_TLS,         /* handshake or certificate */
    END_CUT,         /* reset, or closed before the HTTP message was complete */
    END_STALL_FIRST, /* no byte within the first-byte limit */
    END_STALL_IDLE,  /* no byte within the idle limit after the first */
    END_TIMEOUT,     /* the round's limit */
    END_TOO_LARGE,   /* passed a cap; `end_detail` says which */
    END_PROTOCOL,    /* what came is not HTTP, or HTTP that can't be followed */
    END_CANCELLED    /* we stopped it: Ctrl-C, or the run was decided */
};

struct tool_call {
    struct buf id, name, args; /* args as text; an object is serialised once */
    long index;                /* as sent; -1 if none was */
    bool index_conflict;       /* a second id or name came on an index in use: this is the second */
};

struct usage {
    long prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens; /* -1 = not said */
};

/* Bytes of `raw` up to `offset` were there at `at_us`. */
struct arrival {
    size_t offset;
    int64_t at_us;
};

/* Body bytes that are kept in `raw` of one reply; what comes beyond is decoded all the same. */
#define REPLY_MAX_RAW (16u << 20)

struct reply {
    /* transport */
    enum exchange_end end;
    char end_detail[160]; /* a short text without secrets: "reset by peer", "line cap 16777216" */
    int status;           /* HTTP status, 0 if none came */
    char content_type[80];
    bool reused;        /* the connection had carried an exchange before */
    bool stream;        /* what was asked for */
    int retries;        /* connection-level repeats before this answer (0 or 1) */
    long retry_after_s; /* -1 if the header did not come */

    /* decoded */
    struct buf content, reasoning;
    struct tool_call *calls;
    size_t n_calls, calls_cap;
    char finish[32];       /* the first finish reason that was not null; "" if none came */
    bool done;             /* [DONE] was seen, or the JSON body was whole */
    bool has_choice;       /* some choice or message was understood */
    struct buf error_text; /* the error object or body as text; empty if none came */
    bool error_in_stream;  /* it came inside a stream that had started with 200 */
    bool body_unreadable;  /* not JSON / not an event stream / HTML */
    bool framing_broken;   /* an event whose data is not JSON, in an otherwise readable stream */
    struct usage usage;
    quirk_set quirks;

    /* times, clock_mono_us(); 0 = never happened */
    int64_t scheduled_us, sent_us, first_byte_us, first_token_us, last_token_us, done_us;
    long n_token_events; /* events that carried text or call pieces */
    int64_t max_gap_us;  /* longest pause between two of them */
    int64_t max_late_us; /* worst lateness of our own handling within this exchange */

    /* evidence */
    struct buf raw;     /* the body as received, after content decoding */
    struct buf headers; /* response headers as received, Set-Cookie and the like left out */
    struct arrival *arrivals;
    size_t n_arrivals, arrivals_cap;
};

void reply_init(struct reply *r);    /* a reply to which nothing has come yet */
void reply_release(struct reply *r); /* frees; the struct may be initialised again */

/* A new call at the end of the list. The pointer is valid until the next call is added. */
struct tool_call *reply_add_call(struct reply *r);

/* The text of a channel, of call number `call` where the channel is a call's; empty if there is
 * none. */
struct span reply_channel(const struct reply *r, enum channel channel, int call);

/* True if the stream or body was complete: [DONE] or a finish reason came and no transport failure
 * before that. */
bool reply_complete(const struct reply *r);

#endif
