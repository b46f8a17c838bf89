/* pattern.h - regular expressions over bytes that may be anything. The one home of PCRE2. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct pattern; /* compiled once, JIT where there is one; threads may share it */

enum pattern_flags {
    PATTERN_BYTES = 0, /* bytes, case matters, ^ and $ at line ends */
    PATTERN_NOCASE = 1,
    PATTERN_UTF = 2,        /* code points; invalid UTF-8 never matches (JSON Schema's "pattern") */
    PATTERN_WHOLE_TEXT = 4, /* ^ and $ only at the ends of the text */
    PATTERN_NEAR = 8        /* for many searches within a few places each: PCRE2 would look through
                             * the rest of a text before each of them */
};

/* Compiles; NULL with an error of status 2 that names the offset. The just-in-time compiler waits
 * until the first search. */
struct pattern *pattern_new(const char *regex, unsigned flags, struct err *err);

/* The same for an expression that is known to compile, which waits for the first search, too: most
 * rules are never needed. Ends the program if it does not compile. */
struct pattern *pattern_later(const char *regex, unsigned flags);
void pattern_free(struct pattern *p); /* accepts NULL */

struct pattern_hit {
    size_t start, end;             /* the whole match */
    size_t group_start, group_end; /* group 1 if it took part, else the whole match */
};

enum pattern_result { PATTERN_NO, PATTERN_YES, PATTERN_GAVE_UP /* match or heap limit */ };

/* What a search writes to, for any number of them by one thread at a time. */
struct pattern_scratch;
struct pattern_scratch *pattern_scratch_new(void);
void pattern_scratch_free(struct pattern_scratch *s); /* accepts NULL */

/* First match at or after `from`. Every call is bounded by match, depth and heap limits, so no
 * text can make it run for long. */
enum pattern_result pattern_find(struct pattern *p, struct span text, size_t from,
                                 struct pattern_hit *hit);

/* The same, but the match must start within [from, last]. What lies outside is still seen by
 * look-around, ^, $ and \z. */
enum pattern_result pattern_find_within(struct pattern *p, struct pattern_scratch *scratch,
                                        struct span text, size_t from, size_t last,
                                        struct pattern_hit *hit);

/* True if this build and machine run patterns through the just-in-time compiler. */
bool pattern_has_jit(void);

#endif
