/* mem.h - memory that is always there: running out of it ends the program. */
#ifndef MEM_H
#define MEM_H

#include <stddef.h>

void *mem_zero(size_t count, size_t size);    /* like calloc */
void *mem_resize(void *old, size_t bytes);    /* like realloc */
char *mem_copy(const char *text, size_t len); /* len bytes and a NUL */
char *mem_str(const char *text);              /* NULL gives NULL */

/* printf into memory of its own. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Grows `array` of `*cap` elements so that element `n` exists. Returns the array. */
void *mem_grow(void *array, size_t *cap, size_t n, size_t element_size);

#endif
