/* casewrite.h - an expectation as the `asked` member of a case: what casefile.h reads. */
#ifndef CASEWRITE_H
#define CASEWRITE_H

#include "buf.h"

struct expect;
struct jsonw;

/* Adds an object that reads back as the same demands. A run's key has no place in a file: tokens of
 * other sessions must stand in e->foreign_canaries. */
void casewrite_asked(const struct expect *e, struct jsonw *w);

/* Adds a member `request` with the body on one line; nothing if it is not JSON. */
void casewrite_request(struct span body, struct jsonw *w);

#endif
