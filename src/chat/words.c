/* words.c - names and meanings, each read from its one table. */
#include "words.h"

#include <string.h>

static const char *const classes[] = {
    [CLASS_LEAK] = "leak", [CLASS_ERROR] = "error", [CLASS_NO_TOOL] = "no_tool", [CLASS_OK] = "ok"};

static const struct reason_row {
    enum verdict_class class;
    const char *short_name, *meaning;
} reasons[] = {
#define REASON(name, class, meaning) {CLASS_##class, #name, meaning},
#include "reason.def"
#undef REASON
};

#define CLASS_WORD_LEAK    "leak"
#define CLASS_WORD_ERROR   "error"
#define CLASS_WORD_NO_TOOL "no_tool"
#define CLASS_WORD_OK      "ok"
static const char *const reason_names[] = {
#define REASON(name, class, meaning) CLASS_WORD_##class "." #name,
#include "reason.def"
#undef REASON
};

static const char *const quirks[][2] = {
#define QUIRK(name, meaning) {#name, meaning},
#include "quirk.def"
#undef QUIRK
};
_Static_assert(N_QUIRKS <= 64, "a quirk_set has 64 bits");

static const char *const channels[] = {
#define CHANNEL(name, meaning) #name,
#include "channel.def"
#undef CHANNEL
};

const char *class_name(enum verdict_class c)
{
    return classes[c];
}

enum verdict_class reason_class(enum reason r)
{
    return reasons[r].class;
}

const char *reason_name(enum reason r)
{
    return reason_names[r];
}

const char *reason_meaning(enum reason r)
{
    return reasons[r].meaning;
}

int reason_find(const char *name)
{
    for (int i = 0; i < N_REASONS; i++)
        if (strcmp(reason_names[i], name) == 0)
            return i;
    return -1;
}

const char *quirk_name(enum quirk q)
{
    return quirks[q][0];
}

const char *quirk_meaning(enum quirk q)
{
    return quirks[q][1];
}

int quirk_find(const char *name)
{
    for (int i = 0; i < N_QUIRKS; i++)
        if (strcmp(quirks[i][0], name) == 0)
            return i;
    return -1;
}

const char *channel_name(enum channel c)
{
    return channels[c];
}
