// layers: wire chat base
/* Any bytes as a case: read or refused in words, and read alike in any chunking. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/replydump.h"
#include "casefile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct casefile whole, pieces;
    struct err err = {0};
    struct span line = {(const char *)data, len};
    int rc = casefile_read(line, 0, &whole, &err);
    if (rc < 0) {
        if (err.status != STATUS_USAGE || !err.text[0])
            abort();
        return 0;
    }
    if (casefile_read(line, 3, &pieces, &err) < 0)
        abort();
    char *want = dump_reply(&whole.reply), *got = dump_reply(&pieces.reply);
    if (strcmp(want, got) != 0)
        abort();
    free(want);
    free(got);
    casefile_release(&whole);
    casefile_release(&pieces);
    return 0;
}
