/* tally.c - counters and their line. It knows nothing of how the bytes came. */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "mem.h"

#define STEP_US   125
#define N_BUCKETS (TALLY_LATE_US / STEP_US + 1)

static const char *const phase_names[N_TALLY_PHASES] = {"start", "late"};

void tally_begin(struct tally *t)
{
    *t = (struct tally){.start_us = clock_mono_us()};
    for (int p = 0; p < N_TALLY_PHASES; p++)
        t->late[p].events = mem_zero(N_BUCKETS, sizeof(uint32_t));
}

void tally_late(struct tally *t, enum tally_phase phase, int64_t sent_us, int64_t now_us)
{
    struct lateness *l = &t->late[phase];
    int64_t late = now_us - sent_us;
    late = late < 0 ? 0 : late > TALLY_LATE_US ? TALLY_LATE_US : late;
    l->events[late / STEP_US]++;
    l->n++;
    l->max_us = late > l->max_us ? late : l->max_us;
}

void tally_stream(struct tally *t, int64_t first_us, int64_t last_us)
{
    t->streams_us += last_us - first_us;
    t->streams++;
}

void tally_join(struct tally *t, struct tally *from)
{
    t->requests += from->requests;
    t->failed += from->failed;
    t->spare_us += from->spare_us;
    t->streams_us += from->streams_us;
    t->streams += from->streams;
    for (int p = 0; p < N_TALLY_PHASES; p++) {
        struct lateness *to = &t->late[p], *l = &from->late[p];
        to->n += l->n;
        to->max_us = l->max_us > to->max_us ? l->max_us : to->max_us;
        for (long i = 0; i < N_BUCKETS; i++)
            to->events[i] += l->events[i];
        free(l->events);
    }
}

static double quantile_ms(const struct lateness *l, double q)
{
    long seen = 0;
    for (long i = 0; i < N_BUCKETS; i++) {
        seen += l->events[i];
        if (seen && (double)seen >= q * (double)l->n)
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
    printf("{\"client\":\"%s\",\"requests\":%ld,\"failed\":%ld,\"wall_s\":%.3f,"
           "\"user_s\":%.4f,\"sys_s\":%.4f,\"rss_kb\":%ld",
           mode, t->requests, t->failed, (double)(clock_mono_us() - t->start_us) / 1e6,
           seconds(use.ru_utime) - (double)t->spare_us / 1e6, seconds(use.ru_stime), use.ru_maxrss);
    if (t->running_us)
        printf(",\"start_s\":%.3f", (double)(t->running_us - t->start_us) / 1e6);
    if (t->streams)
        printf(",\"stream_s\":%.4f", (double)t->streams_us / 1e6 / (double)t->streams);
    for (int p = 0; p < N_TALLY_PHASES; p++) {
        const struct lateness *l = &t->late[p];
        const char *name = phase_names[p];
        if (l->n)
            printf(",\"%s_n\":%ld,\"%s_p50_ms\":%.3f,\"%s_p99_ms\":%.3f,\"%s_max_ms\":%.3f", name,
                   l->n, name, quantile_ms(l, 0.5), name, quantile_ms(l, 0.99), name,
                   (double)l->max_us / 1000);
        free(l->events);
    }
    printf("}\n");
}
