/* secrets.h - what the user keeps secret about an endpoint.
 *
 * Secret are the API key, the values of request headers, user names with passwords in URLs, and
 * what query parameters with names such as "key" hold. Fewer than SECRETS_MIN bytes are left alone,
 * and so are a header value that is a short plain word and one that every client sends, such as
 * Accept's, unless the header's name says that it is secret: to hide them would spoil every text
 * that has the word. */
#ifndef SECRETS_H
#define SECRETS_H

#include <stddef.h>

#include "buf.h"

struct endpoint;

#define SECRETS_MIN  4 /* bytes of the shortest secret */
#define SECRETS_WORD 8 /* letters alone, fewer than these: a word */

struct redactor {
    struct span *secrets; /* the longest first; they point into `memory` */
    char **memory;
    size_t n, cap, memory_cap;
};

/* Copies what it needs. */
void secrets_init(struct redactor *d, const struct endpoint *ep);
void secrets_release(struct redactor *d);

#endif
