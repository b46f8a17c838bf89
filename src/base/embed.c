/* embed.c - looks up built-in files; the table itself is written by embed.cmake. */
#include "embed.h"

#include <string.h>

const struct embedded *embed_find(const char *path)
{
    for (const struct embedded *f = embedded_files; f->path; f++)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

const struct embedded *embed_next(const char *dir, const struct embedded *last)
{
    size_t n = strlen(dir);
    for (const struct embedded *f = last ? last + 1 : embedded_files; f->path; f++)
        if (strncmp(f->path, dir, n) == 0)
            return f;
    return NULL;
}
