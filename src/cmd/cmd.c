/* cmd.c - finds the command, and is the one place where a failure is printed. */
#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "commands.h"
#include "manual.h"
#include "mem.h"
#include "opt.h"
#include "text.h"

const struct command commands[] = {
#define COMMAND(name, about) {#name, about, cmd_##name},
#include "commands.def"
#undef COMMAND
    {NULL, NULL, NULL},
};

#define HELP_COLUMNS 96 /* as the table of options */

static void add_usage(struct buf *out)
{
    buf_adds(out, "usage: toolstorm COMMAND [options]\n\n"
                  "Finds tool calls that a model server corrupts under load.\n\ncommands:\n");
    for (const struct command *c = commands; c->name; c++)
        buf_addf(out, "  %-9s %s\n", c->name, c->about);
    buf_adds(out, "\nexit statuses:\n");
#define EXIT_STATUS(name, number, meaning) buf_addf(out, "  %3d  %s\n", number, meaning);
#include "exit_status.def"
#undef EXIT_STATUS
    buf_adds(out, "\n`toolstorm COMMAND --help` says more.\n");
}

/* Where a line breaks is decided here, not where the words stand. */
static void add_paragraph(struct buf *out, const char *words)
{
    char *line = mem_str(words);
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    text_wrap(out, line, 0, HELP_COLUMNS);
    free(line);
}

int cmd_options(const char *usage, const char *about, const struct opt *table, void *target,
                int argc, char **argv, struct opt_list *operands, struct err *err)
{
    bool help;
    const struct manual_form *form = argc == 1 ? manual_asked(argv[0]) : NULL;
    if (form) {
        struct buf part = BUF_INIT;
        form->part(&(struct manual_part){usage, about, table}, &part);
        int rc = cmd_print(&part, err);
        buf_release(&part);
        return rc == 0 ? 1 : -1;
    }
    if (opt_parse(table, target, argc, argv, operands, &help, err) != 0)
        return -1;
    if (!help)
        return 0;
    struct buf text = BUF_INIT;
    struct buf options = BUF_INIT;
    opt_help(table, &options);
    buf_addf(&text, "usage: toolstorm %s\n\n", usage);
    add_paragraph(&text, about);
    buf_addf(&text, "\n%s", buf_str(&options));
    int rc = cmd_print(&text, err);
    buf_release(&options);
    buf_release(&text);
    return rc == 0 ? 1 : -1;
}

int cmd_print(const struct buf *text, struct err *err)
{
    if (fwrite(buf_str(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0)
        return 0;
    if (errno == EPIPE) { /* `| head` has seen enough: nothing that anybody needs to be told */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return err_set(err, STATUS_TOOL, "cannot write to standard output: %s", strerror(errno));
}

int cmd_number(const char *text, const char *what, long *n, struct err *err)
{
    char *end;
    errno = 0;
    *n = strtol(text, &end, 10);
    if (end == text || *end || errno || *n < 1)
        return err_set(err, STATUS_USAGE, "'%s': expected the number of a %s", text, what);
    return 0;
}

int cmd_check_output(const char *file, const char *db, struct err *err)
{
    struct stat a, b;
    if (!file || !db)
        return 0;
    bool same = strcmp(file, db) == 0 || (stat(file, &a) == 0 && stat(db, &b) == 0 &&
                                          a.st_dev == b.st_dev && a.st_ino == b.st_ino);
    return same && strcmp(file, "-") != 0
               ? err_set(err, STATUS_USAGE, "'%s' is the database; the output needs another file",
                         file)
               : 0;
}

void cmd_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("toolstorm: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

bool cmd_stdout_has_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && no[0]) && term && strcmp(term, "dumb") != 0;
}

bool cmd_stderr_is_terminal(void)
{
    return isatty(STDERR_FILENO);
}

int cmd_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static volatile sig_atomic_t stop_signal; /* the stop flag */

static void on_stop(int signal)
{
    if (stop_signal)
        _exit(128 + signal);
    stop_signal = signal;
}

void cmd_catch_stop(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cmd_stopped(void)
{
    return stop_signal ? 128 + stop_signal : 0;
}

static const struct command *find(const char *name, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    for (const struct command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
        names[n++] = c->name;
    }
    const char *near = opt_nearest(name, names, n);
    if (near)
        err_set(err, STATUS_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
    else
        err_set(err, STATUS_USAGE, "unknown command '%s'; `toolstorm --help` lists them", name);
    return NULL;
}

static int dispatch(int argc, char **argv, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = -1;
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--version") == 0) {
        buf_addf(&text, "toolstorm %s\n", TOOLSTORM_VERSION);
        rc = cmd_print(&text, err);
    } else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        add_usage(&text);
        rc = cmd_print(&text, err);
        if (rc == 0 && argc < 2)
            rc = STATUS_USAGE;
    } else {
        const struct command *c = find(name, err);
        if (c)
            rc = c->run(argc - 2, argv + 2, err);
    }
    buf_release(&text);
    return rc;
}

int cmd_main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file limit is a full disk: an error, not an end */
    struct err err = {0};
    int status = dispatch(argc, argv, &err);
    if (status >= 0)
        return status;
    fprintf(stderr, "toolstorm: %s\n", err.text);
    return err.status != STATUS_PASS ? (int)err.status : STATUS_TOOL;
}
