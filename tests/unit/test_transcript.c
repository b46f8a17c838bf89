// layers: report store chat base
/* test_transcript.c - whatever the text and wherever the marks: nothing is lost, the damage is
 * always shown, and it ends. */
#include "check.h"
#include "report.h"
#include "rng.h"
#include "text.h"
#include "transcript.h"

static const struct report_style plain = {.columns = 80};

/* A text of n bytes: words, lines, wide characters, or anything. */
static void make_text(struct rng *r, size_t n, struct buf *out)
{
    static const char *const pieces[] = {
        "word ",   "line\n", "\xE6\xBC\xA2",        "\xF0\x9F\x98\x80",
        "\x1b[0m", "\xff",   "\x80\x80\x80\x80\x80"};
    while (out->len < n)
        buf_adds(out, rng_pick(r, pieces, sizeof pieces / sizeof pieces[0]));
}

static void drop(struct buf *b, const char *what)
{
    struct buf kept = BUF_INIT;
    for (const char *p = buf_str(b); *p;) {
        if (strncmp(p, what, strlen(what)) == 0)
            p += strlen(what);
        else
            buf_addc(&kept, *p++);
    }
    buf_release(b);
    *b = kept;
}

/* Shown whole, a text reads as it was, apart from the indent and the marks. */
static void test_nothing_lost(void)
{
    struct rng r = rng_stream(11, 1, "transcript");
    for (int round = 0; round < 500; round++) {
        struct buf text = BUF_INIT, shown = BUF_INIT, want = BUF_INIT;
        make_text(&r, rng_below(&r, 300), &text);
        struct mark marks[3];
        for (int i = 0; i < 3; i++) {
            marks[i].from = rng_below(&r, 320);
            marks[i].to = marks[i].from + rng_below(&r, 30);
        }
        const struct transcript t = {.style = &plain, .out = &shown};
        transcript_text(&t, buf_span(&text), marks, rng_below(&r, 4));
        text_safe(&want, buf_span(&text), false);
        drop(&want, "\\n");
        drop(&shown, "\\n");
        drop(&shown, ">>>");
        drop(&shown, "<<<");
        drop(&shown, "    ");
        drop(&shown, "\n");
        CHECK_STR(buf_str(&shown), buf_str(&want));
        buf_release(&text);
        buf_release(&shown);
        buf_release(&want);
    }
}

/* Of a long text little is shown, but every mark, and what is left out is counted. */
static void test_long_text(void)
{
    struct rng r = rng_stream(12, 1, "transcript");
    for (int round = 0; round < 300; round++) {
        struct buf text = BUF_INIT, shown = BUF_INIT;
        make_text(&r, 100000, &text);
        size_t at[2];
        struct mark marks[2];
        for (int i = 0; i < 2; i++) {
            at[i] = rng_below(&r, text.len - 8);
            memcpy(text.data + at[i], "<DAMAGE>", 8);
        }
        if (at[0] + 8 > at[1] && at[1] + 8 > at[0])
            at[1] = at[0];
        memcpy(text.data + at[0], "<DAMAGE>", 8);
        for (int i = 0; i < 2; i++)
            marks[i] = (struct mark){at[i], at[i] + 8};
        const struct transcript t = {
            .style = &plain, .context = 1 + rng_below(&r, 500), .out = &shown};
        transcript_text(&t, buf_span(&text), marks, 2);
        CHECK(strstr(buf_str(&shown), "<DAMAGE>") != NULL);
        CHECK(strstr(buf_str(&shown), " bytes ...]") != NULL);
        CHECK(shown.len < 30000);
        size_t n_marks = 0;
        for (const char *p = buf_str(&shown); (p = strstr(p, "<DAMAGE>")); p++)
            n_marks++;
        CHECK(n_marks == (at[0] == at[1] ? 1 : 2));
        buf_release(&text);
        buf_release(&shown);
    }
}

/* One line of a megabyte, without marks, comes out short. */
static void test_one_line(void)
{
    struct buf text = BUF_INIT, shown = BUF_INIT;
    for (int i = 0; i < 1 << 20; i++)
        buf_addc(&text, 'x');
    const struct transcript t = {.style = &plain, .context = 100, .out = &shown};
    transcript_text(&t, buf_span(&text), NULL, 0);
    CHECK(shown.len < 300);
    CHECK(strstr(buf_str(&shown), "[... 1,048,376 bytes ...]") != NULL);
    buf_release(&text);
    buf_release(&shown);
}

int main(void)
{
    test_nothing_lost();
    test_long_text();
    test_one_line();
    return check_end();
}
