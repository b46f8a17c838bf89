/* http_easy.h - what every libcurl handle to an endpoint has in common. Inside wire only. */
#ifndef HTTP_EASY_H
#define HTTP_EASY_H

#include <curl/curl.h>
#include <stdbool.h>

#include "reply.h"

struct endpoint;

/* A new handle: versions, TLS, proxy, socket, encoding as the endpoint says; no URL, no callbacks.
 */
CURL *http_easy_new(const struct endpoint *ep);

/* The chat route, taken apart once for all handles; NULL if it makes no sense: then each request
 * ends with libcurl's reason. */
CURLU *http_easy_url(const struct endpoint *ep);

/* For POSTs to the chat route, with buffers for many at a time; `url` outlives the handle. */
void http_easy_set_post(CURL *easy, const struct endpoint *ep, CURLU *url);

/* The header lines of every request: the key, the user's own, and, for a POST, ours. */
struct curl_slist *http_easy_headers(const struct endpoint *ep, bool post);

/* What libcurl's result says about the exchange; `why` is its error buffer. */
enum exchange_end http_easy_end(CURLcode result, const char *why);

/* Where a redirect leads, without host and query: a path. Empty if there is none. */
void http_easy_target(CURL *easy, char target[100]);

/* True for the results that a connection lost before any byte has. */
bool http_easy_lost(CURLcode result);

#endif
