/* encode.h - an answer as the bytes of a chat completion: one body, or event by event. */
#ifndef ENCODE_H
#define ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct buf;

struct encode_settings {
    const char *model;
    uint64_t id;
    long long created; /* seconds since 1970 */
    bool include_usage;
    int tokens_per_chunk;
};

/* Adds the JSON body of an answer that is not streamed. */
void encode_body(const struct answer *a, const struct encode_settings *s, struct buf *out);

/* Where a stream stands. Zeroed: at its start. */
struct encode_place {
    enum encode_phase {
        PHASE_ROLE,
        PHASE_REASONING,
        PHASE_CONTENT,
        PHASE_CALL,
        PHASE_ARGS,
        PHASE_FINISH,
        PHASE_USAGE,
        PHASE_DONE,
        PHASE_OVER
    } phase;
    size_t call;   /* which, in PHASE_CALL and PHASE_ARGS */
    size_t offset; /* in the text of the phase */
    size_t said;   /* bytes of text so far, over all phases */
};

/* Moves over texts that are at their end, so that place->phase says what comes next. */
void encode_settle(const struct answer *a, struct encode_place *place);

/* Adds the next event of the stream. Nothing is added in PHASE_OVER. */
void encode_event(const struct answer *a, const struct encode_settings *s,
                  struct encode_place *place, struct buf *out);

/* Adds an event with this text as content, as the stream's own events look. */
void encode_words(const struct encode_settings *s, const char *words, struct buf *out);

/* Adds the start of an event whose text never ends. */
void encode_open_line(const struct encode_settings *s, bool stream, struct buf *out);

/* Bytes of text in the whole answer. */
size_t encode_total(const struct answer *a);

#endif
