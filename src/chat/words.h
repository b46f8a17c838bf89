/* words.h - the words of a verdict: classes, reasons, channels, quirks. One table each. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>

/* Worst first: of two classes the smaller wins. A cut stream is an error, not a missing call. */
enum verdict_class { CLASS_LEAK, CLASS_ERROR, CLASS_NO_TOOL, CLASS_OK, N_CLASSES };

enum reason {
#define REASON(name, class, meaning) REASON_##name,
#include "reason.def"
#undef REASON
    N_REASONS
};

enum quirk {
#define QUIRK(name, meaning) QUIRK_##name,
#include "quirk.def"
#undef QUIRK
    N_QUIRKS
};

enum channel {
#define CHANNEL(name, meaning) CHANNEL_##name,
#include "channel.def"
#undef CHANNEL
    N_CHANNELS
};

const char *class_name(enum verdict_class c); /* "leak" */
enum verdict_class reason_class(enum reason r);
const char *reason_name(enum reason r); /* "leak.markup" */
const char *reason_meaning(enum reason r);
int reason_find(const char *name); /* by "leak.markup"; -1 if unknown */
const char *quirk_name(enum quirk q);
const char *quirk_meaning(enum quirk q);
int quirk_find(const char *name);
const char *channel_name(enum channel c);

/* A set of quirks; one bit each. */
typedef unsigned long long quirk_set;
#define QUIRK_BIT(name) (1ull << QUIRK_##name)

#endif
