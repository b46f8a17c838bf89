/* words_sql.c - lends the tables of words to SQL, so that reports can join meanings. */
#include "words_sql.h"

#include <stddef.h>
#include <string.h>

#include "store.h"
#include "words.h"

static const char *meaning_of_reason(const char *name)
{
    int reason = reason_find(name);
    return reason < 0 ? NULL : reason_meaning((enum reason)reason);
}

static const char *meaning_of_quirk(const char *name)
{
    int quirk = quirk_find(name);
    return quirk < 0 ? NULL : quirk_meaning((enum quirk)quirk);
}

/* Why a run of this status that lacks so many sessions did not finish; NULL if it did. A run that
 * was killed could not say so. */
static const char *why_unfinished(const char *status, long missing)
{
    if (!status || strcmp(status, "running") == 0)
        return "it was killed, or is still going on";
    if (missing <= 0 || strcmp(status, "decided") == 0)
        return NULL;
    if (strcmp(status, "interrupted") == 0)
        return "it was interrupted";
    return strcmp(status, "partial") == 0 ? "it was merged without all of its shards"
                                          : "it ended early";
}

int words_sql_define(struct store *s, struct err *err)
{
    if (store_define(s, "reason_meaning", meaning_of_reason, err) < 0 ||
        store_define(s, "quirk_meaning", meaning_of_quirk, err) < 0)
        return -1;
    return store_define_counted(s, "why_unfinished", why_unfinished, err);
}
