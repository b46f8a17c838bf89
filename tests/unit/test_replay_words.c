// layers: load scenario wire judge store chat stats base
/* test_replay_words.c - what is said of a replay, over all small outcomes. */
#include "replay_words.h"

#include "check.h"
#include "fisher.h"

static struct replay_tally tally(long corrupt, long judged)
{
    return (struct replay_tally){true, corrupt, judged};
}

/* No cause is named that the counts do not carry. */
static void every_outcome(long n)
{
    for (long a = 0; a <= n; a++)
        for (long f = 0; f <= n; f++)
            for (long c = 0; c <= n; c++) {
                struct replay_tally alone = tally(a, n), fresh = tally(f, n), crowd = tally(c, n);
                enum replay_cause cause = replay_words_cause(&alone, &fresh, &crowd);
                CHECK((cause == REPLAY_UNSEEN) == (a + f + c == 0));
                CHECK((cause == REPLAY_PROMPT) == (f > 0));
                if (cause == REPLAY_STATE)
                    CHECK(f == 0 && fisher_test(a, n, f, n).midp < 0.05);
                if (cause == REPLAY_LOAD)
                    CHECK(f == 0 && c > a && fisher_test(c, n, a, n).midp < 0.05);
                CHECK(cause != REPLAY_UNJUDGED);
                if (replay_words_crowd_adds(&alone, &crowd))
                    CHECK(c > a);
            }
}

static void corners(void)
{
    const struct replay_tally none = {0}, failed = {.tried = true};
    struct replay_tally all = tally(20, 20), clean = tally(0, 20), one = tally(1, 20);
    CHECK_INT(replay_words_cause(&failed, &failed, &failed), REPLAY_UNJUDGED);
    CHECK_INT(replay_words_cause(&all, &clean, &none), REPLAY_STATE);
    CHECK_INT(replay_words_cause(&clean, &clean, &all), REPLAY_LOAD);
    CHECK_INT(replay_words_cause(&clean, &clean, &one), REPLAY_UNSURE);
    CHECK_INT(replay_words_cause(&one, &clean, &clean), REPLAY_UNSURE);
    /* A crowd alone can't say what happens without one. */
    CHECK_INT(replay_words_cause(&none, &none, &all), REPLAY_UNSURE);
    CHECK_INT(replay_words_cause(&none, &none, &clean), REPLAY_UNSEEN);
    for (int i = REPLAY_UNSEEN; i <= REPLAY_LOAD; i++) {
        CHECK(replay_words_name((enum replay_cause)i)[0]);
        CHECK(replay_words_meaning((enum replay_cause)i)[0]);
    }
}

int main(void)
{
    every_outcome(1);
    every_outcome(6);
    every_outcome(12);
    corners();
    return check_end();
}
