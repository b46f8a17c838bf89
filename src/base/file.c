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

static int write_all(FILE *f, const void *data, size_t len)
{
    if (len && fwrite(data, 1, len, f) != len)
        return -1;
    return fflush(f) == 0 ? 0 : -1;
}

static int write_in_place(const char *path, const void *data, size_t len, struct err *err)
{
    FILE *f = fopen(path, "wb");
    int rc = f ? write_all(f, data, len) : -1;
    int saved = errno;
    if (f && fclose(f) != 0 && rc == 0) {
        rc = -1;
        saved = errno;
    }
    if (rc != 0)
        return err_set(err, STATUS_TOOL, "cannot write '%s': %s", path, strerror(saved));
    return 0;
}

int file_write(const char *path, const void *data, size_t len, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        if (write_all(stdout, data, len) == 0)
            return 0;
        return err_set(err, STATUS_TOOL, "cannot write to standard output: %s", strerror(errno));
    }
    /* A device or a pipe is written to, never replaced: /dev/null must stay what it is. */
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_in_place(path, data, len, err);
    char *fresh = mem_printf("%s.part.%ld", path, (long)getpid());
    FILE *f = fopen(fresh, "wb");
    int rc = f ? write_all(f, data, len) : -1;
    int saved = errno;
    if (f && fclose(f) != 0) {
        rc = -1;
        saved = errno;
    }
    if (rc == 0 && rename(fresh, path) != 0) {
        rc = -1;
        saved = errno;
    }
    if (rc != 0) {
        unlink(fresh);
        err_set(err, STATUS_TOOL, "cannot write '%s': %s", path, strerror(saved));
    }
    free(fresh);
    return rc;
}
