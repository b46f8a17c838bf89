/* chunks.c - a state machine for bytes that come in any pieces, and a reader of whole chunks. */
#include "chunks.h"

#define MAX_DIGITS 15 /* of a size: no sum of payloads overflows */

enum state { SIZE, SIZE_END, DATA, DATA_END, OVER };

static int digit(char c)
{
    int lower = c | 0x20;
    if (c >= '0' && c <= '9')
        return c - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Payload bytes at the start of `bytes`. */
static size_t skip_data(struct chunks *c, struct span bytes)
{
    size_t n = bytes.len < c->left ? bytes.len : (size_t)c->left;
    c->payload += n;
    c->left -= n;
    if (!c->left)
        c->state = DATA_END;
    return n;
}

static void end_size(struct chunks *c)
{
    c->state = c->digits && c->left ? DATA : OVER;
    c->digits = 0;
}

static void step(struct chunks *c, char byte)
{
    int value = digit(byte);
    switch ((enum state)c->state) {
    case SIZE:
        if (value >= 0 && c->digits < MAX_DIGITS) {
            c->left = c->left << 4 | (unsigned)value;
            c->digits++;
        } else if (byte == '\n')
            end_size(c);
        else
            c->state = value < 0 && c->digits ? SIZE_END : OVER;
        break;
    case SIZE_END: /* extensions */
        if (byte == '\n')
            end_size(c);
        break;
    case DATA_END:
        if (byte != '\r')
            c->state = byte == '\n' ? SIZE : OVER;
        break;
    case DATA:
    case OVER: break;
    }
}

void chunks_follow(struct chunks *c, struct span bytes)
{
    for (size_t at = 0; at < bytes.len && c->state != OVER;) {
        if (c->state == DATA)
            at += skip_data(c, (struct span){bytes.data + at, bytes.len - at});
        else
            step(c, bytes.data[at++]);
    }
}

bool chunks_between(const struct chunks *c)
{
    return c->state == SIZE && !c->digits;
}

bool chunks_over(const struct chunks *c)
{
    return c->state == OVER;
}

size_t chunks_whole(struct span bytes, struct span *payload)
{
    size_t at = 0, size = 0;
    for (int value; at < bytes.len && at < MAX_DIGITS && (value = digit(bytes.data[at])) >= 0; at++)
        size = size << 4 | (size_t)value;
    if (!size || bytes.len < at + 4 || size > bytes.len - at - 4)
        return 0;
    *payload = (struct span){bytes.data + at + 2, size};
    const char *end = payload->data + size;
    if (bytes.data[at] != '\r' || bytes.data[at + 1] != '\n' || end[0] != '\r' || end[1] != '\n')
        return 0;
    return at + 2 + size + 2;
}
