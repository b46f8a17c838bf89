/* estimate.c - counts tokens without a vocabulary, by classes of characters.
 *
 * The weights were fitted against the vocabularies of three current model families on the shipped
 * contexts: see test_scenario.c for the figures they must keep. */
#include "estimate.h"

#include <stdint.h>

/* In 64ths of a token. */
enum { WORD = 58, LONG_WORD = 10, DIGIT = 38, SIGN = 50, MIXED = 34, WIDE = 48, OTHER = 40 };

static int is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

long estimate_tokens(struct span text)
{
    int64_t sum = 0;
    for (size_t at = 0; at < text.len;) {
        unsigned char c = (unsigned char)text.data[at];
        size_t from = at;
        if (is_letter(c)) {
            while (at < text.len && is_letter((unsigned char)text.data[at]))
                at++;
            sum += WORD + (at - from > 6 ? (int64_t)(at - from - 6) * LONG_WORD : 0);
        } else if (is_digit(c)) {
            while (at < text.len && is_digit((unsigned char)text.data[at]))
                at++;
            sum += (int64_t)(at - from) * DIGIT;
        } else {
            at++;
            if (c > ' ' && c < 0x80)
                sum += SIGN;
            else if (c >= 0xC0)
                sum += c >= 0xE0 ? WIDE : OTHER;
        }
    }
    return (long)((sum + 32) / 64);
}
