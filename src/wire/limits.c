/* limits.c - one row per limit: from when it runs, for how long, and what it is called. Connecting,
 * waiting for the first byte, pausing between two and the round as a whole are limits of their own,
 * because they tell different faults of a server apart. */
#include "limits.h"

#include <stddef.h>
#include <stdio.h>

#include "endpoint.h"

struct limit {
    int64_t from_us, length_us; /* length 0 = does not run now */
    enum exchange_end end;
    const char *what;
};

#define N_LIMITS 5

static void list(const struct endpoint *ep, const struct limit_times *t, struct limit out[N_LIMITS])
{
    bool waiting = !t->first_byte_us;
    struct limit all[N_LIMITS] = {
        {t->done_at_us, t->done_at_us ? LIMITS_DONE_GRACE_US : 0, END_CLEAN, ""},
        {t->start_us, ep->timeout_us, END_TIMEOUT, "round limit"},
        {t->last_byte_us, waiting ? 0 : ep->idle_timeout_us, END_STALL_IDLE, "no byte for"},
        {t->sent_us, waiting && !t->connected ? ep->connect_timeout_us : 0, END_CONNECT,
         "no connection within"},
        {t->sent_us, waiting ? ep->ttft_timeout_us : 0,
         t->connected ? END_STALL_FIRST : END_CONNECT,
         t->connected ? "no first byte within" : "no connection within"},
    };
    for (size_t i = 0; i < N_LIMITS; i++)
        out[i] = all[i];
}

int64_t limits_next(const struct endpoint *ep, const struct limit_times *t)
{
    struct limit limits[N_LIMITS];
    int64_t next = INT64_MAX;
    list(ep, t, limits);
    for (size_t i = 0; i < N_LIMITS; i++)
        if (limits[i].length_us && limits[i].from_us + limits[i].length_us < next)
            next = limits[i].from_us + limits[i].length_us;
    return next;
}

bool limits_passed(const struct endpoint *ep, const struct limit_times *t, int64_t now_us,
                   enum exchange_end *end, char detail[80])
{
    struct limit limits[N_LIMITS];
    list(ep, t, limits);
    for (size_t i = 0; i < N_LIMITS; i++) {
        const struct limit *l = &limits[i];
        if (!l->length_us || now_us - l->from_us < l->length_us)
            continue;
        *end = l->end;
        detail[0] = '\0';
        if (l->end != END_CLEAN)
            snprintf(detail, 80, "%s %.3g s", l->what, (double)l->length_us / 1e6);
        return true;
    }
    return false;
}
