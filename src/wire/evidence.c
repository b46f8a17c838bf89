/* evidence.c - which bytes of an answer are kept, and which must not be. It judges nothing. */
#include "evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mem.h"
#include "reply.h"

/* Header lines that carry credentials or sessions. */
static bool is_secret(struct span line)
{
    static const char *const names[] = {
        "set-cookie:",       "set-cookie2:",        "authorization:",       "proxy-authorization:",
        "www-authenticate:", "proxy-authenticate:", "authentication-info:", "x-api-key:"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (line.len >= n && strncasecmp(line.data, names[i], n) == 0)
            return true;
    }
    return false;
}

void evidence_header(struct reply *r, struct span line)
{
    if (span_starts(line, "HTTP/"))
        buf_clear(&r->headers);
    if (!is_secret(line))
        buf_add(&r->headers, line.data, line.len);
}

void evidence_body(struct reply *r, const char *data, size_t len, int64_t now_us)
{
    r->raw.cap = REPLY_MAX_RAW;
    buf_add(&r->raw, data, len);
    struct arrival *last = r->n_arrivals ? &r->arrivals[r->n_arrivals - 1] : NULL;
    if (last && (last->at_us == now_us || r->n_arrivals == EVIDENCE_MAX_ARRIVALS)) {
        last->offset = r->raw.len;
        last->at_us = now_us;
        return;
    }
    r->arrivals = mem_grow(r->arrivals, &r->arrivals_cap, r->n_arrivals, sizeof *r->arrivals);
    r->arrivals[r->n_arrivals++] = (struct arrival){.offset = r->raw.len, .at_us = now_us};
}

/* A date of the form "Mon, 30 Nov 2026 08:55:15 GMT" as seconds since 1970, or -1. */
static int64_t read_date(const char *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4] = "";
    int day, year, hour, minute, second;
    const char *comma = strchr(text, ',');
    if (!comma || sscanf(comma + 1, " %2d %3s %4d %2d:%2d:%2d", &day, month, &year, &hour, &minute,
                         &second) != 6)
        return -1;
    const char *found = strstr(months, month);
    if (!found || strlen(month) != 3 || (found - months) % 3 || year < 1970)
        return -1;
    /* days from the civil date, years beginning in March */
    int m = (int)(found - months) / 3 + 1;
    int64_t y = m <= 2 ? year - 1 : year, shifted = m <= 2 ? m + 9 : m - 3;
    int64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * shifted + 2) / 5 + day - 1 - 719468;
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

long evidence_retry_after(struct span value, int64_t wall_us)
{
    char text[64];
    size_t n = value.len < sizeof text - 1 ? value.len : sizeof text - 1;
    memcpy(text, value.data, n);
    text[n] = '\0';
    char *end;
    long seconds = strtol(text, &end, 10);
    if (end != text && (*end == '\0' || *end == ' '))
        return seconds < 0 ? -1 : seconds;
    int64_t at = read_date(text);
    if (at < 0)
        return -1;
    int64_t left = at - wall_us / 1000000;
    return left > 0 ? (long)left : 0;
}
