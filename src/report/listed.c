/* listed.c - one cell as text: the same in every kind of table. */
#include "listed.h"

#include "buf.h"
#include "figures.h"
#include "text.h"

void listed_add(struct buf *out, const struct section *s, size_t row, const struct listed *l)
{
    if (figures_null(s, row, l->column)) {
        buf_addc(out, '-');
        return;
    }
    switch (l->form) {
    case LISTED_TEXT:
    case LISTED_CODE: {
        struct span text = figures_span(s, row, l->column);
        buf_add(out, text.data, text.len);
        break;
    }
    case LISTED_COUNT: text_count(out, figures_long(s, row, l->column)); break;
    case LISTED_TIME: text_duration(out, figures_double(s, row, l->column)); break;
    }
}

bool listed_is_number(const struct listed *l)
{
    return l->form == LISTED_COUNT || l->form == LISTED_TIME;
}
