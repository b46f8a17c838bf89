/* report.h - rows to text. Every figure comes from a query on the store; one reading of the queries
 * feeds the text and the JSON, so that they can't differ. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "err.h"

struct store;

/* How it should look. A zeroed struct is plain text, 80 columns. */
struct report_style {
    bool json;
    bool colour;
    int columns;    /* of the terminal; 0 = 80 */
    const char *db; /* the file's name, for commands that the reader is told; or NULL */
};

/* Takes long results piece by piece; the buffer is emptied afterwards. */
typedef int report_flush(void *arg, const struct buf *out, struct err *err);

/* All of them add their text to `out` and return 0, or -1 with an error; an unknown run or session
 * is one of status 2 that names the known ones. */

/* The summary of one run. */
int report_summary(struct store *s, long run, const struct report_style *style, struct buf *out,
                   struct err *err) MUST_CHECK;

/* What a rejudging came to. */
struct report_rejudged {
    long kept;            /* replies whose bytes were there */
    long newly_corrupted; /* sessions that were not, by the rules of the run */
};

/* Rejudging `number` of a run: what changes, and the rates before and now. Fills *sum. */
int report_rejudged(struct store *s, long run, long number, const struct report_style *style,
                    struct report_rejudged *sum, struct buf *out, struct err *err) MUST_CHECK;

/* Which runs to list; NULL and 0 mean any. */
struct report_filter {
    const char *label;
    const char *const *tags; /* "K=V" or "K" */
    size_t n_tags;
    const char *reason; /* some session has it: "leak.markup", or a class: "leak" */
    const char *since;  /* date or date and time, as ISO 8601 writes it */
    long limit;         /* the newest so many; 0 = all */
};

int report_list(struct store *s, const struct report_filter *filter,
                const struct report_style *style, struct buf *out, struct err *err) MUST_CHECK;

struct reply;

/* What a report must be told about the bytes of an exchange; wire knows, report does not. */
struct report_wire {
    /* Decodes a stored body into `r`, which is initialised, has `stream` and `status` set and is
     * released by the caller. `headers` are the stored response headers. */
    void (*decode)(const char *dialect, struct span headers, struct span body, struct reply *r);
    const char *(*route)(const char *dialect); /* "/chat/completions" */
};

enum show_form {
    SHOW_TRANSCRIPT, /* as a person reads it, or JSON */
    SHOW_RAW,        /* the stored bytes with their times of arrival */
    SHOW_CURL        /* a command that repeats a round */
};

struct report_show {
    long run;           /* 0 = the newest */
    long session;       /* 0 = the first damaged one, or the first with `reason` */
    const char *reason; /* with session 0: a class or a reason; or NULL */
    bool all;           /* with session 0: not only the first */
    long round;         /* for RAW and CURL: only this one; 0 = all, or the first damaged one */
    enum show_form form;
    long context; /* bytes shown of a long text's ends and around damage; 0 = all of it */
    struct report_wire wire;
    report_flush *flush; /* with `all`: called between sessions; or NULL */
    void *arg;
};

int report_show(struct store *s, const struct report_show *request,
                const struct report_style *style, struct buf *out, struct err *err) MUST_CHECK;

enum query_form { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

struct binding;

/* Either a statement or a shipped report. */
struct report_query {
    const char *sql;     /* one statement */
    const char *report;  /* "summary" */
    const char *section; /* of the report; NULL = all */
    const struct binding *bindings;
    size_t n_bindings;
    enum query_form form;
    report_flush *flush; /* or NULL */
    void *arg;
};

int report_query(struct store *s, const struct report_query *request,
                 const struct report_style *style, struct buf *out, struct err *err) MUST_CHECK;

/* The shipped reports and the SQL functions, each with what it is. They can't fail. */
void report_names(const struct report_style *style, struct buf *out);
void report_functions(const struct report_style *style, struct buf *out);

/* The class of a class ("leak") or reason ("leak.markup"); NULL with an error of status 2 that
 * names the known ones. */
const char *report_class(const char *reason, struct err *err);

/* The newest run, or -1 with an error of status 2 if there is none. */
long report_newest_run(struct store *s, struct err *err);

/* 0 if the database has the run; else an error of status 2 that says which it has. */
int report_check_run(struct store *s, long run, struct err *err) MUST_CHECK;

#endif
