// layers: report store chat base
/* test_text.c - text on a terminal: what is made harmless, how wide it is, where it is cut. */
#include "check.h"
#include "report.h"
#include "rng.h"
#include "text.h"
#include "utf8.h"

static void test_safe(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain text", "plain text"},
        {"a\x1b[31mb", "a\\x1b[31mb"},
        {"a\rb\nc\td\x7F", "a\\rb\\nc\\x09d\\x7f"},
        {"\xff\xC3(\xED\xA0\x80", "\\xff\\xc3(\\xed\\xa0\\x80"},
        {"x\xE2\x80\xAEy\xE2\x80\x8Bz\xEF\xBB\xBF", "x<U+202E>y<U+200B>z<U+FEFF>"},
        {"\xC2\x9B"
         "2J",
         "<U+009B>2J"},
        {"h\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80", "h\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = BUF_INIT;
        text_safe(&out, span_of(cases[i].in), false);
        CHECK_STR(buf_str(&out), cases[i].out);
        buf_release(&out);
    }
    struct buf out = BUF_INIT;
    text_safe(&out, (struct span){"a\0b\n\tc\r", 7}, true);
    CHECK_STR(buf_str(&out), "a\\x00b\n\tc\\r");
    buf_release(&out);
}

/* Any bytes at all: what comes out is valid UTF-8 without control bytes, and cutting it never
 * makes it wider than asked. */
static void test_any_bytes(void)
{
    struct rng r = rng_stream(7, 1, "text");
    for (int round = 0; round < 3000; round++) {
        char bytes[64];
        size_t n = rng_below(&r, sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)(rng_chance(&r, 0.3) ? 0xE2 - rng_below(&r, 3) : rng_u64(&r) & 0xFF);
        struct buf safe = BUF_INIT, cut = BUF_INIT;
        text_safe(&safe, (struct span){bytes, n}, false);
        CHECK_INT(utf8_check(buf_span(&safe)), -1);
        for (size_t i = 0; i < safe.len; i++)
            CHECK((unsigned char)safe.data[i] >= 0x20 && safe.data[i] != 0x7F);
        size_t columns = rng_below(&r, 20);
        text_cut(&cut, buf_span(&safe), columns);
        CHECK(text_width(buf_span(&cut)) <= columns);
        CHECK_INT(utf8_check(buf_span(&cut)), -1);
        buf_release(&safe);
        buf_release(&cut);
    }
}

static void test_width(void)
{
    CHECK_INT(text_width(span_of("abc")), 3);
    CHECK_INT(text_width(span_of("h\xC3\xA9")), 2);
    CHECK_INT(text_width(span_of("e\xCC\x81")), 1);
    CHECK_INT(text_width(span_of("\xE6\xBC\xA2\xE5\xAD\x97")), 4);
    CHECK_INT(text_width(span_of("\x1b[1;31mred\x1b[0m")), 3);
}

static void expect(struct buf *out, const char *want)
{
    CHECK_STR(buf_str(out), want);
    buf_release(out);
}

static void test_pieces(void)
{
    struct buf b = BUF_INIT;
    text_cut(&b, span_of("abcdef"), 4);
    expect(&b, "abc\xE2\x80\xA6");
    text_cut(&b, span_of("\xE6\xBC\xA2\xE5\xAD\x97"), 3);
    expect(&b, "\xE6\xBC\xA2\xE2\x80\xA6");
    text_cut(&b, span_of("abcd"), 4);
    expect(&b, "abcd");
    text_wrap(&b, "one two  three four", 2, 10);
    expect(&b, "one two\n  three\n  four\n");
    text_wrap(&b, "averyveryverylongword b", 2, 10);
    expect(&b, "averyveryverylongword\n  b\n");
    text_shell_word(&b, "plain/file-1.db");
    expect(&b, "plain/file-1.db");
    text_shell_word(&b, "it's $HOME");
    expect(&b, "'it'\\''s $HOME'");
    text_shell_word(&b, "");
    expect(&b, "''");
}

static void test_numbers(void)
{
    static const struct {
        double us;
        const char *text;
    } durations[] = {
        {0, "0 us"},        {999, "999 us"},       {999.6, "1.00 ms"},      {12345, "12.3 ms"},
        {999400, "999 ms"}, {999600, "1.00 s"},    {9994000, "9.99 s"},     {9996000, "10.0 s"},
        {119e6, "119 s"},   {125e6, "2 min 05 s"}, {3725e6, "62 min 05 s"}, {7320e6, "2 h 02 min"},
        {-1, "-"},
    };
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        text_duration(&b, durations[i].us);
        expect(&b, durations[i].text);
    }
    /* Seconds are those of printf, ties included. */
    for (int64_t us = -2; us < 5000000; us += us < 40000 ? 1 : 487) {
        struct buf want = BUF_INIT;
        buf_clear(&b);
        text_seconds(&b, us);
        buf_addf(&want, "%.3f", (double)us / 1e6);
        CHECK_STR(buf_str(&b), buf_str(&want));
        buf_release(&want);
    }
    buf_clear(&b);
    text_duration(&b, NAN);
    expect(&b, "-");
    text_count(&b, 0);
    expect(&b, "0");
    text_count(&b, 1234567);
    expect(&b, "1,234,567");
    text_count(&b, -123);
    expect(&b, "-123");
    text_count(&b, -1000);
    expect(&b, "-1,000");
}

static void test_grid(void)
{
    const struct report_style style = {.columns = 24}, colour = {.columns = 24, .colour = true};
    struct grid g = {.align = "rl"};
    struct buf b = BUF_INIT;
    grid_add(&g, "n");
    grid_add(&g, "text");
    grid_add(&g, "100");
    grid_add(&g, "short");
    grid_note(&g, "a note that is longer than one line");
    grid_add(&g, "7");
    grid_add(&g, "longer than the terminal is");
    grid_print(&g, &style, 1, &b);
    expect(&b, "   n  text\n"
               " 100  short\n"
               "      a note that is\n"
               "      longer than one\n"
               "      line\n"
               "   7  longer than the t\xE2\x80\xA6\n");
    g.wraps = true;
    grid_add(&g, "12");
    grid_add(&g, "words that go on below themselves");
    grid_print(&g, &(struct report_style){.columns = 30, .colour = false}, 2, &b);
    expect(&b, "  12  words that go on below\n"
               "      themselves\n");
    grid_add(&g, "1");
    grid_add(&g, "bad");
    grid_paint(&g, PAINT_BAD);
    grid_print(&g, &colour, 0, &b);
    expect(&b, "1  \x1b[1;31mbad\x1b[0m\n");
}

int main(void)
{
    test_safe();
    test_any_bytes();
    test_width();
    test_pieces();
    test_numbers();
    test_grid();
    return check_end();
}
