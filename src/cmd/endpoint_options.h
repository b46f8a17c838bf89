/* endpoint_options.h - the options that say where an endpoint is, as typed: one table that every
 * command with an endpoint includes (endpoint_options.def). */
#ifndef ENDPOINT_OPTIONS_H
#define ENDPOINT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "opt.h"

struct endpoint;

struct endpoint_options {
    const char *base_url, *model, *api_key_env, *api_key_file;
    const char *cacert, *cert, *cert_key, *proxy, *unix_socket;
    bool insecure, http2;
    struct opt_list headers;
    int64_t connect_timeout_us, ttft_timeout_us, idle_timeout_us, timeout_us;
};

/* Takes OPENAI_BASE_URL where no URL was typed, and checks what goes beyond one option. base_url
 * stays NULL if there is neither. */
int endpoint_options_check(struct endpoint_options *o, struct err *err) MUST_CHECK;

/* An endpoint at o->base_url with the key from the file, else from the environment. Warns on
 * standard error about --insecure. */
int endpoint_options_open(const struct endpoint_options *o, struct endpoint *ep,
                          struct err *err) MUST_CHECK;

/* The same at another URL and without a key, which is not for that place. */
int endpoint_options_open_at(const struct endpoint_options *o, const char *url, struct endpoint *ep,
                             struct err *err) MUST_CHECK;

/* "KEY=VALUE" or "NAME: VALUE" in each item; an error names `flag`. */
int endpoint_options_pairs(const struct opt_list *list, const char *flag, char separator,
                           struct err *err) MUST_CHECK;

#endif
