/* wait.c - `toolstorm wait`: returns when an endpoint can do what a run needs. */
#include <stdlib.h>

#include "buf.h"
#include "commands.h"
#include "endpoint.h"
#include "endpoint_options.h"
#include "http.h"
#include "opt.h"
#include "ready.h"

struct wait_args {
    struct endpoint_options endpoint;
    int64_t limit_us, period_us;
    bool tool_call, quiet;
};

#define AT(field) offsetof(struct wait_args, field)

static const struct opt table[] = {
#define ENDPOINT_AT(field) AT(endpoint.field)
#include "endpoint_options.def"
    {"limit", NULL, 0, OPT_DURATION, AT(limit_us), "TIME", "10m", 0, 1e6, NULL, "Waiting",
     "give up after so long"},
    {"every", NULL, 0, OPT_DURATION, AT(period_us), "TIME", "1s", 0, 3600, NULL, NULL,
     "pause between two tries"},
    {"tool-call", NULL, 0, OPT_BOOL, AT(tool_call), NULL, "yes", 0, 0, NULL, NULL,
     "a completion is enough; do not ask for a tool call"},
    {"quiet", NULL, 'q', OPT_BOOL, AT(quiet), NULL, "no", 0, 0, NULL, NULL,
     "do not say what is waited for"},
    {0},
};

static bool is_stopped(void)
{
    return cmd_stopped() != 0;
}

static void tell(void *arg, const char *what)
{
    (void)arg;
    cmd_note("waiting: %s", what);
}

static int wait_until_ready(const struct wait_args *a, struct err *err)
{
    struct endpoint ep = {0};
    struct buf line = BUF_INIT;
    char *model = NULL;
    int rc = -1;
    if (http_global_init(err) != 0)
        return -1;
    if (endpoint_options_open(&a->endpoint, &ep, err) != 0)
        goto out;
    cmd_catch_stop();
    struct ready_request r = {.endpoint = &ep,
                              .model = a->endpoint.model,
                              .limit_us = a->limit_us,
                              .period_us = a->period_us,
                              .tool_call = a->tool_call,
                              .stop = is_stopped,
                              .tell = a->quiet ? NULL : tell};
    rc = ready_wait(&r, &model, err);
    if (rc == 0) {
        buf_addf(&line, "ready: %s at %s\n", model, ep.host);
        rc = cmd_print(&line, err);
    } else if (cmd_stopped()) {
        cmd_note("%s", err->text);
        rc = cmd_stopped();
    }
out:
    free(model);
    buf_release(&line);
    endpoint_release(&ep);
    http_global_end();
    return rc;
}

int cmd_wait(int argc, char **argv, struct err *err)
{
    struct wait_args a = {0};
    struct opt_list operands = {0};
    int rc = cmd_options("wait [options]",
                         "Waits until an endpoint is healthy, answers a tiny completion and makes "
                         "one right tool call. Exit\nstatus 0 when it is ready, 3 when the time is "
                         "over or waiting is hopeless.",
                         table, &a, argc, argv, &operands, err);
    if (rc == 0 && operands.n > 0)
        rc = err_set(err, STATUS_USAGE, "'%s': wait takes no operands", operands.items[0]);
    if (rc == 0)
        rc = endpoint_options_check(&a.endpoint, err);
    if (rc == 0 && !a.endpoint.base_url)
        rc = err_set(err, STATUS_USAGE, "no endpoint: give --base-url or set OPENAI_BASE_URL");
    if (rc == 0)
        rc = wait_until_ready(&a, err);
    else if (rc == 1)
        rc = STATUS_PASS;
    free(operands.items);
    opt_release(table, &a);
    return rc;
}
