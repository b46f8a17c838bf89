/* stored.h - stored bytes of an exchange, understood: what reports must be told about the wire. */
#ifndef STORED_H
#define STORED_H

#include "report.h"

struct report_wire stored_wire(void);

#endif
