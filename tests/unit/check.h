/* check.h - assertions of the unit tests. A failed check prints where and what, and the program
 * ends with status 1 after the remaining checks have run. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_failures;
static long check_count;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition)) {                                                                        \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);          \
        }                                                                                          \
    } while (0)

#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        const char *check_got = (got), *check_want = (want);                                       \
        check_count++;                                                                             \
        if (!check_got || strcmp(check_got, check_want) != 0) {                                    \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: got \"%s\", want \"%s\"\n", __FILE__, __LINE__,                \
                    check_got ? check_got : "(null)", check_want);                                 \
        }                                                                                          \
    } while (0)

#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        long long check_got = (long long)(got), check_want = (long long)(want);                    \
        check_count++;                                                                             \
        if (check_got != check_want) {                                                             \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s: got %lld, want %lld\n", __FILE__, __LINE__, #got,          \
                    check_got, check_want);                                                        \
        }                                                                                          \
    } while (0)

/* A relative tolerance; an absolute one of 1e-14 where the wanted value is 0. */
#define CHECK_NEAR(got, want, tolerance)                                                           \
    do {                                                                                           \
        double check_got = (got), check_want = (want);                                             \
        double check_room = check_want == 0 ? 1e-14 : fabs(check_want) * (tolerance);              \
        check_count++;                                                                             \
        if (!(fabs(check_got - check_want) <= check_room)) {                                       \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s: got %.17g, want %.17g\n", __FILE__, __LINE__, #got,        \
                    check_got, check_want);                                                        \
        }                                                                                          \
    } while (0)

/* The last line of every main(). */
static inline int check_end(void)
{
    printf("%ld checks, %d failed\n", check_count, check_failures);
    return check_failures ? 1 : 0;
}

#endif
