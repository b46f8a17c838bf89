/* replay_words.h - what it means that damage came back, or did not. */
#ifndef REPLAY_WORDS_H
#define REPLAY_WORDS_H

#include <stdbool.h>

/* Sessions corrupted among those judged; `tried` false: this way was not taken. */
struct replay_tally {
    bool tried;
    long corrupt, judged;
};

enum replay_cause {
    REPLAY_UNSEEN,   /* it came back nowhere */
    REPLAY_UNJUDGED, /* too little could be judged to say anything */
    REPLAY_UNSURE,   /* it came back, and chance may be all that sets the ways apart */
    REPLAY_PROMPT,   /* alone, and behind another beginning too */
    REPLAY_STATE,    /* alone, but not behind another beginning */
    REPLAY_LOAD      /* in a crowd, not alone */
};

/* Decides by the mid-p of Fisher's test at the 5 % level. `alone`: the same bytes; `fresh`: the
 * same conversation behind another beginning, which no cache can serve; `crowd`: the same bytes
 * among others. */
enum replay_cause replay_words_cause(const struct replay_tally *alone,
                                     const struct replay_tally *fresh,
                                     const struct replay_tally *crowd);

/* The cause in a word ("load") and in a sentence or two. */
const char *replay_words_name(enum replay_cause cause);
const char *replay_words_meaning(enum replay_cause cause);

/* True if the crowd makes it come back more often than it does alone. */
bool replay_words_crowd_adds(const struct replay_tally *alone, const struct replay_tally *crowd);

#endif
