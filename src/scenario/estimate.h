/* estimate.h - about how many tokens a text costs. */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Tokens that a present-day byte-pair vocabulary of 100,000 to 200,000 entries makes of the text,
 * give or take 15 % on prose, records, log lines and tables. The rule is in estimate.c. */
long estimate_tokens(struct span text);

/* What has to be known of a text to tell the tokens of several that are joined: words may go on
 * from one to the next. Zeroed, it stands for an empty text. */
struct estimate {
    size_t first, last; /* letters at its start and at its end */
    int64_t between;    /* 64ths of a token of what lies between them */
    bool broken;        /* false: there is nothing but `first` letters, and `last` is 0 */
};

struct estimate estimate_of(struct span text);
void estimate_add(struct estimate *e, const struct estimate *behind);
long estimate_total(const struct estimate *e); /* tokens */

#endif
