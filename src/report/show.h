/* show.h - one session, read: what the files of `show` share. */
#ifndef SHOW_H
#define SHOW_H

#include <stddef.h>

#include "figures.h"
#include "report.h"

struct reply;

struct shown {
    const struct report_show *request;
    const struct report_style *style;
    struct figures figures;  /* reports/show.sql */
    struct figures evidence; /* reports/evidence.sql */
    struct buf *out;
};

/* The stored bytes of a part of a round; empty if they were not kept. */
struct span shown_part(const struct shown *s, long round, const char *part);

/* Decodes the kept response of row `row` of the section "rounds" into `r`; false if there is none.
 * Release `r` afterwards. */
bool shown_reply(const struct shown *s, size_t row, struct reply *r);

/* The text of the channel that a finding is about, in a decoded reply; empty if it has none. */
struct span shown_channel(const struct section *findings, size_t row, const struct reply *r);

/* show_text.c, show_json.c, show_raw.c */
void show_text(const struct shown *s);
void show_json(const struct shown *s);
void show_raw(const struct shown *s);
int show_curl(const struct shown *s, struct err *err);

#endif
