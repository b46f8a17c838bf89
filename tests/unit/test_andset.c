// layers: stats base
/* The likeliest AND-set: against a naive likelihood, and how often it is right on simulated sweeps.
 */
#include <math.h>

#include "andset.h"
#include "check.h"
#include "rng.h"

#define FLAGS 4
#define CELLS 16

struct matrix {
    size_t levels[CELLS * FLAGS], n_levels[FLAGS];
    long x[CELLS], n[CELLS];
};

/* All combinations of four flags, level 0 = on; `cause` is a mask of flags that must be on. */
static void fill(struct matrix *m, unsigned cause, long n, double rate, struct rng *dice)
{
    for (size_t c = 0; c < CELLS; c++) {
        bool bad = true;
        for (size_t f = 0; f < FLAGS; f++) {
            size_t level = c >> f & 1;
            m->levels[c * FLAGS + f] = level;
            bad = bad && !(cause >> f & 1 && level == 1);
        }
        m->n[c] = n;
        m->x[c] = 0;
        for (long i = 0; i < n; i++)
            m->x[c] += rng_chance(dice, bad ? rate : 0.002);
    }
    for (size_t f = 0; f < FLAGS; f++)
        m->n_levels[f] = 2;
}

static struct andset best_of(const struct matrix *m)
{
    struct andset_data d = {.n_cells = CELLS,
                            .n_factors = FLAGS,
                            .levels = m->levels,
                            .n_levels = m->n_levels,
                            .x = m->x,
                            .n = m->n};
    return andset_best(&d);
}

static unsigned mask_of(const struct andset *s)
{
    unsigned mask = 0;
    for (size_t f = 0; f < FLAGS; f++)
        if (s->levels[f] != ANDSET_ANY)
            mask |= (s->levels[f] == 0 ? 1u : 16u) << f;
    return mask;
}

static void test_finds_it(void)
{
    struct rng dice = rng_stream(5, 0, "andset");
    struct matrix m;
    for (unsigned cause = 1; cause < 16; cause++) {
        int right = 0;
        for (int i = 0; i < 100; i++) {
            fill(&m, cause, 80, 0.15, &dice);
            struct andset s = best_of(&m);
            right += s.valid && mask_of(&s) == cause;
        }
        CHECK(right >= 95);
    }
}

/* Its likelihood is that of its own counts, and no single factor's set is likelier. */
static void test_likelihood(void)
{
    struct rng dice = rng_stream(6, 0, "andset");
    struct matrix m;
    for (int i = 0; i < 50; i++) {
        fill(&m, 5, 20, 0.2, &dice);
        struct andset s = best_of(&m);
        if (!s.valid || s.size == 0)
            continue;
        long total = 0, sessions = 0;
        for (size_t c = 0; c < CELLS; c++) {
            total += m.x[c];
            sessions += m.n[c];
        }
        CHECK_INT(s.x + s.x_elsewhere, total);
        CHECK_INT(s.n + s.n_elsewhere, sessions);
        double p = (double)s.x / (double)s.n;
        double want = (double)s.x * log(p) + (double)(s.n - s.x) * log1p(-p);
        double q = (double)s.x_elsewhere / (double)s.n_elsewhere;
        if (s.x_elsewhere)
            want += (double)s.x_elsewhere * log(q);
        want += (double)(s.n_elsewhere - s.x_elsewhere) * log1p(-q);
        CHECK_NEAR(s.log_likelihood, want, 1e-9);
        CHECK(s.lead >= 0);
    }
}

static void test_edges(void)
{
    struct rng dice = rng_stream(7, 0, "andset");
    struct matrix m;
    fill(&m, 1, 0, 0.15, &dice);
    CHECK(!best_of(&m).valid);
    fill(&m, 15, 40, 0, &dice);
    for (size_t c = 0; c < CELLS; c++)
        m.x[c] = 0;
    struct andset s = best_of(&m);
    CHECK(s.valid);
    CHECK_INT(s.size, 0);
    /* One-factor-at-a-time: the base alone corrupts, so that every pair of flags is as likely. */
    for (size_t c = 0; c < CELLS; c++)
        m.n[c] = c == 0 || c == 1 || c == 2 ? 100 : 0;
    m.x[0] = 20;
    s = best_of(&m);
    CHECK_INT(mask_of(&s), 3);
    struct andset_data many = {.n_cells = 1, .n_factors = ANDSET_MAX_FACTORS + 1};
    CHECK(!andset_best(&many).valid);
}

int main(void)
{
    test_finds_it();
    test_likelihood();
    test_edges();
    return check_end();
}
