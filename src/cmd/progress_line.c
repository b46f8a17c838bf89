/* progress_line.c - formats the counters for the eye; no figure of a result comes from here. */
#include "progress_line.h"

#include <stdio.h>

#include "buf.h"
#include "clock.h"
#include "commands.h"
#include "overlap.h"
#include "progress.h"

#define TERMINAL_PERIOD_US 200000
#define PLAIN_PERIOD_US    10000000

struct progress_line progress_line_new(bool quiet, const char *prefix, long total)
{
    bool is_terminal = cmd_stderr_is_terminal();
    return (struct progress_line){.prefix = prefix ? prefix : "",
                                  .quiet = quiet,
                                  .is_terminal = is_terminal,
                                  .total = total,
                                  .next_us = clock_mono_us() +
                                             (is_terminal ? TERMINAL_PERIOD_US : PLAIN_PERIOD_US)};
}

static void add_time_left(struct buf *b, long finished, long total, int64_t elapsed_us)
{
    if (finished == 0 || finished == total)
        return;
    double left = (double)elapsed_us / 1e6 * (double)(total - finished) / (double)finished;
    if (left < 90)
        buf_addf(b, "  ~%.0f s left", left);
    else
        buf_addf(b, "  ~%.0f min left", left / 60);
}

static void format(const struct progress_line *l, struct progress *p, int64_t now_us, struct buf *b)
{
    long finished = atomic_load(&p->finished), tokens = atomic_load(&p->tokens);
    int64_t elapsed = now_us - p->start_us;
    buf_addf(b, "%s%ld/%ld done  %d in flight", l->prefix, finished, l->total,
             overlap_now(p->overlap));
    for (int c = 0; c < N_CLASSES; c++)
        buf_addf(b, "  %s %ld", class_name((enum verdict_class)c), atomic_load(&p->by_class[c]));
    if (elapsed > 0)
        buf_addf(b, "  %.0f tok/s", (double)tokens * 1e6 / (double)elapsed);
    add_time_left(b, finished, l->total, elapsed);
}

void progress_line_update(struct progress_line *l, struct progress *p, int64_t now_us)
{
    if (l->quiet || now_us < l->next_us)
        return;
    l->next_us = now_us + (l->is_terminal ? TERMINAL_PERIOD_US : PLAIN_PERIOD_US);
    struct buf b = BUF_INIT;
    format(l, p, now_us, &b);
    if (l->is_terminal)
        fprintf(stderr, "\r\033[K%.*s", cmd_columns() - 1, buf_str(&b));
    else
        fprintf(stderr, "toolstorm: %s\n", buf_str(&b));
    l->shown = true;
    buf_release(&b);
}

void progress_line_end(struct progress_line *l)
{
    if (l->shown && l->is_terminal)
        fputs("\r\033[K", stderr);
}
