/* sprt.c - the sequential probability ratio test and its exact operating characteristic.
 *
 * The ratio is computed from counts, never summed up, so that the test and the table of its
 * behaviour cross the bounds at the same session. */
#include "sprt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define ON_BOUND   1e-12 /* relative: a sum that meets the bound in exact arithmetic */
#define WORK_LIMIT 2e9
#define GONE       1e-25 /* probability of going on that no longer counts */

static bool valid(const struct sprt_rule *r)
{
    return r->p0 > 0 && r->p0 < r->p1 && r->p1 < 1 && r->alpha > 0 && r->beta > 0 &&
           r->alpha + r->beta < 1 && r->cap >= 0;
}

struct sprt sprt_start(const struct sprt_rule *rule)
{
    struct sprt s = {NAN, NAN, NAN, NAN, NAN, 0, 0, 0, SPRT_INVALID};
    if (!valid(rule))
        return s;
    s.upper = log((1 - rule->beta) / rule->alpha);
    s.lower = log(rule->beta / (1 - rule->alpha));
    s.llr_corrupt = log(rule->p1 / rule->p0);
    s.llr_clean = log1p(-rule->p1) - log1p(-rule->p0);
    double n = s.lower / s.llr_clean;
    s.clean_to_pass = ceil(n - 1e-9 * fmax(1, n));
    s.cap = rule->cap;
    s.state = SPRT_GO_ON;
    return s;
}

static double llr(const struct sprt *s, long n, long x)
{
    return (double)x * s->llr_corrupt + (double)(n - x) * s->llr_clean;
}

static bool fails(const struct sprt *s, long n, long x)
{
    return llr(s, n, x) >= s->upper - ON_BOUND * fmax(1, s->upper);
}

static bool passes(const struct sprt *s, long n, long x)
{
    return llr(s, n, x) <= s->lower + ON_BOUND * fmax(1, -s->lower);
}

enum sprt_state sprt_add(struct sprt *s, bool corrupted)
{
    if (s->state != SPRT_GO_ON)
        return s->state;
    s->n++;
    s->x += corrupted;
    if (fails(s, s->n, s->x))
        s->state = SPRT_FAIL;
    else if (passes(s, s->n, s->x))
        s->state = SPRT_PASS;
    else if (s->cap > 0 && s->n >= s->cap)
        s->state = SPRT_UNDECIDED;
    return s->state;
}

/* Probabilities of being undecided after n sessions with from..to corrupted. */
struct front {
    double *p; /* of x = from, from + 1, ... */
    long from, to;
};

/* One session more: everyone stays or moves up by one. */
static void advance(struct front *f, double rate)
{
    long last = f->to - f->from;
    f->p[last + 1] = f->p[last] * rate;
    for (long i = last; i > 0; i--)
        f->p[i] = f->p[i] * (1 - rate) + f->p[i - 1] * rate;
    f->p[0] *= 1 - rate;
    f->to++;
}

/* Takes away who has reached a bound after n sessions: failed[0], passed[1]. */
static void settle(struct front *f, const struct sprt *s, long n, double out[2])
{
    out[0] = out[1] = 0;
    for (; f->to >= f->from && fails(s, n, f->to); f->to--)
        out[0] += f->p[f->to - f->from];
    long passed = 0;
    for (; f->from + passed <= f->to && passes(s, n, f->from + passed); passed++)
        out[1] += f->p[passed];
    f->from += passed;
    if (passed > 0 && f->to >= f->from)
        memmove(f->p, f->p + passed, (size_t)(f->to - f->from + 1) * sizeof(*f->p));
}

struct sprt_oc sprt_operating(const struct sprt_rule *rule, double p)
{
    struct sprt s = sprt_start(rule);
    struct sprt_oc none = {NAN, NAN, NAN}, oc = {0, 0, 0};
    double width = (s.upper - s.lower) / (s.llr_corrupt - s.llr_clean) + 4;
    if (s.state == SPRT_INVALID || !(p >= 0 && p <= 1) || width > 1e8)
        return none;
    struct front f = {mem_zero((size_t)width + 4, sizeof(double)), 0, 0};
    long longest = s.cap > 0 && s.cap < SPRT_LONGEST ? s.cap : SPRT_LONGEST;
    double alive = 1, work = 0;
    f.p[0] = 1;
    for (long n = 1; n <= longest && alive > GONE && f.to >= f.from; n++) {
        double out[2];
        oc.mean_n += alive; /* everyone undecided plays one session more */
        advance(&f, p);
        settle(&f, &s, n, out);
        oc.p_fail += out[0];
        alive = 0;
        for (long i = 0; i <= f.to - f.from; i++)
            alive += f.p[i];
        work += (double)(f.to - f.from + 3);
        if (work > WORK_LIMIT) {
            oc = none;
            break;
        }
    }
    oc.p_undecided = isnan(oc.p_fail) ? NAN : alive;
    free(f.p);
    return oc;
}
