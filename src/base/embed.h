/* embed.h - the data files that the program was built with. */
#ifndef EMBED_H
#define EMBED_H

#include <stddef.h>

struct embedded {
    const char *path; /* below the project, e.g. "scenarios/chain.json"; NULL ends the table */
    const char *data; /* NUL behind the last byte */
    size_t len;
    const char *name; /* of the file, without folder and extension: "chain" */
};

extern const struct embedded embedded_files[];

/* The file with exactly this path, or NULL. */
const struct embedded *embed_find(const char *path);

/* The next file below `dir` ("schemas/markup/") after `last` (NULL = the first), in the order of
 * their paths; NULL at the end. */
const struct embedded *embed_next(const char *dir, const struct embedded *last);

#endif
