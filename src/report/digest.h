/* digest.h - what is told about several runs: read once, written in many forms, so that none of
 * them can say something else. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "compare.h"
#include "err.h"
#include "figures.h"
#include "report.h"

struct buf;
struct store;

struct digest_request {
    const char *const *operands; /* labels, run numbers or tags, as arm_read() takes them */
    size_t n_operands;           /* 0 = every run of the database */
    const char *const *varying;  /* settings whose difference is the point, for the verdict */
    size_t n_varying;
    long transcripts; /* damaged sessions that are shown whole in HTML */
    struct report_wire wire;
    const char *db;      /* the file's name, for commands that the reader is told; or NULL */
    report_flush *flush; /* takes forms with a line per session piece by piece; or NULL */
    void *arg;
};

struct digest {
    const struct digest_request *request;
    struct store *store;    /* for sessions, which are too many to keep */
    char *runs;             /* a JSON list */
    struct figures figures; /* reports/report.sql */
    struct compare compare; /* the first configuration and the others */
    bool compared;
    char *why_not; /* why there is no verdict though there are several configurations; or NULL */
};

/* Borrows the store and the request. An unknown operand, or a database without runs, is an error
 * of status 2. `d` is zeroed; release it after a failure too. */
int digest_read(struct digest *d, struct store *s, const struct digest_request *r,
                struct err *err) MUST_CHECK;
void digest_release(struct digest *d);

/* What it all comes to, in a sentence or two of plain text. */
void digest_headline(const struct digest *d, struct buf *out);

/* All that follows adds text to `out`. Those that can fail read sessions from the store. */

/* html.c: one page that needs nothing else. */
int html_write(const struct digest *d, struct buf *out, struct err *err) MUST_CHECK;

/* md.c: an issue's text in Markdown. Names of hosts that are not this machine are masked. */
void md_write(const struct digest *d, struct buf *out);

/* For forms with a line per session: hands `out` on when it has grown enough, if the request wants
 * that. */
int digest_pass_on(const struct digest *d, struct buf *out, struct err *err) MUST_CHECK;

/* machine.c: for programs. JSON holds every section of the report, JSONL a line per configuration
 * and per session, CSV the configurations, the last the text format of Prometheus. */
void machine_json(const struct digest *d, struct buf *out);
int machine_jsonl(const struct digest *d, struct buf *out, struct err *err) MUST_CHECK;
void machine_csv(const struct digest *d, struct buf *out);
void machine_prom(const struct digest *d, struct buf *out);

/* junit.c: a test suite per run, a test case per session. */
int junit_write(const struct digest *d, struct buf *out, struct err *err) MUST_CHECK;

#endif
