/* stored.h - stored bytes of an exchange, understood: what reports must be told about the wire. */
#ifndef STORED_H
#define STORED_H

#include "report.h"

struct report_wire stored_wire(void);

/* The value of the first line of stored headers with this name, which is in lower case; cut to 79
 * bytes, "" if there is none. */
void stored_header(struct span headers, const char *name, char out[80]);

#endif
