/* progress_line.h - how far a run is, for whoever watches: one line that is rewritten on a
 * terminal, a plain line now and then elsewhere. */
#ifndef PROGRESS_LINE_H
#define PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

struct progress_line {
    const char *prefix; /* borrowed */
    bool quiet, is_terminal, shown;
    long total;
    int64_t next_us;
};

/* `prefix` stands before each line; NULL = nothing. */
struct progress_line progress_line_new(bool quiet, const char *prefix, long total);

/* Writes if it is time. */
void progress_line_update(struct progress_line *l, struct progress *p, int64_t now_us);

/* Takes the rewritten line off the terminal. */
void progress_line_end(struct progress_line *l);

#endif
