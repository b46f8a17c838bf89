// layers: sweep stats base
/* The search for the needed flags: every truth on up to six flags, its controls, and thousands of
 * noisy searches with the sequential test that the command uses. */
#include <stdlib.h>

#include "check.h"
#include "hunt.h"
#include "rate.h"
#include "rng.h"
#include "sprt.h"

/* A truth: it corrupts when all flags of one of the causes are on. */
struct truth {
    unsigned causes[2];
    int n;
};

static bool corrupts(const struct truth *t, unsigned on)
{
    for (int i = 0; i < t->n; i++)
        if ((on & t->causes[i]) == t->causes[i])
            return true;
    return false;
}

/* Plays a search without noise; returns the number of steps. */
static int play_exactly(const struct truth *t, struct hunt *h)
{
    int steps = 0;
    for (; h->end == HUNT_GOES_ON && steps < 1000; steps++)
        hunt_add(h, corrupts(t, h->next.on) ? HUNT_CORRUPT : HUNT_CLEAN);
    return steps;
}

static void test_every_single_cause(void)
{
    for (int k = 1; k <= 6; k++)
        for (unsigned cause = 1; cause < 1u << k; cause++) {
            struct truth t = {.causes = {cause}, .n = 1};
            struct hunt h = hunt_start(k);
            int steps = play_exactly(&t, &h);
            CHECK_INT(h.end, HUNT_FOUND);
            CHECK_INT(h.n_causes, 1);
            CHECK_INT(h.causes[0], cause);
            CHECK(steps <= hunt_most_steps(k));
        }
}

/* Two causes that share nothing are both found; what is found is always a minimal cause. */
static void test_every_pair(void)
{
    int k = 6;
    for (unsigned a = 1; a < 1u << k; a++)
        for (unsigned b = 1; b < 1u << k; b++) {
            struct truth t = {.causes = {a, b}, .n = 2};
            struct hunt h = hunt_start(k);
            play_exactly(&t, &h);
            CHECK_INT(h.end, HUNT_FOUND);
            for (int i = 0; i < h.n_causes; i++) {
                CHECK(h.causes[i] == a || h.causes[i] == b);
                for (int f = 0; f < k; f++)
                    CHECK(!(h.causes[i] >> f & 1) || !corrupts(&t, h.causes[i] & ~(1u << f)));
            }
            if ((a & b) == 0)
                CHECK_INT(h.n_causes, 2);
        }
}

static void test_ends(void)
{
    struct hunt h = hunt_start(3);
    CHECK_INT(h.next.kind, HUNT_BASELINE);
    CHECK_INT(h.next.on, 7);
    hunt_add(&h, HUNT_CLEAN);
    CHECK_INT(h.end, HUNT_NO_BASELINE);

    struct truth always = {.causes = {0}, .n = 1};
    h = hunt_start(4);
    play_exactly(&always, &h);
    CHECK_INT(h.end, HUNT_NEEDS_NONE);

    h = hunt_start(2);
    hunt_add(&h, HUNT_CORRUPT);
    hunt_add(&h, HUNT_UNDECIDED);
    CHECK_INT(h.end, HUNT_STEP_UNDECIDED);

    h = hunt_start(1);
    hunt_add(&h, HUNT_CORRUPT);
    hunt_add(&h, HUNT_CLEAN); /* needed */
    CHECK_INT(h.next.kind, HUNT_CONTROL);
    hunt_add(&h, HUNT_CLEAN);
    CHECK_INT(h.end, HUNT_LOST);

    h = hunt_start(1);
    hunt_add(&h, HUNT_CORRUPT);
    hunt_add(&h, HUNT_CLEAN);
    hunt_add(&h, HUNT_CORRUPT);
    CHECK_INT(h.next.kind, HUNT_CONFIRM);
    hunt_add(&h, HUNT_CLEAN);
    CHECK_INT(h.end, HUNT_NOT_CONFIRMED);
}

/* No more than three steps without a flag stand between two controls, and one is after the last. */
static void test_controls(void)
{
    for (int k = 1; k <= HUNT_MAX_FLAGS; k++) {
        struct truth t = {.causes = {1}, .n = 1};
        struct hunt h = hunt_start(k);
        int since = 0;
        while (h.end == HUNT_GOES_ON) {
            since = h.next.kind == HUNT_CONTROL ? 0 : since + (h.next.kind == HUNT_WITHOUT);
            CHECK(since <= 3);
            if (h.next.kind == HUNT_CONTROL)
                CHECK_INT(h.next.on, (1u << k) - 1);
            if (h.next.kind == HUNT_CONFIRM)
                CHECK_INT(since, 0);
            hunt_add(&h, corrupts(&t, h.next.on) ? HUNT_CORRUPT : HUNT_CLEAN);
        }
    }
}

