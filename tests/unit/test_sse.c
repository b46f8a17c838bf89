// layers: wire chat base
/* The event stream rules, each with the events that must come out, in every chunking. */
#include "sse.h"

#include <stdint.h>
#include <stdlib.h>

#include "check.h"

struct row {
    const char *bytes;
    const char *events; /* "type|data;" each; '!' before it: unfinished, '?': stray */
    quirk_set quirks;
    size_t len; /* 0 = up to the NUL */
};

#define Q(name) QUIRK_BIT(name)

static const struct row rows[] = {
    {"data: a\n\n", "|a;", 0, 0},
    {"data:a\n\n", "|a;", 0, 0},
    {"data:  a\n\n", "| a;", 0, 0},
    {"data\n\n", "|;", 0, 0},
    {"data:\n\n", "|;", 0, 0},
    {"data: a\r\n\r\n", "|a;", Q(crlf), 0},
    {"data: a\r\r", "|a;", Q(bare_cr), 0},
    {"data: a\n\r\ndata: b\r\rdata: c\r\n\n", "|a;|b;|c;", Q(crlf) | Q(bare_cr), 0},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "|a;", Q(bom), 0},
    {"data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     "|a;", Q(stray_line) | Q(empty_event), 0},
    {": c\ndata: a\n:\n\n", "|a;", Q(comments), 0},
    {": c\n\ndata: a\n\n", "|a;", Q(comments) | Q(empty_event), 0},
    {"data: a\ndata: b\n\n", "|a\nb;", Q(many_data_lines), 0},
    {"data: a\ndata\ndata: b\n\n", "|a\n\nb;", Q(many_data_lines), 0},
    {"event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;", 0, 0},
    {"event: x\n\ndata: b\n\n", "|b;", Q(empty_event), 0},
    {"id: 1\nretry: 5\ndata: a\n\n", "|a;", 0, 0},
    {"error: e\n\n", "error|e;", Q(error_field), 0},
    {"error: e\n", "!error|e;", Q(error_field), 0},
    {"data: a", "!|a;", 0, 0},
    {"data: a\n", "!|a;", 0, 0},
    {"data: a\r", "!|a;", Q(bare_cr), 0},
    {"data: a\n\ndat", "|a;", Q(stray_line), 0},
    {"Data: a\n\n", "", Q(stray_line) | Q(empty_event), 0},
    {"{\"a\":1}\ndata: b\n\n", "?|{\"a\":1};|b;", Q(stray_line), 0},
    {"data: a:b\n\n", "|a:b;", 0, 0},
    {"\n\n", "", Q(empty_event), 0},
    {"", "", 0, 0},
    {"data: a\0b\n\n", "|a_b;", 0, 11},
    {"event: 0123456789012345678901234567890123456789\ndata: a\n\n",
     "01234567890123456789012345678901|a;", 0, 0},
};

static void note(void *arg, const struct sse_event *e)
{
    struct buf *out = arg;
    buf_adds(out, e->stray ? "?" : e->unfinished ? "!" : "");
    buf_add(out, e->type.data, e->type.len);
    buf_addc(out, '|');
    for (size_t i = 0; i < e->data.len; i++)
        buf_addc(out, e->data.data[i] ? e->data.data[i] : '_');
    buf_addc(out, ';');
}

/* Feeds the bytes with cuts behind each byte whose bit in `cuts` is set. */
static quirk_set feed(const struct row *row, uint64_t cuts, struct buf *out)
{
    struct sse s;
    size_t len = row->len ? row->len : strlen(row->bytes), from = 0;
    sse_init(&s, 1000, note, out);
    for (size_t i = 0; i < len; i++) {
        if (i + 1 < len && !(cuts >> (i % 64) & 1))
            continue;
        char *piece = malloc(i + 1 - from); /* its own memory, gone when the call returns */
        if (!piece)
            abort();
        memcpy(piece, row->bytes + from, i + 1 - from);
        CHECK_INT(sse_feed(&s, piece, i + 1 - from), 0);
        free(piece);
        from = i + 1;
    }
    CHECK_INT(sse_end(&s), 0);
    quirk_set quirks = s.quirks;
    sse_release(&s);
    return quirks;
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t patterns[66] = {0, UINT64_MAX};
        for (int bit = 0; bit < 64; bit++)
            patterns[bit + 2] = UINT64_C(1) << bit;
        for (int p = 0; p < 66; p++) {
            struct buf out = BUF_INIT;
            quirk_set quirks = feed(&rows[i], patterns[p], &out);
            CHECK_STR(buf_str(&out), rows[i].events);
            CHECK_INT(quirks, rows[i].quirks);
            buf_release(&out);
        }
    }
}

/* The cap holds for a line and for an event's joined data, at the same byte in any chunking. */
static void test_cap(void)
{
    static const struct {
        const char *bytes;
        long passes_at; /* the byte that is too much, from 1; 0 = none */
        const char *events;
    } caps[] = {
        {"data: 12\n\ndata: 1234567\n\n", 0, "|12;|1234567;"},
        {"data: 12\n\ndata: 12345678\n\n", 24, "|12;"},
        {"data: 123456\ndata: 123456\n\n", 0, "|123456\n123456;"},
        {"data: 1234567\ndata: 1234567\n\n", 28, ""},
    };
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        size_t len = strlen(caps[i].bytes);
        for (size_t chunk = 1; chunk <= len; chunk++) {
            struct sse s;
            struct buf out = BUF_INIT;
            sse_init(&s, 13, note, &out);
            int rc = 0;
            for (size_t at = 0; at < len && rc == 0; at += chunk)
                rc = sse_feed(&s, caps[i].bytes + at, chunk < len - at ? chunk : len - at);
            CHECK_INT(rc, caps[i].passes_at ? -1 : 0);
            CHECK_STR(buf_str(&out), caps[i].events);
            sse_release(&s);
            buf_release(&out);
        }
    }
}

/* A megabyte of bare CRs costs time in proportion to its length: the test would not end if each
 * line were searched to the end of the chunk. */
static void test_many_crs(void)
{
    size_t len = 8u << 20;
    char *crs = malloc(len);
    if (!crs)
        abort();
    memset(crs, '\r', len);
    struct sse s;
    struct buf out = BUF_INIT;
    sse_init(&s, 1000, note, &out);
    CHECK_INT(sse_feed(&s, crs, len), 0);
    CHECK_INT(sse_end(&s), 0);
    CHECK_INT(out.len, 0);
    CHECK_INT(s.quirks, Q(bare_cr) | Q(empty_event));
    sse_release(&s);
    free(crs);
}

int main(void)
{
    test_rows();
    test_cap();
    test_many_crs();
    return check_end();
}
