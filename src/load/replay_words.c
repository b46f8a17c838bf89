/* replay_words.c - three rates to a cause. It claims no more than the rates carry. */
#include "replay_words.h"

#include <stddef.h>

#include "fisher.h"

#define LEVEL 0.05

static bool came_back(const struct replay_tally *t)
{
    return t->tried && t->corrupt > 0;
}

/* True if `a` is corrupted more often than `b`, beyond chance. */
static bool exceeds(const struct replay_tally *a, const struct replay_tally *b)
{
    if (!a->judged || !b->judged || a->corrupt * b->judged <= b->corrupt * a->judged)
        return false;
    return fisher_test(a->corrupt, a->judged, b->corrupt, b->judged).midp < LEVEL;
}

bool replay_words_crowd_adds(const struct replay_tally *alone, const struct replay_tally *crowd)
{
    return alone->tried && crowd->tried && exceeds(crowd, alone);
}

enum replay_cause replay_words_cause(const struct replay_tally *alone,
                                     const struct replay_tally *fresh,
                                     const struct replay_tally *crowd)
{
    const struct replay_tally *all[] = {alone, fresh, crowd};
    long judged = 0;
    for (size_t i = 0; i < 3; i++)
        judged += all[i]->tried ? all[i]->judged : 0;
    if (!judged)
        return REPLAY_UNJUDGED;
    if (!came_back(alone) && !came_back(fresh) && !came_back(crowd))
        return REPLAY_UNSEEN;
    if (came_back(fresh))
        return REPLAY_PROMPT;
    if (came_back(alone) && fresh->tried && exceeds(alone, fresh))
        return REPLAY_STATE;
    if (came_back(crowd) && replay_words_crowd_adds(alone, crowd))
        return REPLAY_LOAD;
    return REPLAY_UNSURE;
}

static const struct {
    const char *name, *meaning;
} words[] = {
    [REPLAY_UNSEEN] =
        {"not seen again",
         "The damage did not come back. It may be rare, or take what else was going on "
         "then; the upper bounds say which rates are ruled out. More --times lower "
         "them, a larger --crowd comes nearer to the run."},
    [REPLAY_UNJUDGED] = {"not judged", "No answer could be judged: the exchanges failed."},
    [REPLAY_UNSURE] =
        {"came back, cause unclear",
         "The damage came back, but chance may be all that sets the rates apart. More "
         "--times would tell."},
    [REPLAY_PROMPT] = {"prompt", "The damage comes back alone, and behind another beginning, too: "
                                 "this prompt is enough, and neither load nor cached state is "
                                 "needed for it."},
    [REPLAY_STATE] =
        {"poisoned cache state",
         "The same bytes come back damaged alone, the same conversation behind another "
         "beginning, which no cache can serve, does not: what the server has cached of "
         "this prompt is likely to be damaged. A restart or a flushed cache should end "
         "it."},
    [REPLAY_LOAD] = {"load", "The damage comes back among other requests and not alone: it takes "
                             "load, not this prompt."},
};

const char *replay_words_name(enum replay_cause cause)
{
    return words[cause].name;
}

const char *replay_words_meaning(enum replay_cause cause)
{
    return words[cause].meaning;
}
