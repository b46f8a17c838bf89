/* main.c - the program's entry; everything is in cmd. */
#include "cmd.h"

int main(int argc, char **argv)
{
    return cmd_main(argc, argv);
}
