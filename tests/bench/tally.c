/* tally.c - counters and their line. It knows nothing of how the bytes came. */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "mem.h"

#define STEP_US   125
#define N_BUCKETS (TALLY_LATE_US / STEP_US + 1)

void tally_begin(struct tally *t)
{
    *t = (struct tally){.start_us = clock_mono_us(), .late = mem_zero(N_BUCKETS, sizeof(uint32_t))};
}

void tally_late(struct tally *t, int64_t sent_us, int64_t now_us)
{
    int64_t late = now_us - sent_us;
    late = late < 0 ? 0 : late > TALLY_LATE_US ? TALLY_LATE_US : late;
    t->late[late / STEP_US]++;
    t->n_late++;
}

void tally_join(struct tally *t, struct tally *from)
{
    t->requests += from->requests;
    t->events += from->events;
    t->failed += from->failed;
    t->spare_us += from->spare_us;
    t->n_late += from->n_late;
    for (long i = 0; i < N_BUCKETS; i++)
        t->late[i] += from->late[i];
    free(from->late);
}

static double quantile_ms(const struct tally *t, double q)
{
    long seen = 0;
    for (long i = 0; i < N_BUCKETS; i++) {
        seen += t->late[i];
        if (seen && (double)seen >= q * (double)t->n_late)
            return (double)((i + 1) * STEP_US) / 1000;
    }
    return 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void tally_print(struct tally *t, const char *mode)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("{\"client\":\"%s\",\"requests\":%ld,\"events\":%ld,\"failed\":%ld,\"wall_s\":%.3f,"
           "\"user_s\":%.4f,\"sys_s\":%.4f,\"rss_kb\":%ld",
           mode, t->requests, t->events, t->failed, (double)(clock_mono_us() - t->start_us) / 1e6,
           seconds(use.ru_utime) - (double)t->spare_us / 1e6, seconds(use.ru_stime), use.ru_maxrss);
    if (t->n_late)
        printf(",\"late_p50_ms\":%.3f,\"late_p99_ms\":%.3f", quantile_ms(t, 0.5),
               quantile_ms(t, 0.99));
    printf("}\n");
    free(t->late);
}
