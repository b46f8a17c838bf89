/* cmd.h - what the user typed. */
#ifndef CMD_H
#define CMD_H

/* Runs the program; returns its exit status. */
int cmd_main(int argc, char **argv);

#endif
