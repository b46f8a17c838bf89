// layers: load scenario wire judge store chat stats base
/* Overlap: what each request saw in flight, against a plain count. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "overlap.h"
#include "rng.h"

#define N 20000

static void test_against_plain_count(void)
{
    struct overlap *o = overlap_new(N);
    struct rng r = rng_stream(1, 1, "overlap");
    static struct overlap_mark mark[N];
    static int most[N];
    static long open[N];
    long n_open = 0, entered = 0;
    while (entered < N || n_open > 0) {
        bool enter = entered < N && (n_open == 0 || rng_chance(&r, 0.52));
        if (enter) {
            mark[entered] = overlap_enter(o);
            open[n_open++] = entered;
            most[entered] = 0;
            CHECK_INT(mark[entered].at_start, n_open);
            entered++;
            for (long i = 0; i < n_open; i++)
                if (most[open[i]] < n_open)
                    most[open[i]] = (int)n_open;
        } else {
            long i = (long)rng_below(&r, (uint64_t)n_open), k = open[i];
            CHECK_INT(overlap_leave(o, mark[k]), most[k]);
            open[i] = open[--n_open];
        }
    }
    CHECK_INT(overlap_now(o), 0);
    CHECK_INT(overlap_requests(o), N);
    overlap_free(o);
}

static void *enter_and_leave(void *arg)
{
    for (int i = 0; i < N / 4; i++) {
        struct overlap_mark m = overlap_enter(arg);
        int most = overlap_leave(arg, m);
        if (most < m.at_start || most > 4)
            abort();
    }
    return NULL;
}

int main(void)
{
    test_against_plain_count();
    struct overlap *o = overlap_new(N);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, enter_and_leave, o);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    CHECK_INT(overlap_now(o), 0);
    CHECK(overlap_peak(o) >= 1 && overlap_peak(o) <= 4);
    overlap_free(o);
    return check_end();
}
