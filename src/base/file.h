/* file.h - whole files, and nothing of their meaning. */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct buf;

/* Adds the file's bytes to `out`; "-" is standard input. More than `cap` bytes, a directory, or a
 * file that can't be read is an error of status 2 that names the path. */
int file_read(const char *path, size_t cap, struct buf *out, struct err *err) MUST_CHECK;

/* Writes the whole file by way of a temporary one beside it, so that a reader sees the old or the
 * new content; "-" is standard output; a device or pipe is written in place. Errors have status 5.
 */
int file_write(const char *path, const void *data, size_t len, struct err *err) MUST_CHECK;

/* The same for what is written in pieces: begin, add, and an end that must come, after a failure
 * too. Only an end that keeps puts the new content in place. NULL or -1: failed. */
struct file_out;
struct file_out *file_begin(const char *path, struct err *err) MUST_CHECK;
int file_add(struct file_out *f, const void *data, size_t len, struct err *err) MUST_CHECK;
int file_end(struct file_out *f, bool keep, struct err *err) MUST_CHECK;

#endif
