/* settings.h - everything a run is told. Constant once workers start. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "expect.h"

struct endpoint;
struct json;
struct judge;
struct redactor;
struct scenario;
struct toolset;
struct token_key;

enum on_damage {
    DAMAGE_STOP,  /* the session ends: leaked text in a history is imitated */
    DAMAGE_SCRUB, /* the right answer takes the damaged one's place in the history */
    DAMAGE_KEEP   /* the history goes on as it came */
};

enum keep { KEEP_NONE, KEEP_DAMAGED, KEEP_ALL };

struct settings {
    const struct endpoint *endpoint;
    const struct redactor *redactor; /* of the endpoint's secrets */
    const struct scenario *scenario;
    const struct judge *judge;
    const struct toolset *toolset;
    const struct token_key *key;

    long sessions;       /* how many there are: numbers 1..sessions */
    long warmup;         /* the first so many to start are not counted */
    long only;           /* just this one; 0 = all */
    long shard, shards;  /* this process plays numbers with (k - 1) % shards == shard - 1 */
    const long *missing; /* the places of the start order, from 0, that are left; NULL = all */
    long n_missing;
    int64_t played_us; /* the run's time that has passed before: its clock goes on there */
    long concurrency;  /* sessions in flight */
    int threads;
    int rounds; /* 0 = the scenario's */
    long context_tokens;
    double request_rate; /* new sessions per second; 0 = as soon as there is room */
    uint64_t seed;

    const char *model;
    const char *tool_choice;
    enum tool_choice choice; /* what that says; a name is one of the scenario's tools */
    double temperature;      /* < 0: not sent */
    long max_tokens;         /* 0: not sent */
    bool stream, sampling_seed;
    bool twin;          /* send each request in the other form too */
    int retry_overload; /* times that a request answered with 429 or 503 is sent again */
    const struct json *extra_body;

    enum on_damage on_damage;
    enum keep keep;
};

#endif
