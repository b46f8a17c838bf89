/* sim.c - the life of an endpoint: options checked, a socket bound, loops started and joined. All
 * loops accept from the one socket. It knows no route and no answer. */
#include "sim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "clock.h"
#include "family.h"
#include "fault.h"
#include "json.h"
#include "ledger.h"
#include "mem.h"
#include "phrase.h"
#include "scenario.h"
#include "serve.h"
#include "server.h"

#define BACKLOG      4096
#define MAX_BODY     ((ev_ssize_t)64 << 20) /* bytes of one request */
#define MAX_HEADERS  ((ev_ssize_t)64 << 10)
#define IDLE_S       3600   /* a silent connection is closed */
#define ACCEPT_PAUSE 100000 /* us, after descriptors ran out */
#define MAX_THREADS  64

struct sim {
    struct server server;
    struct scenario **shipped; /* owned; the given ones are not */
    size_t n_shipped;
    struct loop *loops;
    int n_loops;
    int fd;
    char *url;
};

/* As many descriptors as the system grants: one stream is one. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int load_scenarios(struct sim *s, const struct sim_options *o, struct err *err)
{
    size_t n_shipped = 0;
    while (scenario_shipped(n_shipped))
        n_shipped++;
    s->shipped = mem_zero(n_shipped, sizeof *s->shipped);
    s->server.scenarios = mem_zero(o->n_scenarios + n_shipped, sizeof *s->server.scenarios);
    for (size_t i = 0; i < o->n_scenarios; i++)
        s->server.scenarios[s->server.n_scenarios++] = o->scenarios[i];
    for (size_t i = 0; i < n_shipped; i++) {
        struct scenario *sc = scenario_load(scenario_shipped(i), err);
        if (!sc)
            return -1;
        s->shipped[s->n_shipped++] = sc;
        s->server.scenarios[s->server.n_scenarios++] = sc;
    }
    return 0;
}

static int init_server(struct sim *s, const struct sim_options *o, struct err *err)
{
    struct server *sv = &s->server;
    sv->model = mem_str(o->model ? o->model : "sim-1");
    sv->boot = o->boot ? mem_str(o->boot) : mem_printf("boot-%llu", (unsigned long long)o->seed);
    sv->api_key = mem_str(o->api_key);
    sv->seed = o->seed;
    sv->ttft_us = o->ttft_us;
    sv->itl_us = o->itl_us;
    sv->jitter = o->jitter;
    sv->tokens_per_chunk = o->tokens_per_chunk > 0 ? o->tokens_per_chunk : 1;
    sv->split = o->split;
    sv->think = o->think;
    sv->started_s = clock_wall_us() / 1000000;
    sv->phrases = phrase_open();
    sv->families = families_new();
    sv->faults = faults_new(o->faults, o->n_faults, o->factors, o->n_factors, o->seed, err);
    if (!sv->faults)
        return -1;
    sv->ledger = ledger_new(o->ledger, err);
    return sv->ledger ? load_scenarios(s, o, err) : -1;
}

/* The first address of the host on which this port can be had. */
static int bind_first(const struct addrinfo *list)
{
    int fd = -1, on = 1;
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
            break;
        int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
    return fd;
}

static int write_url(struct sim *s, const char *host, struct err *err)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char port[16];
    if (getsockname(s->fd, (struct sockaddr *)&address, &len) != 0 ||
        getnameinfo((struct sockaddr *)&address, len, NULL, 0, port, sizeof port, NI_NUMERICSERV) !=
            0)
        return err_set(err, STATUS_TOOL, "can't tell the port of '%s'", host);
    bool is_v6 = strchr(host, ':') != NULL;
    s->url = mem_printf("http://%s%s%s:%s/v1", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    return 0;
}

static int listen_on(struct sim *s, const char *host, int port, struct err *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char text[16];
    snprintf(text, sizeof text, "%d", port);
    int rc = getaddrinfo(host, text, &hints, &list);
    if (rc != 0)
        return err_set(err, STATUS_TOOL, "can't listen on '%s': %s", host, gai_strerror(rc));
    s->fd = bind_first(list);
    freeaddrinfo(list);
    if (s->fd < 0)
        return err_set(err, STATUS_TOOL, "can't listen on '%s' port %d: %s", host, port,
                       strerror(errno));
    evutil_make_socket_nonblocking(s->fd);
    evutil_make_socket_closeonexec(s->fd);
    return write_url(s, host, err);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct loop *loop = arg;
    event_base_loopbreak(loop->base);
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct loop *loop = arg;
    evconnlistener_enable(loop->listener);
}

