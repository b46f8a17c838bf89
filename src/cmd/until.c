/* until.c - puts outcomes back into start order and feeds the sequential test. */
#include "until.h"

#include <stdlib.h>

#include "buf.h"
#include "mem.h"

enum { UNKNOWN, CLEAN, CORRUPTED, FAILED };

void until_init(struct until *u, double p0, double p1, double error, long sessions)
{
    struct sprt_rule rule = {.p0 = p0, .p1 = p1, .alpha = error, .beta = error};
    *u = (struct until){.test = sprt_start(&rule), .n = sessions};
    u->outcomes = mem_zero((size_t)sessions, sizeof *u->outcomes);
}

void until_release(struct until *u)
{
    free(u->outcomes);
    *u = (struct until){0};
}

bool until_add(struct until *u, long start_order, enum verdict_class class)
{
    u->outcomes[start_order - 1] = class == CLASS_OK      ? CLEAN
                                   : class == CLASS_ERROR ? FAILED
                                                          : CORRUPTED;
    while (u->next < u->n && u->outcomes[u->next] != UNKNOWN && u->test.state == SPRT_GO_ON) {
        int outcome = u->outcomes[u->next++];
        if (outcome != FAILED)
            sprt_add(&u->test, outcome == CORRUPTED);
    }
    return u->test.state == SPRT_PASS || u->test.state == SPRT_FAIL;
}

enum exit_status until_status(const struct until *u)
{
    return u->test.state == SPRT_PASS   ? STATUS_PASS
           : u->test.state == SPRT_FAIL ? STATUS_CORRUPT
                                        : STATUS_UNDECIDED;
}

void until_describe(const struct until *u, struct buf *out)
{
    const char *word = u->test.state == SPRT_PASS   ? "pass"
                       : u->test.state == SPRT_FAIL ? "fail"
                                                    : "undecided";
    buf_addf(out, "%s after %ld sessions in start order, %ld of them corrupted", word, u->test.n,
             u->test.x);
    if (until_status(u) != STATUS_UNDECIDED)
        buf_adds(out, "; the interval does not allow for stopping early");
}

long until_places(const struct until *u)
{
    return u->next;
}
