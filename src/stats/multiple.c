/* multiple.c - step-down and step-up adjustment of p-values. */
#include "multiple.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mem.h"

struct entry {
    double p;
    size_t place;
};

static int by_p(const void *left, const void *right)
{
    double a = ((const struct entry *)left)->p, b = ((const struct entry *)right)->p;
    return (a > b) - (a < b);
}

/* The entries from small to large p, or NULL after filling `out` with NaN. */
static struct entry *sorted(const double *p, size_t count, double *out)
{
    bool valid = true;
    for (size_t i = 0; i < count; i++)
        valid = valid && p[i] >= 0 && p[i] <= 1;
    if (!valid || count == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = NAN;
        return NULL;
    }
    struct entry *e = mem_zero(count, sizeof(*e));
    for (size_t i = 0; i < count; i++)
        e[i] = (struct entry){p[i], i};
    qsort(e, count, sizeof(*e), by_p);
    return e;
}

void multiple_holm(const double *p, size_t count, double *out)
{
    struct entry *e = sorted(p, count, out);
    double largest = 0;
    for (size_t i = 0; e && i < count; i++) {
        largest = fmax(largest, fmin(1, (double)(count - i) * e[i].p));
        out[e[i].place] = largest;
    }
    free(e);
}

void multiple_bh(const double *p, size_t count, double *out)
{
    struct entry *e = sorted(p, count, out);
    double smallest = 1;
    for (size_t i = count; e && i-- > 0;) {
        smallest = fmin(smallest, (double)count * e[i].p / (double)(i + 1));
        out[e[i].place] = smallest;
    }
    free(e);
}
