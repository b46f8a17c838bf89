/* command.c - takes a command line apart into words and leaves some out. It knows quotes as the
 * program itself writes them, and no other part of a shell. */
#include "command.h"

#include <stdbool.h>
#include <string.h>

/* Options that mean nothing elsewhere, and whether a value follows. */
static const struct {
    const char *name;
    bool has_value;
} local[] = {
    {"--db", true}, {"--junit", true}, {"--ledger", true}, {"--output", true},
    {"-o", true},   {"-q", false},     {"--quiet", false},
};
#define N_LOCAL (sizeof local / sizeof local[0])

/* The word at the start of `text`, with its quotes. */
static struct span next_word(struct span text)
{
    bool quoted = false;
    size_t n = 0;
    for (; n < text.len && (quoted || text.data[n] != ' '); n++) {
        if (text.data[n] == '\'')
            quoted = !quoted;
        else if (text.data[n] == '\\' && !quoted && n + 1 < text.len)
            n++;
    }
    return (struct span){text.data, n};
}

/* 0 = the word is kept; else how many words go: one, or two with the value. */
static int words_to_drop(struct span word)
{
    for (size_t i = 0; i < N_LOCAL; i++) {
        size_t len = strlen(local[i].name);
        if (span_is(word, local[i].name))
            return local[i].has_value ? 2 : 1;
        if (local[i].has_value && span_starts(word, local[i].name) && word.len > len &&
            word.data[len] == '=')
            return 1;
    }
    return 0;
}

void command_portable(struct buf *out, struct span command)
{
    int drop = 0;
    bool any = false;
    while (command.len) {
        struct span word = next_word(command);
        if (!drop)
            drop = words_to_drop(word);
        if (!drop && word.len) {
            buf_adds(out, any ? " " : "");
            buf_add(out, word.data, word.len);
            any = true;
        }
        drop -= drop > 0 && word.len;
        size_t step = word.len < command.len ? word.len + 1 : word.len;
        command = (struct span){command.data + step, command.len - step};
    }
}