/* Out of descriptors: without a pause the loop would do nothing but fail to accept. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct loop *loop = arg;
    struct timeval tv = {.tv_usec = ACCEPT_PAUSE};
    evconnlistener_disable(listener);
    evtimer_add(loop->pause, &tv);
}

static int open_loop(struct loop *loop, struct server *server, int fd)
{
    loop->server = server;
    if (pipe(loop->stop_pipe) != 0)
        return -1;
    evutil_make_socket_closeonexec(loop->stop_pipe[0]);
    evutil_make_socket_closeonexec(loop->stop_pipe[1]);
    loop->base = event_base_new();
    loop->http = loop->base ? evhttp_new(loop->base) : NULL;
    int own = loop->http ? dup(fd) : -1;
    if (own < 0)
        return -1;
    loop->listener = evconnlistener_new(loop->base, NULL, NULL,
                                        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, own);
    if (!loop->listener || !evhttp_bind_listener(loop->http, loop->listener))
        return -1;
    evconnlistener_set_error_cb(loop->listener, on_accept_error);
    evhttp_set_gencb(loop->http, serve_request, loop);
    evhttp_set_max_body_size(loop->http, MAX_BODY);
    evhttp_set_max_headers_size(loop->http, MAX_HEADERS);
    evhttp_set_timeout(loop->http, IDLE_S);
    loop->pause = evtimer_new(loop->base, on_pause_over, loop);
    loop->stop = event_new(loop->base, loop->stop_pipe[0], EV_READ, on_stop, loop);
    return loop->stop && event_add(loop->stop, NULL) == 0 ? 0 : -1;
}

static void close_loop(struct loop *loop)
{
    if (loop->http)
        evhttp_free(loop->http);
    if (loop->stop)
        event_free(loop->stop);
    if (loop->pause)
        event_free(loop->pause);
    if (loop->base)
        event_base_free(loop->base);
    for (int i = 0; i < 2; i++)
        if (loop->stop_pipe[i] > 0)
            close(loop->stop_pipe[i]);
    free(loop->served);
}

/* Signals are the program's business; SIGPIPE, which a client that leaves would raise, nobody's. */
static void *run_loop(void *arg)
{
    struct loop *loop = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    event_base_dispatch(loop->base);
    return NULL;
}

static int start_loops(struct sim *s, int threads, struct err *err)
{
    int n = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    s->loops = mem_zero((size_t)n, sizeof *s->loops);
    for (int i = 0; i < n; i++) {
        struct loop *loop = &s->loops[i];
        if (open_loop(loop, &s->server, s->fd) != 0 ||
            pthread_create(&loop->thread, NULL, run_loop, loop) != 0) {
            close_loop(loop);
            return err_set(err, STATUS_TOOL, "can't start event loop %d: %s", i + 1,
                           strerror(errno));
        }
        s->n_loops++;
    }
    return 0;
}

struct sim *sim_start(const struct sim_options *o, struct err *err)
{
    struct sim *s = mem_zero(1, sizeof *s);
    const char *host = o->host ? o->host : "127.0.0.1";
    s->fd = -1;
    raise_limit();
    if (init_server(s, o, err) == 0 && listen_on(s, host, o->port, err) == 0 &&
        start_loops(s, o->threads, err) == 0)
        return s;
    sim_stop(s);
    return NULL;
}

static void release_server(struct server *sv)
{
    faults_free(sv->faults);
    families_free(sv->families);
    json_free(sv->phrases);
    ledger_free(sv->ledger);
    free(sv->scenarios);
    free(sv->model);
    free(sv->boot);
    free(sv->api_key);
}

void sim_stop(struct sim *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->n_loops; i++) {
        ssize_t sent = write(s->loops[i].stop_pipe[1], "x", 1);
        if (sent == 1)
            pthread_join(s->loops[i].thread, NULL);
    }
    for (int i = 0; i < s->n_loops; i++)
        close_loop(&s->loops[i]);
    free(s->loops);
    if (s->fd >= 0)
        close(s->fd);
    for (size_t i = 0; i < s->n_shipped; i++)
        scenario_free(s->shipped[i]);
    free(s->shipped);
    release_server(&s->server);
    free(s->url);
    free(s);
}

const char *sim_url(const struct sim *s)
{
    return s->url;
}

void sim_ledger(const struct sim *s, struct buf *out)
{
    ledger_copy(s->server.ledger, out);
}

int sim_check_faults(const char *const *faults, size_t n, struct err *err)
{
    struct faults *f = faults_new(faults, n, NULL, 0, 0, err);
    faults_free(f);
    return f ? 0 : -1;
}
