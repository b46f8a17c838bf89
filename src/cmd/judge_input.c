/* judge_input.c - what kind of file it is, and its replies one by one. It judges nothing. */
#include "judge_input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "file.h"
#include "json.h"
#include "mem.h"

/* Bytes of one file. */
#define FILE_BYTES ((size_t)1 << 30)

enum kind { KIND_NONE, KIND_CASES, KIND_PAIRS };

static enum kind kind_of(const struct judge_input *in, struct span text)
{
    struct json *v = json_parse(text, NULL);
    bool is_case = json_get(v, "reply") || json_get(v, "asked") || json_get(v, "expect") ||
                   (json_get(v, "id") && json_get(v, "response"));
    enum kind kind = paircase_is(v, &in->pair.fields) ? KIND_PAIRS
                     : is_case                        ? KIND_CASES
                                                      : KIND_NONE;
    json_free(v);
    return kind;
}

static bool is_blank(struct span s)
{
    size_t i = 0;
    while (i < s.len && s.data[i] && strchr(" \t\r\n", s.data[i]))
        i++;
    return i == s.len;
}

/* The next line that is not blank; its number goes to *line. False at the end. */
static bool next_line(struct span text, size_t *at, long *line, struct span *one)
{
    while (*at < text.len) {
        const char *from = text.data + *at, *end = memchr(from, '\n', text.len - *at);
        *one = (struct span){from, end ? (size_t)(end - from) : text.len - *at};
        *at += one->len + 1;
        ++*line;
        if (!is_blank(*one))
            return true;
    }
    return false;
}

/* The kind of the first line that has one. */
static enum kind kind_of_lines(const struct judge_input *in, struct span text)
{
    enum kind kind = KIND_NONE;
    struct span one;
    long line = 0;
    for (size_t at = 0; kind == KIND_NONE && next_line(text, &at, &line, &one);)
        kind = kind_of(in, one);
    return kind;
}

static int take(const struct judge_input *in, struct casefile *c, const struct judge_place *at,
                struct err *err)
{
    int rc = in->take(in->arg, c, at, err);
    casefile_release(c);
    return rc;
}

static int read_pair(const struct judge_input *in, struct span text, const struct judge_place *at,
                     struct err *err)
{
    struct casefile c;
    struct err why = {0};
    if (paircase_read(text, &in->pair, &c, &why) == 0)
        return take(in, &c, at, err);
    if (in->strict)
        return err_set(err, STATUS_USAGE, "%s", why.text);
    return in->skip(in->arg, at, why.text, err);
}

static int read_record(const struct judge_input *in, enum kind kind, struct span text,
                       const struct judge_place *at, struct err *err)
{
    struct casefile c;
    switch (kind) {
    case KIND_PAIRS: return read_pair(in, text, at, err);
    case KIND_CASES:
        if (casefile_read(text, in->pair.chunk, &c, err) != 0)
            return -1;
        return take(in, &c, at, err);
    case KIND_NONE: break;
    }
    return err_set(err, STATUS_USAGE,
                   "neither a case nor a request with its response; --request-field and "
                   "--response-field say where those are");
}

static int read_lines(const struct judge_input *in, struct span text, const char *path,
                      struct err *err)
{
    enum kind kind = kind_of_lines(in, text);
    struct judge_place place = {.file = path, .logged = kind == KIND_PAIRS};
    struct span one;
    int rc = 0;
    for (size_t at = 0; rc == 0 && next_line(text, &at, &place.line, &one);) {
        rc = read_record(in, kind, one, &place, err);
        if (rc != 0)
            err_prefix(err, "'%s' line %ld", path, place.line);
    }
    return rc;
}

static int read_whole(const struct judge_input *in, struct span text, const char *path,
                      struct err *err)
{
    struct casefile c;
    struct judge_place place = {.file = path};
    enum kind kind = in->form == BODY_AS_SEEN ? kind_of(in, text) : KIND_NONE;
    place.logged = kind == KIND_PAIRS;
    int rc = kind != KIND_NONE ? read_record(in, kind, text, &place, err)
                               : paircase_body(text, in->form, &in->pair, &c, err);
    if (rc == 0 && kind == KIND_NONE)
        rc = take(in, &c, &place, err);
    if (rc != 0)
        err_prefix(err, "'%s'", path);
    return rc;
}

static bool is_called_lines(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".ndjson") == 0);
}

/* The first line is a whole record; a body's may be JSON too, but is none. */
static bool starts_with_record(const struct judge_input *in, struct span text)
{
    struct span one;
    size_t at = 0;
    long line = 0;
    return next_line(text, &at, &line, &one) && kind_of(in, one) != KIND_NONE;
}

static int read_file(const struct judge_input *in, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = file_read(path, FILE_BYTES, &text, err);
    struct span all = buf_span(&text);
    if (rc == 0 &&
        (is_called_lines(path) || (in->form == BODY_AS_SEEN && starts_with_record(in, all))))
        rc = read_lines(in, all, path, err);
    else if (rc == 0)
        rc = read_whole(in, all, path, err);
    buf_release(&text);
    return rc;
}

/* --- directories --- */

struct names {
    char **items;
    size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int list_files(const char *dir, struct names *names, struct err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_set(err, STATUS_USAGE, "cannot open '%s': %s", dir, strerror(errno));
    for (const struct dirent *e; (e = readdir(d));) {
        char *path = mem_printf("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", e->d_name);
        if (e->d_name[0] == '.' || !is_regular(path)) {
            free(path);
            continue;
        }
        names->items = mem_grow(names->items, &names->cap, names->n, sizeof *names->items);
        names->items[names->n++] = path;
    }
    closedir(d);
    if (names->n == 0)
        return err_set(err, STATUS_USAGE, "there is no file in '%s'", dir);
    qsort(names->items, names->n, sizeof *names->items, by_name);
    return 0;
}

static int read_directory(const struct judge_input *in, const char *dir, struct err *err)
{
    struct names names = {0};
    int rc = list_files(dir, &names, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        rc = read_file(in, names.items[i], err);
    for (size_t i = 0; i < names.n; i++)
        free(names.items[i]);
    free(names.items);
    return rc;
}

int judge_input_read(const struct judge_input *in, const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return read_directory(in, path, err);
    return read_file(in, path, err);
}
