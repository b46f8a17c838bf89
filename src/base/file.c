/* file.c - reads and writes whole files. */
#include "file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "mem.h"

int file_read(const char *path, size_t cap, struct buf *out, struct err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f)
        return err_set(err, STATUS_USAGE, "cannot open '%s': %s", path, strerror(errno));
    int rc = 0;
    struct stat st;
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        rc = err_set(err, STATUS_USAGE, "cannot read '%s': it is a directory", path);
        goto out;
    }
    char chunk[65536];
    size_t n, total = 0;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        total += n;
        if (total > cap) {
            rc = err_set(err, STATUS_USAGE, "'%s' is larger than %zu bytes", path, cap);
            goto out;
        }
        buf_add(out, chunk, n);
    }
    if (ferror(f))
        rc = err_set(err, STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
out:
    if (!is_stdin)
        fclose(f);
    return rc;
}

struct file_out {
    FILE *file;
    char *path, *fresh; /* fresh: the file beside it that takes its place; NULL = in place */
};

static int write_fail(const struct file_out *f, int why, struct err *err)
{
    if (f->file == stdout)
        return err_set(err, STATUS_TOOL, "cannot write to standard output: %s", strerror(why));
    return err_set(err, STATUS_TOOL, "cannot write '%s': %s", f->path, strerror(why));
}

struct file_out *file_begin(const char *path, struct err *err)
{
    struct file_out *f = mem_zero(1, sizeof *f);
    struct stat st;
    f->path = mem_str(path);
    /* A device or a pipe is written to, never replaced: /dev/null must stay what it is. */
    if (strcmp(path, "-") == 0)
        f->file = stdout;
    else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        f->file = fopen(path, "wb");
    else
        f->fresh = mem_printf("%s.part.%ld", path, (long)getpid());
    if (f->fresh)
        f->file = fopen(f->fresh, "wb");
    if (f->file)
        return f;
    write_fail(f, errno, err);
    free(f->fresh);
    free(f->path);
    free(f);
    return NULL;
}

int file_add(struct file_out *f, const void *data, size_t len, struct err *err)
{
    if (len && fwrite(data, 1, len, f->file) != len)
        return write_fail(f, errno, err);
    return 0;
}

int file_end(struct file_out *f, bool keep, struct err *err)
{
    int rc = fflush(f->file) == 0 ? 0 : -1;
    int saved = errno;
    if (f->file != stdout && fclose(f->file) != 0 && rc == 0) {
        rc = -1;
        saved = errno;
    }
    if (rc == 0 && keep && f->fresh && rename(f->fresh, f->path) != 0) {
        rc = -1;
        saved = errno;
    }
    if (f->fresh && (rc != 0 || !keep))
        unlink(f->fresh);
    if (rc != 0 && keep)
        write_fail(f, saved, err);
    free(f->fresh);
    free(f->path);
    free(f);
    return keep ? rc : 0;
}

int file_write(const char *path, const void *data, size_t len, struct err *err)
{
    struct file_out *f = file_begin(path, err);
    if (!f)
        return -1;
    bool good = file_add(f, data, len, err) == 0;
    int rc = file_end(f, good, err);
    return good ? rc : -1;
}
