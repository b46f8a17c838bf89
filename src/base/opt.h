/* opt.h - command-line options as rows: one row is the flag, its check, its default and its help.
 */
#ifndef OPT_H
#define OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

enum opt_kind {
    OPT_BOOL,     /* bool; --name and --no-name */
    OPT_LONG,     /* long, within [min, max] */
    OPT_DOUBLE,   /* double, within [min, max] */
    OPT_RATE,     /* double 0..1; "15%", "15pp" or "0.15" */
    OPT_DURATION, /* int64_t microseconds; "250ms", "30s" or "30", "2m", "1h"; min, max in seconds
                   */
    OPT_TEXT,     /* const char *; one of `choices` if there are any */
    OPT_LIST      /* struct opt_list; may be given several times */
};

struct opt_list {
    const char **items; /* borrowed from argv; the array is freed by opt_release() */
    size_t n, cap;
};

struct opt {
    const char *name;  /* without dashes; NULL ends a table; a row with kind OPT_BOOL and no offset
                          is never needed */
    const char *alias; /* second long name, or NULL */
    char letter;       /* "-q", or 0 */
    enum opt_kind kind;
    size_t offset;       /* of the field in the target struct */
    const char *value;   /* what stands for the value in the help: "N", "SECONDS" */
    const char *initial; /* default, as the user would type it; NULL: field left as it is */
    double min, max;     /* for numbers; both 0 = any that is not negative */
    const char *choices; /* "stop|scrub|keep", or NULL */
    const char *group;   /* heading in the help, on the first row of a group */
    const char *help;
};

/* Sets every field to its row's default, then reads argv[0..argc). What is no option goes to
 * *operands ("--" ends the options). Errors of status 2 name the flag, the value and what was
 * expected; an unknown flag names the nearest known one. "--help" sets *help and stops. */
int opt_parse(const struct opt *table, void *target, int argc, char **argv,
              struct opt_list *operands, bool *help, struct err *err) MUST_CHECK;

/* Frees the arrays of every list in `target`. */
void opt_release(const struct opt *table, void *target);

/* Adds the help text of a table, in groups, at most 100 columns wide. */
void opt_help(const struct opt *table, struct buf *out);

/* Calls `each` with every option's name and its value in force as text; lists are joined by '\n'.
 * Options that were never given a value are left out. */
void opt_each(const struct opt *table, const void *target,
              void (*each)(void *arg, const char *name, const char *value), void *arg);

/* The known word nearest to `word` by edit distance, or NULL if none is near. */
const char *opt_nearest(const char *word, const char *const *known, size_t n);

#endif