/* --- with noise ----------------------------------------------------------------------------------
 */

struct noisy {
    double rate, false_rate, luck;
    long flag_sessions, all_sessions;
    struct rng dice;
};

/* One server start: its rate scatters by `luck`, as a share. */
static double rate_of_start(struct noisy *n, bool bad)
{
    double luck = 1 + n->luck * (2 * rng_unit(&n->dice) - 1);
    return bad ? n->rate * luck : n->false_rate;
}

static enum hunt_outcome play_step(struct noisy *n, const struct sprt_rule *rule, bool bad,
                                   long *sessions)
{
    struct sprt test = sprt_start(rule);
    double rate = rate_of_start(n, bad);
    while (test.state == SPRT_GO_ON)
        sprt_add(&test, rng_chance(&n->dice, rate));
    *sessions += test.n;
    return test.state == SPRT_FAIL   ? HUNT_CORRUPT
           : test.state == SPRT_PASS ? HUNT_CLEAN
                                     : HUNT_UNDECIDED;
}

/* Baselines of 40 until the rate is surely above 2 %, at most four. */
static bool play_baseline(struct noisy *n, struct sprt_rule *rule)
{
    long x = 0, judged = 0;
    for (int start = 0; start < 4; start++) {
        double rate = rate_of_start(n, true);
        for (int i = 0; i < 40; i++)
            x += rng_chance(&n->dice, rate);
        judged += 40;
        if (rate_clopper_pearson(x, judged, 0.95).low > 2 * rule->p0) {
            n->all_sessions += judged;
            rule->p1 = (double)x / (double)judged / 2;
            return true;
        }
    }
    return false;
}

static bool search(struct noisy *n, const struct truth *t, int k)
{
    struct hunt h = hunt_start(k);
    struct sprt_rule rule = {.p0 = 0.01, .alpha = 0.05 / k, .beta = 0.05 / k, .cap = 400};
    hunt_add(&h, play_baseline(n, &rule) ? HUNT_CORRUPT : HUNT_CLEAN);
    while (h.end == HUNT_GOES_ON) {
        long sessions = 0;
        bool flag = h.next.kind == HUNT_WITHOUT;
        hunt_add(&h, play_step(n, &rule, corrupts(t, h.next.on), &sessions));
        n->all_sessions += sessions;
        n->flag_sessions += flag ? sessions : 0;
    }
    return h.end == HUNT_FOUND && h.n_causes == 1 && h.causes[0] == t->causes[0];
}

/* Three of six flags, drawn anew each time. */
static double share_right(struct noisy *n, int searches)
{
    int right = 0;
    for (int i = 0; i < searches; i++) {
        struct truth t = {.n = 1};
        for (int chosen = 0; chosen < 3;) {
            unsigned flag = 1u << rng_below(&n->dice, 6);
            chosen += !(t.causes[0] & flag);
            t.causes[0] |= flag;
        }
        right += search(n, &t, 6);
    }
    return (double)right / searches;
}

static void test_noisy(void)
{
    static const struct {
        double rate, false_rate, luck, least;
    } rows[] = {
        {0.15, 0, 0, 0.985}, {0.15, 0.005, 0, 0.97}, {0.15, 0, 0.3, 0.975}, {0.20, 0, 0, 0.985}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct noisy n = {.rate = rows[i].rate, .false_rate = rows[i].false_rate};
        n.luck = rows[i].luck;
        n.dice = rng_stream(7, i, "hunts");
        double share = share_right(&n, 2000);
        printf("rate %.2f, false alarms %.3f, luck %.1f: %.1f%% right, %.0f sessions in steps "
               "without a flag, %.0f in all\n",
               rows[i].rate, rows[i].false_rate, rows[i].luck, 100 * share,
               (double)n.flag_sessions / 2000, (double)n.all_sessions / 2000);
        CHECK(share >= rows[i].least);
        CHECK((double)n.flag_sessions / 2000 < 432);
    }
}

int main(void)
{
    test_every_single_cause();
    test_every_pair();
    test_ends();
    test_controls();
    test_noisy();
    return check_end();
}
