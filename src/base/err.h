/* err.h - why something failed, in one line, and which exit status that is. */
#ifndef ERR_H
#define ERR_H

#include <stddef.h>

/* The exit statuses of the program; `toolstorm help exit` prints this table. */
enum exit_status {
#define EXIT_STATUS(name, number, meaning) STATUS_##name = number,
#include "exit_status.def"
#undef EXIT_STATUS
};

struct err {
    enum exit_status status; /* STATUS_PASS while nothing failed */
    char text[1024];         /* lower case, the failure first, subjects in quotes, no full stop */
};

/* Sets *e, if e is not NULL, and returns -1, so that `return err_set(...)` reads well. The first
 * failure stays: a later one does not overwrite it. */
int err_set(struct err *e, enum exit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " before the text. Always returns -1. */
int err_prefix(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
