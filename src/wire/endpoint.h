/* endpoint.h - where requests go and under which limits. Constant once workers start. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct dialect;

/* Limits of what a server can make us keep, in bytes. */
struct wire_caps {
    size_t line;    /* one SSE line, or one JSON body */
    size_t reply;   /* all body bytes of one reply, after content decoding */
    size_t headers; /* response headers of one reply */
};

struct wire_caps endpoint_default_caps(void);

struct endpoint {
    const struct dialect *dialect;
    char *url;      /* of the chat route, query parameters included */
    char *base;     /* the same up to and including /v1 (or the prefix), for other routes */
    char *query;    /* "api-version=..." or NULL; added to every route */
    char *host;     /* for messages and the database: scheme, host, port; no credentials */
    char **headers; /* "Name: value" as given by the user; values are secret */
    size_t n_headers;
    char *api_key; /* secret; NULL if none */
    char *cacert, *cert, *cert_key, *proxy, *unix_socket;
    bool insecure, http2;
    bool through_libcurl; /* every byte, even where direct.h could: to compare the two */
    int64_t connect_timeout_us, ttft_timeout_us, idle_timeout_us, timeout_us; /* 0 = none */
    struct wire_caps caps;
};

/* Takes the base URL apart: with or without /v1, path prefix, query, IPv6. A URL that already ends
 * in the dialect's route is taken as it is. Error: status 2. Fills url, base, query, host, the
 * default limits; everything else stays zero. */
int endpoint_init(struct endpoint *ep, const struct dialect *dialect, const char *base_url,
                  struct err *err);
void endpoint_release(struct endpoint *ep);

/* Whether what is sent to it is https. */
bool endpoint_speaks_tls(const struct endpoint *ep);

/* The URL of another route below the base ("/models") or, with a leading '^', below the host's root
 * ("^/health"). The caller's. */
char *endpoint_route(const struct endpoint *ep, const char *route);

/* Replaces every secret (secrets.h) in `text` by "***". For our own words; redact.h is for bytes.
 */
void endpoint_redact(const struct endpoint *ep, char *text);

#endif
