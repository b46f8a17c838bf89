/* accum.h - pieces of an answer, as any framing and dialect bring them, to a struct reply. Inside
 * wire only.
 *
 * All texts come in the loose form of json_parse() and are put right here. */
#ifndef ACCUM_H
#define ACCUM_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "reply.h"

struct dialect;
struct json;

#define ACCUM_MAX_CALLS  1024        /* calls of one reply */
#define ACCUM_MAX_ERRORS (64 * 1024) /* bytes of error text kept */

/* Follows the brackets of a call's arguments as they come. */
struct args_scan {
    int depth;
    bool in_string, escaped;
    bool closed;    /* a whole object has come */
    bool restarted; /* and something else than white space behind it */
};

struct call_state {
    struct args_scan scan;
    long n_pieces;
    unsigned long last_event; /* the event that brought the last piece */
};

struct accum {
    const struct dialect *dialect;
    struct reply *r;
    bool whole;          /* one JSON body: every call in it is a new one */
    bool token;          /* set by any text or call piece; the reader of it clears it */
    bool too_many;       /* calls beyond the cap came */
    unsigned long event; /* the number of the event being read */
    struct buf scratch;  /* for whoever reads an event */
    struct buf prefix;   /* likewise, from one event to the next */
    struct buf mould;    /* likewise: what the last event meant but for one text, */
    struct buf around;   /* the bytes before and behind that text, */
    size_t around_split; /* and how many stood before */

    /* private */
    struct call_state *calls;
    size_t calls_cap;
    bool role_seen, usage_seen, choices_seen, delta_seen, surrogates;
};

/* A text field of an event: not there, null, or a text that may be empty. */
enum piece_kind { PIECE_ABSENT, PIECE_NULL, PIECE_TEXT };
struct piece {
    enum piece_kind kind;
    struct span text;
};

struct call_piece {
    long index; /* -1 = none was sent */
    struct piece id, name, args;
    bool args_object; /* `args` is an object or array, serialised */
};

void accum_init(struct accum *a, const struct dialect *d, struct reply *r);
void accum_release(struct accum *a);

void accum_content(struct accum *a, struct span text);
void accum_reasoning(struct accum *a, struct span text);
void accum_call(struct accum *a, const struct call_piece *p);

/* One message or delta begins. `role`, `content`: as it has them. */
void accum_delta(struct accum *a, struct piece role, struct piece content);
void accum_finish(struct accum *a, struct span reason);

/* An event or body that lists choices; with none, `has_usage` tells why it came. */
void accum_choices(struct accum *a, size_t n_choices, bool has_usage);

/* Figures of -1 leave what is there. */
void accum_usage(struct accum *a, const struct usage *u);

/* Adds an error to r->error_text: a text as it is, of anything else every text and number in it,
 * unescaped, the message first. */
void accum_error(struct accum *a, const struct json *error);
void accum_error_text(struct accum *a, struct span text);

/* The reply is over: what can be said of it only as a whole. */
void accum_end(struct accum *a);

#endif
