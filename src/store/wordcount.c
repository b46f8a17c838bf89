/* wordcount.c - counts words. Rows that follow one another mostly bring the same list: it is looked
 * at once. */
#include "wordcount.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"

/* Different words that are told apart; further ones are counted under "other". */
#define MAX_WORDS 200

static void count_word(struct wordcount *w, const char *text, size_t len, long times)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strlen(w->all[i].text) == len && memcmp(w->all[i].text, text, len) == 0) {
            w->all[i].n += times;
            return;
        }
    }
    if (w->n >= MAX_WORDS && !(len == 5 && memcmp(text, "other", 5) == 0)) {
        count_word(w, "other", 5, times);
        return;
    }
    w->all = mem_grow(w->all, &w->cap, w->n, sizeof *w->all);
    w->all[w->n++] = (struct wordcount_word){mem_copy(text, len), times};
}

static void count_last(struct wordcount *w)
{
    for (const char *text = w->last; text && *text;) {
        size_t len = strcspn(text, " ");
        if (len)
            count_word(w, text, len, w->repeats);
        text += len;
        text += strspn(text, " ");
    }
    w->repeats = 0;
}

void wordcount_add(struct wordcount *w, const char *list)
{
    if (!w->last || strcmp(w->last, list) != 0) {
        count_last(w);
        free(w->last);
        w->last = mem_str(list);
    }
    w->repeats++;
}

void wordcount_write(struct wordcount *w, struct jsonw *out)
{
    count_last(w);
    jsonw_object(out);
    for (size_t i = 0; i < w->n; i++) {
        jsonw_key(out, w->all[i].text);
        jsonw_long(out, w->all[i].n);
    }
    jsonw_end_object(out);
}

void wordcount_release(struct wordcount *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->all[i].text);
    free(w->all);
    free(w->last);
    *w = (struct wordcount){0};
}
