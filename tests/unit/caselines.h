/* caselines.h - every line of the wire case files: ours, and the shared ones where they are. */
#ifndef CASELINES_H
#define CASELINES_H

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "check.h"
#include "file.h"

typedef void line_fn(struct span line);

static inline long each_line_of(const char *path, line_fn *fn)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    long lines = 0;
    CHECK_INT(file_read(path, 16u << 20, &text, &err), 0);
    for (char *at = text.data, *end; at && *at; at = end) {
        end = at + strcspn(at, "\n");
        if (end > at) {
            fn((struct span){at, (size_t)(end - at)});
            lines++;
        }
        end += *end == '\n';
    }
    buf_release(&text);
    return lines;
}

static inline void each_wire_case(line_fn *fn)
{
    CHECK(each_line_of(SOURCE_DIR "/tests/cases/wire.jsonl", fn) >= 60);
    const char *shared = SOURCE_DIR "/../shared/cases/wire.jsonl";
    FILE *there = fopen(shared, "r");
    if (there) {
        fclose(there);
        CHECK(each_line_of(shared, fn) > 0);
    }
}

#endif
