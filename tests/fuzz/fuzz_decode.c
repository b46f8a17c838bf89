// layers: wire chat base
/* Any bytes as an answer: whole, in small pieces, and without the short cut, they give one reply.
 * The first byte says what was asked for and announced. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/replydump.h"
#include "decode_ops.h"
#include "fuzz.h"

static struct exchange_facts facts_of(uint8_t flags)
{
    static const int statuses[] = {200, 200, 200, 500};
    static const char *const types[] = {NULL, "text/event-stream", "application/json", "text/html"};
    static const enum exchange_end ends[] = {END_CLEAN, END_CLEAN, END_CUT, END_STALL_IDLE};
    return (struct exchange_facts){.stream = flags & 1,
                                   .status = statuses[flags >> 1 & 3],
                                   .content_type = types[flags >> 3 & 3],
                                   .end = ends[flags >> 5 & 3],
                                   .caps = {.line = 4000, .reply = 100000, .headers = 1000}};
}

static void expect(char *got, const char *want)
{
    if (strcmp(got, want) != 0) {
        fprintf(stderr, "--- got\n%s--- want\n%s", got, want);
        abort();
    }
    free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (!len)
        return 0;
    struct exchange_facts f = facts_of(data[0]);
    struct span bytes = {(const char *)data + 1, len - 1};
    char *want = dump_chunked(&f, bytes, 0);
    expect(dump_chunked(&f, bytes, bytes.len < 200 ? 1 : 13), want);
    struct decode_ops ops = decode_openai;
    struct dialect slow = *dialect_default();
    ops.read_fast = NULL;
    slow.decode = &ops;
    f.dialect = &slow;
    expect(dump_chunked(&f, bytes, 0), want);
    free(want);
    return 0;
}
