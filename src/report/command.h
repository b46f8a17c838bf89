/* command.h - a stored command line, for somebody else to repeat. */
#ifndef COMMAND_H
#define COMMAND_H

#include "buf.h"

/* Adds the words of a command line as a shell reads them, without the options that only say where
 * this user's files are or how the terminal looked. */
void command_portable(struct buf *out, struct span command);

#endif
