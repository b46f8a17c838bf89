/* commands.h - what the commands share: their table, messages, the terminal, the stop signal. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "err.h"

struct buf;
struct opt;
struct opt_list;

/* A command returns its exit status, or -1 with *err set. argv[0] is the first word behind the
 * command's name. */
#define COMMAND(name, about) int cmd_##name(int argc, char **argv, struct err *err);
#include "commands.def"
#undef COMMAND

struct command {
    const char *name, *about;
    int (*run)(int argc, char **argv, struct err *err);
};
extern const struct command commands[]; /* ends with a NULL name */

/* Parses by the table. 0 = go on; 1 = help was asked for and printed; -1 = failed. `usage` is the
 * line behind "usage: toolstorm ", `about` one or two sentences below it. */
int cmd_options(const char *usage, const char *about, const struct opt *table, void *target,
                int argc, char **argv, struct opt_list *operands, struct err *err);

/* Writes to standard output; a failure (full disk, closed pipe) is an error of status 5. */
int cmd_print(const struct buf *text, struct err *err);

/* An operand that is a number from 1 on; `what` is whose: "run". */
int cmd_number(const char *text, const char *what, long *n, struct err *err) MUST_CHECK;

/* From here to the end, standard output goes through the user's pager, if it is a terminal and one
 * is wanted. NULL if there is none; cmd_pager_end() takes that too. Ask for colours and columns
 * first. */
FILE *cmd_pager_start(bool wanted);
void cmd_pager_end(FILE *pager); /* standard output is closed afterwards */

/* Refuses an output file that is the database (either may be NULL). */
int cmd_check_output(const char *file, const char *db, struct err *err);

/* A line of chatter on standard error: "toolstorm: ...". */
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool cmd_stdout_has_colour(void); /* a terminal, NO_COLOR unset, TERM not dumb */
bool cmd_stderr_is_terminal(void);
int cmd_columns(void); /* of the terminal, 80 elsewhere */

/* From now on SIGINT and SIGTERM are only remembered; a second one ends the process at once. */
void cmd_catch_stop(void);

/* The exit status of the signal that came (130 or 143), or 0. */
int cmd_stopped(void);

#endif
