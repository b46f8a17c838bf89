/* vocab.c - reads vocabularies: word lists, and forms of lines that draw on them. Knows nothing of
 * sessions and of lengths; context.c writes with it. */
#include "vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "template.h"

#define NUMBER_MAX 1000000000L
#define DIGITS_MAX 64
#define WEIGHT_MAX 1000
#define ROWS_MAX   100

static struct vocab_piece *piece_add(struct vocab_line *line)
{
    line->pieces = mem_grow(line->pieces, &line->cap, line->n, sizeof *line->pieces);
    struct vocab_piece *p = &line->pieces[line->n++];
    *p = (struct vocab_piece){0};
    return p;
}

static long list_find(const struct vocab *v, const char *name)
{
    for (size_t i = 0; i < v->n_lists; i++)
        if (strcmp(v->lists[i].name, name) == 0)
            return (long)i;
    return -1;
}

static bool generator(const char *ref, struct vocab_piece *p)
{
    int end = -1;
    if (sscanf(ref, "number %ld %ld%n", &p->from, &p->to, &end) == 2 && end > 0 && !ref[end]) {
        p->kind = VOCAB_NUMBER;
        return labs(p->from) <= NUMBER_MAX && labs(p->to) <= NUMBER_MAX && p->from <= p->to;
    }
    if (sscanf(ref, "hex %ld%n", &p->to, &end) == 1 && end > 0 && !ref[end]) {
        p->kind = VOCAB_HEX;
        return p->to >= 1 && p->to <= DIGITS_MAX;
    }
    if (strncmp(ref, "code ", 5) == 0) {
        p->kind = VOCAB_CODE;
        p->text = mem_str(ref + 5);
        p->len = strlen(p->text);
        return p->len > 0 && p->len <= DIGITS_MAX;
    }
    bool date = strcmp(ref, "date") == 0;
    p->kind = date ? VOCAB_DATE : VOCAB_TIME;
    return date || strcmp(ref, "time") == 0;
}

static bool resolve(const struct vocab *v, const char *ref, struct vocab_piece *p)
{
    bool again = ref[0] == '=';
    long list = list_find(v, ref + again);
    if (list < 0)
        return !again && generator(ref, p);
    p->kind = again ? VOCAB_AGAIN : VOCAB_WORD;
    p->list = (size_t)list;
    return true;
}

static int read_line(const struct vocab *v, struct vocab_line *line, const struct json *text,
                     const char *path, struct err *err)
{
    struct span source = json_span(text), s;
    if (source.len && memchr(source.data, '\n', source.len))
        return err_set(err, STATUS_USAGE, "'%s' must be one line", path);
    bool ref;
    for (size_t at = 0; template_cut(source, &at, &s, &ref);) {
        struct vocab_piece *p = piece_add(line);
        if (!ref) {
            p->text = mem_copy(s.data, s.len);
            p->len = s.len;
            p->tokens = estimate_of(s);
            continue;
        }
        char *name = mem_copy(s.data ? s.data : "", s.data ? s.len : 0);
        bool known = resolve(v, name, p);
        if (!known)
            err_set(err, STATUS_USAGE,
                    "'%s' uses '{{%.60s}}', which is neither a word list nor "
                    "number, hex, code, date or time",
                    path, name);
        free(name);
        if (!known)
            return -1;
    }
    return 0;
}

