/* survey.h - what an endpoint is and can do, found out by asking. */
#ifndef SURVEY_H
#define SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "words.h"

struct buf;
struct endpoint;
struct jsonw;

enum feature {
#define FEATURE(name, about) FEATURE_##name,
#include "survey.def"
#undef FEATURE
    N_FEATURES
};

enum answer {
    ANSWER_UNCLEAR, /* nothing can be concluded */
    ANSWER_YES,
    ANSWER_NO,
    ANSWER_IGNORED, /* accepted without effect */
    ANSWER_REFUSED, /* with an HTTP status or an error */
    N_ANSWERS
};

const char *feature_name(enum feature f);
const char *feature_about(enum feature f);
const char *answer_name(enum answer a);

struct survey_finding {
    enum answer answer;
    char *detail; /* what was seen, one short line of text from anywhere; may be NULL */
};

struct survey {
    char *host, *model;
    char *server, *version; /* as recognised; or NULL */
    char *said;             /* the response header "Server"; or NULL */
    char **models;
    size_t n_models;
    long max_context; /* tokens; 0 = not said */
    struct survey_finding findings[N_FEATURES];
    quirk_set quirks;
    long n_requests;
};

struct survey_request {
    const struct endpoint *endpoint;
    const char *model;                         /* NULL: the first that the endpoint lists */
    long max_tokens;                           /* of one reply */
    bool (*stop)(void);                        /* true gives up; may be NULL */
    void (*tell)(void *arg, const char *what); /* what is being asked; or NULL */
    void *arg;
};

/* Fills `s`, which is zeroed, with a dozen requests, one after the other. Error: status 3 if not
 * even a tiny completion can be had, or if it was stopped. Release it after a failure too. */
int survey_make(struct survey *s, const struct survey_request *q, struct err *err) MUST_CHECK;
void survey_release(struct survey *s);

/* Adds what schemas/probe.schema.json describes. */
void survey_write(const struct survey *s, struct jsonw *w);

/* What the answers to the informing routes (as of probe_facts()) say of server, models and
 * context. Inside load only. */
int survey_read_facts(struct survey *s, const struct buf *facts, struct err *err) MUST_CHECK;

#endif
