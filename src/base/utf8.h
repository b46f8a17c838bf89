/* utf8.h - code points in bytes that may be anything. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct span;

#define UTF8_INVALID 0xFFFFFFFFu

/* The code point at s[*at], and *at moved behind it. An invalid byte (overlong, surrogate, beyond
 * U+10FFFF, cut) gives UTF8_INVALID and moves by one. *at must be below s.len. */
uint32_t utf8_next(struct span s, size_t *at);

/* The first offset at or behind `at` of a byte that is not printable ASCII, or that is a quote or a
 * backslash; s.len if there is none. Eight bytes at a time: most texts are plain for long. */
size_t utf8_plain_end(struct span s, size_t at);

/* Offset of the first invalid byte, or -1. */
long utf8_check(struct span s);

void utf8_add(struct buf *b, uint32_t code_point);

/* Adds bytes in the form that json_parse() hands out (see json.h): a high surrogate at the end of
 * `b` and a low one at the start of `s` become one code point, C0 80 becomes a NUL byte. A lone
 * half stays as its three bytes (ED A0..BF xx), which utf8_check() calls invalid. */
void utf8_add_loose(struct buf *b, struct span s);

#endif
