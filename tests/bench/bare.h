/* bare.h - a client that does no more than it must: the limit that others are measured by. */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>

struct tally;

struct bare_job {
    bool decode; /* with the decoder of the product; else the bytes are only counted */
    bool paced;  /* events carry the moment at which they were written */
    int port;
    const char *path; /* of every request */
    long sessions;    /* connections, each with one request at a time */
    long requests;    /* in total */
    long body_bytes;  /* of a request */
};

/* Does the job on one thread and an epoll loop; false if the server can't be reached. */
bool bare_run(const struct bare_job *job, struct tally *t);

#endif
