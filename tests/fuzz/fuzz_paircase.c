// layers: wire chat base
// corpus: tests/data/paircases.jsonl
/* Any bytes as a line of a log and as a saved body: read or refused in words, and read alike in any
 * chunking. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/replydump.h"
#include "fuzz.h"
#include "json.h"
#include "paircase.h"

typedef int read_fn(struct span text, const struct pair_options *o, struct casefile *c,
                    struct err *err);

static int read_body(struct span text, const struct pair_options *o, struct casefile *c,
                     struct err *err)
{
    return paircase_body(text, BODY_AS_SEEN, o, c, err);
}

static void read_twice(read_fn *read, struct span text, struct pair_options o)
{
    struct casefile whole, pieces;
    struct err err = {0};
    if (read(text, &o, &whole, &err) < 0) {
        if (err.status != STATUS_USAGE || !err.text[0])
            abort();
        return;
    }
    o.chunk = 3;
    if (read(text, &o, &pieces, &err) < 0)
        abort();
    char *want = dump_reply(&whole.reply), *got = dump_reply(&pieces.reply);
    if (strcmp(want, got) != 0)
        abort();
    free(want);
    free(got);
    casefile_release(&whole);
    casefile_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct span text = {(const char *)data, len};
    const struct pair_options usual = {.status = 200};
    const struct pair_options inner = {
        .status = 200, .fields = {"line.request", "line.response", "line.status", "line.stream"}};
    struct json *v = json_parse(text, NULL);
    if (paircase_is(v, &usual.fields) && json_type(v) != JSON_OBJECT)
        abort();
    json_free(v);
    read_twice(paircase_read, text, usual);
    read_twice(paircase_read, text, inner);
    read_twice(read_body, text, usual);
    return 0;
}
