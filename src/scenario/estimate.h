/* estimate.h - about how many tokens a text costs. */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "buf.h"

/* Tokens that a present-day byte-pair vocabulary of 100,000 to 200,000 entries makes of the text,
 * give or take 15 % on prose, records, log lines and tables. The rule is in estimate.c. */
long estimate_tokens(struct span text);

#endif
