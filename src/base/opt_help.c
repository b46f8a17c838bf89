/* opt_help.c - prints a table of options: as help for a person, and as settings to keep. */
#include "opt.h"

#include <math.h>
#include <string.h>

#include "json.h"

#define HELP_COLUMN 30
#define HELP_WIDTH  96

/* Words of `text` from HELP_COLUMN on, wrapped. */
static void add_wrapped(struct buf *out, const char *text, size_t column)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column + n + 1 > HELP_WIDTH) {
            buf_addf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buf_addc(out, ' ');
            column++;
        }
        buf_add(out, text, n);
        column += n;
        text += n;
        while (*text == ' ')
            text++;
    }
}

static void add_flag(const struct opt *o, struct buf *out)
{
    size_t start = out->len;
    bool on = o->kind == OPT_BOOL && o->initial && strcmp(o->initial, "yes") == 0;
    if (o->letter && !on)
        buf_addf(out, "  -%c, ", o->letter);
    else
        buf_adds(out, "  ");
    buf_addf(out, "--%s%s", on ? "no-" : "", o->name);
    if (o->kind != OPT_BOOL)
        buf_addf(out, " %s", o->choices ? o->choices : o->value);
    size_t width = out->len - start;
    if (width + 2 > HELP_COLUMN)
        buf_addf(out, "\n%*s", HELP_COLUMN, "");
    else
        buf_addf(out, "%*s", (int)(HELP_COLUMN - width), "");
}

void opt_help(const struct opt *table, struct buf *out)
{
    for (const struct opt *o = table; o->name; o++) {
        if (o->group)
            buf_addf(out, "%s%s:\n", out->len ? "\n" : "", o->group);
        add_flag(o, out);
        struct buf text = BUF_INIT;
        buf_adds(&text, o->help);
        if (o->kind != OPT_BOOL && o->initial && o->initial[0])
            buf_addf(&text, " (default: %s)", o->initial);
        if (o->kind == OPT_LIST)
            buf_adds(&text, " (repeatable)");
        if (o->alias)
            buf_addf(&text, " (also --%s)", o->alias);
        add_wrapped(out, buf_str(&text), HELP_COLUMN);
        buf_addc(out, '\n');
        buf_release(&text);
    }
}

/* NaN stands for "not given". */
static void add_double(struct buf *out, double d)
{
    struct jsonw w = {.out = out};
    if (!isnan(d))
        jsonw_double(&w, d);
}

static void value_text(const struct opt *o, const void *at, struct buf *out)
{
    const struct opt_list *list;
    switch (o->kind) {
    case OPT_BOOL: buf_adds(out, *(const bool *)at ? "yes" : "no"); break;
    case OPT_LONG: buf_addf(out, "%ld", *(const long *)at); break;
    case OPT_RATE:
    case OPT_DOUBLE: add_double(out, *(const double *)at); break;
    case OPT_DURATION: buf_addf(out, "%gs", (double)*(const int64_t *)at / 1e6); break;
    case OPT_TEXT: buf_adds(out, *(const char *const *)at ? *(const char *const *)at : ""); break;
    case OPT_LIST:
        list = at;
        for (size_t i = 0; i < list->n; i++)
            buf_addf(out, "%s%s", i ? "\n" : "", list->items[i]);
        break;
    }
}

void opt_each(const struct opt *table, const void *target,
              void (*each)(void *arg, const char *name, const char *value), void *arg)
{
    for (const struct opt *o = table; o->name; o++) {
        struct buf text = BUF_INIT;
        value_text(o, (const char *)target + o->offset, &text);
        if (text.len)
            each(arg, o->name, buf_str(&text));
        buf_release(&text);
    }
}
