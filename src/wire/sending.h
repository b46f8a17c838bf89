/* sending.h - a request's body on its way out. */
#ifndef SENDING_H
#define SENDING_H

#include <curl/curl.h>

#include "http.h"

struct sending {
    struct http_body body;
    size_t sent;
};

/* Once for an easy handle, which *s is to outlive. */
void sending_init(struct sending *s, CURL *easy);

/* Makes `body`, borrowed, what the handle posts from now on. */
void sending_set(struct sending *s, CURL *easy, struct http_body body);

/* Call before each transfer of it. */
void sending_begin(struct sending *s);

#endif
