/* words_sql.h - the words of verdicts as SQL functions. */
#ifndef WORDS_SQL_H
#define WORDS_SQL_H

#include "err.h"

struct store;

/* reason_meaning('leak.markup'), quirk_meaning('no_done'); NULL for what is no such word. */
int words_sql_define(struct store *s, struct err *err) MUST_CHECK;

#endif
