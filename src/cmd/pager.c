/* pager.c - long text on a terminal goes through a pager, as git does it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* What the user wants: TOOLSTORM_PAGER, then PAGER, then less; "" and "cat" mean none. */
static const char *pager_command(void)
{
    const char *named = getenv("TOOLSTORM_PAGER");
    if (!named)
        named = getenv("PAGER");
    if (!named)
        return "less";
    return named[0] && strcmp(named, "cat") != 0 ? named : NULL;
}

FILE *cmd_pager_start(bool wanted)
{
    const char *command = wanted && isatty(STDOUT_FILENO) ? pager_command() : NULL;
    if (!command)
        return NULL;
    /* Quit if it fits one screen, keep colours, leave the text on the screen. A pager that is not
     * there must not cost the text. */
    setenv("LESS", "FRX", 0);
    char line[512];
    snprintf(line, sizeof line, "%s || cat", command);
    fflush(stdout);
    FILE *pager = popen(line, "w");
    if (pager)
        dup2(fileno(pager), STDOUT_FILENO);
    return pager;
}

void cmd_pager_end(FILE *pager)
{
    if (!pager)
        return;
    fflush(stdout);
    close(STDOUT_FILENO);
    pclose(pager);
}
