/* honest.c - text that nobody here wrote and no model made: what Debian packages install.
 * Everything that the judge calls damage in it is a false alarm. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "judge.h"
#include "mem.h"
#include "quality.h"
#include "utf8.h"

/* Bytes read per place at the most, and bytes that one "reply" holds. */
#ifndef PLACE_MAX
#define PLACE_MAX (24L << 20)
#endif
#define REPLY (24u << 10)

/* Alarms printed. */
#define ALARMS_SHOWN 25

struct honest {
    struct bench *b;
    long bytes, enough, replies, alarms, args_alarms, suspects, skipped;
};

/* A reply would not come in an old encoding, nor with the control bytes of a printer; and a file
 * with U+FFFD in it has been damaged before. */
static bool is_text(struct span s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.data[i] < 0x20 && !strchr("\t\n\r\f", s.data[i]))
            return false;
    return !memchr(s.data, '\0', s.len) && utf8_check(s) < 0 &&
           span_find(s, span_of("\xEF\xBF\xBD"), 0) < 0;
}

static void show(const char *path, const struct verdict *v, struct span text)
{
    const struct sign *s = &v->signs[0];
    size_t from = s->offset > 40 ? s->offset - 40 : 0;
    size_t len = text.len - from < 110 ? text.len - from : 110;
    printf("  %s: %s, %s: ", path, reason_name(v->reason), s->rule);
    for (size_t i = 0; i < len; i++)
        putchar(text.data[from + i] == '\n' ? ' ' : text.data[from + i]);
    putchar('\n');
}

static void count(struct honest *h, const char *path, struct span text, struct verdict *v,
                  long *alarms)
{
    if (v->class == CLASS_LEAK && (*alarms)++ < ALARMS_SHOWN)
        show(path, v, text);
    for (size_t i = 0; i < v->n_signs; i++)
        h->suspects += v->signs[i].level == LEVEL_SUSPECT;
    verdict_release(v);
}

static void judge_piece(struct honest *h, const char *path, struct span text)
{
    struct verdict v = {0};
    bench_text(h->b, text, &v);
    count(h, path, text, &v, &h->alarms);
    bench_args(h->b, text, &v);
    count(h, path, text, &v, &h->args_alarms);
    h->replies++;
    h->bytes += (long)text.len;
}

/* About REPLY bytes, to the end of a paragraph: answers do not end inside tables. */
static size_t piece_length(struct span rest)
{
    if (rest.len <= REPLY)
        return rest.len;
    struct span reach = {rest.data, rest.len < 2 * REPLY ? rest.len : 2 * REPLY};
    long end = span_find(reach, span_of("\n\n"), REPLY);
    return end < 0 ? rest.len : (size_t)end + 2;
}

static void judge_file(struct honest *h, const char *path)
{
    struct buf text = BUF_INIT;
    if (file_read(path, 4u << 20, &text, NULL) < 0 || !is_text(buf_span(&text)))
        h->skipped++;
    else
        for (size_t at = 0, n; at < text.len; at += n) {
            struct span rest = {text.data + at, text.len - at};
            n = piece_length(rest);
            judge_piece(h, path, (struct span){rest.data, n});
        }
    buf_release(&text);
}

static void walk(struct honest *h, const char *path, int depth)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir)) != NULL && h->bytes < h->enough;) {
        if (d->d_name[0] == '.')
            continue;
        char *name = mem_printf("%s/%s", path, d->d_name);
        struct stat st;
        if (lstat(name, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < 12)
                walk(h, name, depth + 1);
            else if (S_ISREG(st.st_mode))
                judge_file(h, name);
        }
        free(name);
    }
    closedir(dir);
}

void measure_honest(struct bench *b)
{
    static const char *const roots[] = {"/usr/share/doc",        "/usr/include",
                                        "/usr/share/perl",       "/usr/lib/python3",
                                        "/usr/share/cmake-3.25", "/usr/share/man"};
    struct honest h = {.b = b};
    printf("\nhonest text of installed packages\n");
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        h.enough = h.bytes + PLACE_MAX;
        walk(&h, roots[i], 0);
    }
    printf("  %.1f MB in %ld replies; %ld suspects; %ld files are no UTF-8 text\n",
           (double)h.bytes / (1 << 20), h.replies, h.suspects, h.skipped);
    bench_figure(b, "false alarms as an answer", (double)h.alarms, 0, "");
    bench_figure(b, "false alarms as an argument", (double)h.args_alarms, 0, "");
}
