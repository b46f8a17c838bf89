/* mem.c - allocation that does not come back empty. Memory that a server can make grow is capped
 * by struct buf, not here. */
#include "mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(void)
{
    fputs("toolstorm: out of memory\n", stderr);
    abort();
}

/* Small blocks come from the C library's caches for malloc(), past which its calloc() goes. */
#define SMALL 4096

void *mem_zero(size_t count, size_t size)
{
    size_t bytes = count <= SMALL && size <= SMALL ? count * size : SIZE_MAX;
    if (bytes <= SMALL)
        return memset(mem_resize(NULL, bytes), 0, bytes);
    void *p = calloc(count, size);
    if (!p)
        out_of_memory();
    return p;
}

void *mem_resize(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *mem_copy(const char *text, size_t len)
{
    char *p = mem_resize(NULL, len + 1);
    if (len)
        memcpy(p, text, len);
    p[len] = '\0';
    return p;
}

char *mem_str(const char *text)
{
    return text ? mem_copy(text, strlen(text)) : NULL;
}

char *mem_printf(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        abort();
    char *p = mem_resize(NULL, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}

void *mem_grow(void *array, size_t *cap, size_t n, size_t element_size)
{
    if (n < *cap)
        return array;
    size_t wanted = *cap ? *cap * 2 : element_size > 100 ? 2 : 8;
    while (wanted <= n)
        wanted *= 2;
    if (wanted > SIZE_MAX / element_size)
        out_of_memory();
    array = mem_resize(array, wanted * element_size);
    memset((char *)array + *cap * element_size, 0, (wanted - *cap) * element_size);
    *cap = wanted;
    return array;
}
