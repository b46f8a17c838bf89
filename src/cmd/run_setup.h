/* run_setup.h - from options to everything that stays constant while a run goes on. */
#ifndef RUN_SETUP_H
#define RUN_SETUP_H

#include "buf.h"
#include "endpoint.h"
#include "err.h"
#include "settings.h"
#include "token.h"

struct redactor;
struct run_options;
struct sim;

struct run_setup {
    const struct run_options *options;
    struct endpoint endpoint;
    struct redactor *redactor;
    enum tool_choice choice;
    struct settings settings;
    struct token_key key;
    struct scenario *scenario;
    struct judge *judge;
    struct toolset *toolset;
    struct json *extra_body;
    struct sim *sim; /* the built-in endpoint, or NULL */
    char *model;
    struct buf server_facts; /* JSON: what the server says about itself */
};

/* Reads scenario and rules, checks the judge, starts the built-in endpoint where none is named, and
 * asks the endpoint what it is. With dry_run nothing is started or asked. `s` is zeroed; release it
 * after a failure too. */
int run_setup_init(struct run_setup *s, const struct run_options *o, struct err *err) MUST_CHECK;
void run_setup_release(struct run_setup *s);

#endif
