/* hook.c - one child process: its start, its time limit, its output. It knows no cell and no
 * configuration; what the output means is the callers' business. */
#include "hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"

#define LOOK_NS  5000000 /* between two looks at the child */
#define GRACE_US 5000000 /* between asking a process group to end and ending it */

extern char **environ;

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* This program's environment with the variables in place of those of their names. The strings are
 * borrowed, the array is the caller's. */
static char **make_environment(const struct hook_request *q)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = mem_zero(n + q->n_variables + 1, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < q->n_variables; k++)
            replaced = replaced || same_name(q->variables[k], environ[i]);
        if (!replaced)
            all[kept++] = environ[i];
    }
    for (size_t k = 0; k < q->n_variables; k++)
        memcpy(&all[kept++], &q->variables[k], sizeof all[0]);
    return all;
}

/* Between fork and exec. */
static void become(const struct hook_request *q, char **environment, int out, int told)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    int in = open("/dev/null", O_RDONLY);
    if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0) {
        char *path = strdup(q->path), *action = strdup(q->action);
        char *args[] = {path, action, NULL};
        environ = environment;
        if (path && action)
            execvp(path, args);
    }
    int why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* 0, or the errno of an exec that failed. The pipe closes by itself when exec succeeds. */
static int exec_failure(int told)
{
    int why = 0;
    ssize_t n;
    do
        n = read(told, &why, sizeof why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof why ? why : 0;
}

static pid_t start(const struct hook_request *q, int out, struct err *err)
{
    int told[2];
    if (pipe(told) != 0)
        return err_set(err, STATUS_TOOL, "cannot start '%s': %s", q->path, strerror(errno));
    fcntl(told[0], F_SETFD, FD_CLOEXEC);
    fcntl(told[1], F_SETFD, FD_CLOEXEC);
    char **environment = make_environment(q);
    pid_t child = fork();
    if (child == 0)
        become(q, environment, out, told[1]);
    int why = errno;
    free(environment);
    close(told[1]);
    if (child > 0) {
        setpgid(child, child);
        why = exec_failure(told[0]);
        if (why) {
            waitpid(child, NULL, 0);
            child = -1;
        }
    }
    close(told[0]);
    if (child < 0)
        err_set(err, STATUS_USAGE, "cannot run the hook '%s': %s", q->path, strerror(why));
    return child;
}

/* True if the child ended before `until_us`, or before somebody wants to stop. */
static bool wait_for(pid_t child, int *status, int64_t until_us, bool (*stopped)(void))
{
    for (;;) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        if (clock_mono_us() >= until_us || (stopped && stopped()))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

static void end_group(pid_t child, bool child_lives)
{
    int status;
    kill(-child, SIGTERM);
    if (child_lives && !wait_for(child, &status, clock_mono_us() + GRACE_US, NULL)) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
    }
    kill(-child, SIGKILL);
}

static void say_end(const struct hook_request *q, bool ended, int status, struct hook_result *r)
{
    r->failed = true;
    if (!ended && q->stopped && q->stopped())
        snprintf(r->end, sizeof r->end, "interrupted");
    else if (!ended)
        snprintf(r->end, sizeof r->end, "took longer than %.4g s", (double)q->limit_us / 1e6);
    else if (WIFSIGNALED(status))
        snprintf(r->end, sizeof r->end, "killed by signal %d", WTERMSIG(status));
    else {
        snprintf(r->end, sizeof r->end, "exit status %d", WEXITSTATUS(status));
        r->failed = WEXITSTATUS(status) != 0;
    }
}

static void read_output(int fd, struct hook_result *r)
{
    char chunk[16384];
    ssize_t n;
    r->output.cap = HOOK_OUTPUT_BYTES;
    off_t at = 0;
    while (!r->output.full && (n = pread(fd, chunk, sizeof chunk, at)) > 0) {
        buf_add(&r->output, chunk, (size_t)n);
        at += n;
    }
    const char *text = buf_str(&r->output);
    size_t end = r->output.len;
    while (end > 0 && strchr(" \r\n\t", text[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    snprintf(r->tail, sizeof r->tail, "%.*s", (int)(end - from), text + from);
}

int hook_run(const struct hook_request *q, struct hook_result *r, struct err *err)
{
    *r = (struct hook_result){0};
    FILE *out = tmpfile();
    if (!out)
        return err_set(err, STATUS_TOOL, "cannot keep the output of a hook: %s", strerror(errno));
    fcntl(fileno(out), F_SETFD, FD_CLOEXEC);
    int64_t began = clock_mono_us();
    pid_t child = start(q, fileno(out), err);
    int status = 0;
    if (child > 0) {
        bool ended = wait_for(child, &status, began + q->limit_us, q->stopped);
        say_end(q, ended, status, r);
        if (r->failed)
            end_group(child, !ended);
        r->elapsed_us = clock_mono_us() - began;
        read_output(fileno(out), r);
    }
    fclose(out);
    return child > 0 ? 0 : -1;
}

void hook_release(struct hook_result *r)
{
    buf_release(&r->output);
}

static struct span trimmed(struct span s)
{
    while (s.len > 0 && strchr(" \t\r", s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && strchr(" \t\r", s.data[s.len - 1]))
        s.len--;
    return s;
}

struct span hook_value(struct span output, const char *key)
{
    struct span found = {NULL, 0};
    size_t from = 0;
    while (from < output.len) {
        long end = span_find(output, span_of("\n"), from);
        size_t to = end < 0 ? output.len : (size_t)end;
        struct span line = {output.data + from, to - from};
        long eq = span_find(line, span_of("="), 0);
        if (eq > 0 && span_is(trimmed((struct span){line.data, (size_t)eq}), key))
            found = trimmed((struct span){line.data + eq + 1, line.len - (size_t)eq - 1});
        from = to + 1;
    }
    return found;
}
