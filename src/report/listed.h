/* listed.h - columns of a section as they are shown in a table, whatever the table is made of. */
#ifndef LISTED_H
#define LISTED_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct section;

enum listed_form { LISTED_TEXT, LISTED_CODE, LISTED_COUNT, LISTED_TIME /* microseconds */ };

struct listed {
    const char *column, *head;
    enum listed_form form;
};

/* Adds the cell's plain text; an absent value is "-". The text may hold anything. */
void listed_add(struct buf *out, const struct section *s, size_t row, const struct listed *l);

/* Figures stand at the right. */
bool listed_is_number(const struct listed *l);

#endif
