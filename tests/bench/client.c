/* client.c - one client of the speed measurements, by name: bare epoll with more and less parsing,
 * or the engine. Prints a line of JSON with its own CPU time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bare.h"
#include "engine.h"
#include "err.h"
#include "mem.h"
#include "opt.h"
#include "tally.h"

struct options {
    const char *mode, *spec;
    long port, sessions, requests, body_bytes, threads;
    bool tls;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt table[] = {
    {.name = "mode",
     .kind = OPT_TEXT,
     .offset = FIELD(mode),
     .initial = "engine",
     .choices = "bytes|decode|engine|trees",
     .value = "WORD",
     .help = "the client"},
    {.name = "port",
     .kind = OPT_LONG,
     .offset = FIELD(port),
     .max = 65535,
     .value = "N",
     .help = "of the server on 127.0.0.1"},
    {.name = "spec",
     .kind = OPT_TEXT,
     .offset = FIELD(spec),
     .initial = "e100-r0-d1-t0",
     .value = "WORD",
     .help = "the answer, as the server reads it"},
    {.name = "sessions",
     .kind = OPT_LONG,
     .offset = FIELD(sessions),
     .initial = "100",
     .min = 1,
     .max = 100000,
     .value = "N",
     .help = "requests in flight"},
    {.name = "requests",
     .kind = OPT_LONG,
     .offset = FIELD(requests),
     .initial = "100",
     .min = 1,
     .max = 10000000,
     .value = "N",
     .help = "in total"},
    {.name = "body",
     .kind = OPT_LONG,
     .offset = FIELD(body_bytes),
     .initial = "1000",
     .max = 10000000,
     .value = "BYTES",
     .help = "of a request"},
    {.name = "threads",
     .kind = OPT_LONG,
     .offset = FIELD(threads),
     .initial = "1",
     .min = 1,
     .max = 64,
     .value = "N",
     .help = "of the engine"},
    {.name = "tls", .kind = OPT_BOOL, .offset = FIELD(tls), .help = "the engine speaks TLS"},
    {0}};

static bool is_paced(const struct options *o)
{
    return strstr(o->spec, "-r0-") == NULL;
}

static int run_bare(const struct options *o, struct tally *t, struct err *err)
{
    char *path = mem_printf("/%s/v1/chat/completions", o->spec);
    struct bare_job job = {.decode = strcmp(o->mode, "decode") == 0,
                           .paced = is_paced(o),
                           .port = (int)o->port,
                           .path = path,
                           .sessions = o->sessions,
                           .requests = o->requests,
                           .body_bytes = o->body_bytes};
    bool ok = bare_run(&job, t);
    free(path);
    return ok ? 0 : err_set(err, STATUS_ENDPOINT, "cannot reach the server");
}

static int run_engine(const struct options *o, struct tally *t, struct err *err)
{
    char *url = mem_printf("%s://127.0.0.1:%ld/%s/v1", o->tls ? "https" : "http", o->port, o->spec);
    struct engine_job job = {.url = url,
                             .sessions = o->sessions,
                             .requests = o->requests,
                             .body_bytes = o->body_bytes,
                             .threads = (int)o->threads,
                             .paced = is_paced(o),
                             .trees = strcmp(o->mode, "trees") == 0,
                             .insecure = o->tls};
    int rc = engine_run(&job, t, err);
    free(url);
    return rc;
}

static int run(const struct options *o, struct err *err)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    struct tally t;
    tally_begin(&t);
    bool bare = strcmp(o->mode, "bytes") == 0 || strcmp(o->mode, "decode") == 0;
    int rc = bare ? run_bare(o, &t, err) : run_engine(o, &t, err);
    tally_print(&t, o->mode);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct opt_list operands = {0};
    struct err err = {0};
    bool help = false;
    int rc = opt_parse(table, &o, argc - 1, argv + 1, &operands, &help, &err);
    if (rc == 0 && !help)
        rc = run(&o, &err);
    if (rc != 0)
        fprintf(stderr, "bench client: %s\n", err.text);
    opt_release(table, &o);
    free(operands.items);
    return rc == 0 ? 0 : (int)err.status;
}
