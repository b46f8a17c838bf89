/* server.h - what the parts of a running endpoint share. Everything in struct server is constant
 * once its loops run, but for the counters and the ledger. */
#ifndef SERVER_H
#define SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;
struct evconnlistener;
struct evhttp;
struct families;
struct faults;
struct json;
struct ledger;
struct scenario;

struct server {
    char *model, *boot, *api_key;
    uint64_t seed;
    int64_t ttft_us, itl_us;
    double jitter;
    int tokens_per_chunk, split;
    bool think;
    long long started_s;

    const struct scenario **scenarios; /* given ones first: they hide shipped ones of their name */
    size_t n_scenarios;
    struct faults *faults;
    struct families *families;
    struct json *phrases;
    struct ledger *ledger;

    atomic_long requests, inflight, completion_tokens, abandoned;
};

/* One thread, one event loop, its share of the connections. */
struct loop {
    struct server *server;
    pthread_t thread;
    struct event_base *base;
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *stop, *pause; /* pause: accepting goes on after a while */
    int stop_pipe[2];
    unsigned *served; /* requests on the connection of each descriptor */
    size_t n_served;
};

#endif
