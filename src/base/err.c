/* err.c - fills in struct err. It never prints: that is cmd's business. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, enum exit_status status, const char *format, ...)
{
    if (!e || e->status != STATUS_PASS)
        return -1;
    e->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return -1;
}

int err_prefix(struct err *e, const char *format, ...)
{
    if (!e)
        return -1;
    struct err before = *e;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    /* What does not fit is cut: the prefix says more than the tail. */
    size_t at = n < 0 ? 0 : (size_t)n;
    const char *tail[] = {": ", before.text};
    for (int i = 0; i < 2; i++)
        for (const char *p = tail[i]; *p && at + 1 < sizeof e->text; p++)
            e->text[at++] = *p;
    if (at < sizeof e->text)
        e->text[at] = '\0';
    return -1;
}
