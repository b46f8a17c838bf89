/* sim.h - the simulated endpoint: an OpenAI-compatible server that plays scenarios rightly, and
 * damages sessions as told. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct buf;
struct scenario;
struct sim;

/* Every request of `run` names its session in this header, so that the endpoint can play the right
 * part and keep its ledger. A real server ignores it; a gateway's log can be searched for it.
 * Value: "scenario=NAME;seed=S;session=K;round=R;rounds=N;context=T;boot=TEXT;sessions=M;
 * replay=1"; scenario, session and round are needed. A replay is damaged each time. */
#define SIM_SESSION_HEADER "X-Toolstorm-Session"

struct sim_options {
    const char *host;                        /* NULL: 127.0.0.1 */
    int port;                                /* 0: a free one */
    const struct scenario *const *scenarios; /* besides the shipped ones; borrowed */
    size_t n_scenarios;
    const char *const *faults; /* rules, see sim_fault_help() */
    size_t n_faults;
    uint64_t seed;              /* which sessions a rule hits */
    const char *boot;           /* name of this server start; NULL: made from the seed */
    const char *const *factors; /* "NAME=VALUE": settings that rules may ask about */
    size_t n_factors;
    const char *model;       /* NULL: "sim-1" */
    const char *ledger;      /* file to append to; NULL: memory only */
    const char *api_key;     /* demanded if not NULL */
    int64_t ttft_us, itl_us; /* first-token and inter-token delay */
    double jitter;           /* 0..1: how far delays scatter, as a share */
    int tokens_per_chunk;    /* 0: 1 */
    int split;               /* >0: cut the body into pieces of 1..split bytes at random places */
    bool think;              /* play with a reasoning text before each answer */
    int threads;             /* event loops; 0: 1 */
};

/* Binds, and serves from threads of its own until sim_stop(). Error status 2 for a bad fault rule
 * (naming the known reasons), 5 if it can't listen. */
struct sim *sim_start(const struct sim_options *o, struct err *err);
void sim_stop(struct sim *s);

const char *sim_url(const struct sim *s); /* "http://127.0.0.1:PORT/v1" */

/* Adds the ledger so far: one JSON object a line, "session", "round", "reason", and how. A line is
 * there before the first byte that makes its reply a damaged one has left: before the finish reason
 * of a stream, the whole body, the close, the silence. Whoever left earlier is not in it. */
void sim_ledger(const struct sim *s, struct buf *out);

/* Adds the grammar of fault rules and the known reasons and families, for --help. */
void sim_fault_help(struct buf *out);

/* Checks rules without starting anything. */
int sim_check_faults(const char *const *faults, size_t n, struct err *err);

/* The run that rules are meant for. */
struct sim_plan {
    const struct scenario *scenario;
    uint64_t seed;
    int rounds; /* 0: the scenario's */
    long sessions, only, concurrency;
    bool stream, twin;
    const char *boot; /* NULL: not known yet */
    const char *const *factors;
    size_t n_factors;
};

/* Adds a line to `out` for each rule that can hit nothing in such a run. Error as above. */
int sim_idle_faults(const char *const *rules, size_t n, const struct sim_plan *p, struct buf *out,
                    struct err *err);

#endif
