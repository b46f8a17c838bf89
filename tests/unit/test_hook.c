// layers: sweep base
/* Hooks: what they see, what is kept, and that nothing of a failed one stays behind. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "file.h"
#include "hook.h"

static char folder[] = "/tmp/toolstorm-hook-XXXXXX";
static char script[64], note[64];

static void write_script(const char *body)
{
    struct err e = {0};
    char text[1000];
    int n = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    CHECK_INT(file_write(script, text, (size_t)n, &e), 0);
    CHECK_INT(chmod(script, 0755), 0);
}

static struct hook_result run(const char *body, int64_t limit_us, bool (*stopped)(void))
{
    static const char *const variables[] = {"TOOLSTORM_FACTOR_GRAPH=on", "HOME=/nowhere"};
    struct hook_result r;
    struct err e = {0};
    write_script(body);
    struct hook_request q = {.path = script,
                             .action = "apply",
                             .variables = variables,
                             .n_variables = 2,
                             .limit_us = limit_us,
                             .stopped = stopped};
    CHECK_INT(hook_run(&q, &r, &e), 0);
    CHECK_STR(e.text, "");
    return r;
}

static void test_what_it_sees(void)
{
    struct hook_result r =
        run("echo \"$1 $TOOLSTORM_FACTOR_GRAPH $HOME\"; cat; echo told >&2", 5000000, NULL);
    CHECK(!r.failed);
    CHECK_STR(r.end, "exit status 0");
    CHECK_STR(buf_str(&r.output), "apply on /nowhere\ntold\n");
    CHECK_STR(r.tail, "told");
    hook_release(&r);
}

static void test_failures(void)
{
    struct hook_result r = run("echo no luck; exit 3", 5000000, NULL);
    CHECK(r.failed);
    CHECK_STR(r.end, "exit status 3");
    CHECK_STR(r.tail, "no luck");
    hook_release(&r);
    r = run("kill -9 $$", 5000000, NULL);
    CHECK(r.failed);
    CHECK_STR(r.end, "killed by signal 9");
    hook_release(&r);
}

/* True once the process is gone, or waits to be collected by whoever inherited it. */
static bool is_gone(pid_t pid)
{
    char name[64], line[256] = "";
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(name, "r");
    if (!f)
        return true;
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    fclose(f);
    const char *after = strrchr(line, ')');
    return !after || after[2] == 'Z' || after[2] == 'X';
}

static pid_t noted_pid(void)
{
    struct buf b = BUF_INIT;
    struct err e = {0};
    CHECK_INT(file_read(note, 100, &b, &e), 0);
    pid_t pid = (pid_t)strtol(buf_str(&b), NULL, 10);
    buf_release(&b);
    CHECK(pid > 1);
    return pid;
}

static bool goes_away(pid_t pid)
{
    int64_t until = clock_mono_us() + 5000000;
    while (!is_gone(pid) && clock_mono_us() < until)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return is_gone(pid);
}

/* One that hangs, and ignores being asked to end, is ended with all its children. */
static void test_hanging(void)
{
    char body[300];
    snprintf(body, sizeof body, "trap '' TERM; sleep 600 & echo $! >%s; wait; sleep 600", note);
    struct hook_result r = run(body, 300000, NULL);
    CHECK(r.failed);
    CHECK_STR(r.end, "took longer than 0.3 s");
    CHECK(r.elapsed_us < 15000000);
    CHECK(goes_away(noted_pid()));
    hook_release(&r);
}

static bool yes(void)
{
    return true;
}

static void test_stopped(void)
{
    struct hook_result r = run("exec sleep 600", 600000000, yes);
    CHECK(r.failed);
    CHECK_STR(r.end, "interrupted");
    hook_release(&r);
}

/* The server that a good hook starts lives on, and may print; the one of a failed hook does not. */
static void test_left_behind(void)
{
    char body[300];
    snprintf(body, sizeof body,
             "(trap '' PIPE; for i in 1 2 3; do echo chatter; sleep 0.02; done; exec sleep 600) & "
             "echo $! >%s; echo up",
             note);
    struct hook_result r = run(body, 5000000, NULL);
    pid_t server = noted_pid();
    CHECK(!r.failed);
    CHECK(!is_gone(server));
    hook_release(&r);
    CHECK_INT(kill(server, SIGKILL), 0);
    snprintf(body, sizeof body, "sleep 600 & echo $! >%s; exit 1", note);
    r = run(body, 5000000, NULL);
    CHECK(r.failed);
    CHECK(goes_away(noted_pid()));
    hook_release(&r);
}

static void test_cap(void)
{
    struct hook_result r = run("yes | head -c 3000000", 20000000, NULL);
    CHECK(!r.failed);
    CHECK_INT(r.output.len, HOOK_OUTPUT_BYTES);
    hook_release(&r);
}

static void test_missing(void)
{
    struct hook_request q = {.path = "/no/such/hook", .action = "apply", .limit_us = 1000000};
    struct hook_result r;
    struct err e = {0};
    CHECK_INT(hook_run(&q, &r, &e), -1);
    CHECK_INT(e.status, STATUS_USAGE);
    CHECK(strstr(e.text, "/no/such/hook"));
    hook_release(&r);
}

static void test_values(void)
{
    struct span text = span_of("base_url=http://x/v1?a=b\ngraph = off \r\nnoise\n=x\ngraph=on");
    CHECK(span_is(hook_value(text, "graph"), "on"));
    CHECK(span_is(hook_value(text, "base_url"), "http://x/v1?a=b"));
    CHECK(!hook_value(text, "noise").data);
    CHECK(!hook_value(text, "").data);
    CHECK(!hook_value(span_of(""), "a").data);
    CHECK(span_is(hook_value(span_of("a= 1 \t"), "a"), "1"));
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    snprintf(script, sizeof script, "%s/hook.sh", folder);
    snprintf(note, sizeof note, "%s/pid", folder);
    test_what_it_sees();
    test_failures();
    test_hanging();
    test_stopped();
    test_left_behind();
    test_cap();
    test_missing();
    test_values();
    unlink(script);
    unlink(note);
    rmdir(folder);
    return check_end();
}
