/* replay.c - runs a harness over files without libFuzzer. Of a .jsonl file every line is an input,
 * and every line's "response" behind a few first bytes; any other file is one input.
 *
 * replay [-o DIR] FILE...   with -o the inputs are also written there, as a corpus to start from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"
#include "json.h"
#include "utf8.h"

#define MAX_FILE (64u << 20)

struct run {
    const char *dir;
    long n_inputs;
};

static void one(struct run *run, struct span input)
{
    LLVMFuzzerTestOneInput((const uint8_t *)input.data, input.len);
    run->n_inputs++;
    if (!run->dir)
        return;
    struct buf path = BUF_INIT;
    struct err err = {0};
    buf_addf(&path, "%s/%05ld", run->dir, run->n_inputs);
    if (file_write(buf_str(&path), input.data, input.len, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    buf_release(&path);
}

static void response(struct run *run, struct span line)
{
    static const char first[] = {0, 1, 6, 9, 25, 65};
    struct json *v = json_parse(line, NULL);
    if (json_text(json_get(v, "response")))
        for (size_t i = 0; i < sizeof first; i++) {
            struct buf input = BUF_INIT;
            buf_addc(&input, first[i]);
            utf8_add_loose(&input, json_span(json_get(v, "response")));
            one(run, buf_span(&input));
            buf_release(&input);
        }
    json_free(v);
}

static void lines(struct run *run, struct span text)
{
    for (size_t at = 0; at < text.len;) {
        const char *lf = memchr(text.data + at, '\n', text.len - at);
        size_t n = lf ? (size_t)(lf - text.data) - at : text.len - at;
        one(run, (struct span){text.data + at, n});
        response(run, (struct span){text.data + at, n});
        at += n + 1;
    }
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-o") == 0) {
        run.dir = argv[2];
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        struct buf text = BUF_INIT;
        struct err err = {0};
        if (file_read(argv[i], MAX_FILE, &text, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        const char *dot = strrchr(argv[i], '.');
        if (dot && strcmp(dot, ".jsonl") == 0)
            lines(&run, buf_span(&text));
        else
            one(&run, buf_span(&text));
        buf_release(&text);
    }
    printf("%ld inputs\n", run.n_inputs);
    return run.n_inputs ? 0 : 1;
}
