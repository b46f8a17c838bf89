/* manual.h - the manual page and the completions of shells, made from the tables that the program
 * itself reads. `toolstorm help man` asks every command for its part, as `--help=man` does. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stddef.h>

struct buf;
struct opt;

/* What a command would say of itself with --help. */
struct manual_part {
    const char *usage, *about;
    const struct opt *table;
};

/* A form by its topic: "man", "completions-bash", "completions-zsh", "completions-fish". */
struct manual_form {
    const char *topic, *about;
    void (*begin)(struct buf *out);
    void (*part)(const struct manual_part *p, struct buf *out);
    void (*end)(struct buf *out);
};
extern const struct manual_form manual_forms[]; /* ends with a NULL topic */

/* The form behind "--help=TOPIC", or NULL if the word is something else. */
const struct manual_form *manual_asked(const char *word);

#endif
