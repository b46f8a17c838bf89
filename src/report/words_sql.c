/* words_sql.c - lends the tables of words to SQL, so that reports can join meanings. */
#include "words_sql.h"

#include <stddef.h>

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

int words_sql_define(struct store *s, struct err *err)
{
    if (store_define(s, "reason_meaning", meaning_of_reason, err) < 0)
        return -1;
    return store_define(s, "quirk_meaning", meaning_of_quirk, err);
}