static int read_form(struct vocab *v, struct vocab_form *f, const struct json *tree,
                     const char *path, struct err *err)
{
    char place[300];
    f->kind = mem_str(json_text(json_get(tree, "kind")));
    f->weight = json_long(json_get(tree, "weight"), 1);
    if (f->weight < 1 || f->weight > WEIGHT_MAX)
        return err_set(err, STATUS_USAGE, "'%s.weight' must be 1 to %d", path, WEIGHT_MAX);
    const struct json *lines = json_get(tree, "lines");
    f->lines = mem_zero(json_count(lines) + 1, sizeof *f->lines);
    for (const struct json *e = json_first(lines); e; e = json_next(e)) {
        snprintf(place, sizeof place, "%.200s.lines[%zu]", path, f->n_lines);
        if (read_line(v, &f->lines[f->n_lines++], e, place, err))
            return -1;
    }
    const struct json *rows = json_get(tree, "rows");
    f->min_rows = json_long(json_at(rows, 0), 0);
    f->max_rows = json_long(json_at(rows, 1), 0);
    if (f->min_rows < 0 || f->max_rows < f->min_rows || f->max_rows > ROWS_MAX)
        return err_set(err, STATUS_USAGE, "'%s.rows' must be [least, most], at most %d", path,
                       ROWS_MAX);
    snprintf(place, sizeof place, "%.200s.row", path);
    if (read_line(v, &f->row, json_get(tree, "row"), place, err))
        return -1;
    if (!f->n_lines && !(f->row.n && f->min_rows))
        return err_set(err, STATUS_USAGE, "'%s' writes no line", path);
    return 0;
}

static void read_list(struct vocab_list *list, const struct json *words)
{
    list->name = mem_str(json_key(words));
    list->words = mem_zero(json_count(words) + 1, sizeof *list->words);
    list->lengths = mem_zero(json_count(words) + 1, sizeof *list->lengths);
    list->tokens = mem_zero(json_count(words) + 1, sizeof *list->tokens);
    for (const struct json *e = json_first(words); e; e = json_next(e))
        if (json_text(e)) {
            list->words[list->n] = mem_str(json_text(e));
            list->lengths[list->n] = strlen(list->words[list->n]);
            list->tokens[list->n] = estimate_of(span_of(list->words[list->n]));
            list->n++;
        }
}

int vocab_read(struct vocab *v, const struct json *tree, const char *path, struct err *err)
{
    const struct json *words = json_get(tree, "words"), *forms = json_get(tree, "forms");
    if (json_count(words) > VOCAB_MAX_LISTS)
        return err_set(err, STATUS_USAGE, "'%s.words' holds more than %d lists", path,
                       VOCAB_MAX_LISTS);
    for (const struct json *m = json_first(words); m; m = json_next(m)) {
        struct vocab_list *list = &v->lists[v->n_lists++];
        read_list(list, m);
        if (!list->n)
            return err_set(err, STATUS_USAGE, "'%s.words.%.60s' must be a list of words", path,
                           list->name);
    }
    v->forms = mem_zero(json_count(forms) + 1, sizeof *v->forms);
    for (const struct json *e = json_first(forms); e; e = json_next(e)) {
        char place[200];
        snprintf(place, sizeof place, "%.150s.forms[%zu]", path, v->n_forms);
        struct vocab_form *f = &v->forms[v->n_forms++];
        if (read_form(v, f, e, place, err))
            return -1;
        v->weights += f->weight;
    }
    if (!v->n_forms)
        return err_set(err, STATUS_USAGE, "'%s.forms' must not be empty", path);
    return 0;
}

static void line_release(struct vocab_line *line)
{
    for (size_t i = 0; i < line->n; i++)
        free(line->pieces[i].text);
    free(line->pieces);
}

void vocab_release(struct vocab *v)
{
    for (size_t i = 0; i < v->n_lists; i++) {
        struct vocab_list *list = &v->lists[i];
        for (size_t w = 0; w < list->n; w++)
            free(list->words[w]);
        free(list->words);
        free(list->lengths);
        free(list->tokens);
        free(list->name);
    }
    for (size_t i = 0; i < v->n_forms; i++) {
        struct vocab_form *f = &v->forms[i];
        for (size_t l = 0; l < f->n_lines; l++)
            line_release(&f->lines[l]);
        free(f->lines);
        line_release(&f->row);
        free(f->kind);
    }
    free(v->forms);
    *v = (struct vocab){0};
}
