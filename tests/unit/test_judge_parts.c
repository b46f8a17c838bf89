// layers: judge chat base
/* test_judge_parts.c - what the judge is made of: folding and the way back, many needles at once,
 * zones of Markdown, scripts. */
#include <stdlib.h>

#include "check.h"
#include "fold.h"
#include "mem.h"
#include "needle.h"
#include "rng.h"
#include "script.h"
#include "zone.h"

static void fold_is(const char *raw, bool escapes, const char *want)
{
    struct fold f;
    fold_init(&f, span_of(raw), 0, escapes);
    char *got = mem_copy(f.text.data, f.text.len);
    CHECK_STR(got, want);
    CHECK_INT(fold_raw(&f, f.text.len), strlen(raw));
    for (size_t i = 0; i < f.text.len; i++) {
        CHECK(fold_raw(&f, i) < strlen(raw));
        CHECK(i == 0 || fold_raw(&f, i) > fold_raw(&f, i - 1));
        CHECK_INT(fold_at(&f, fold_raw(&f, i)), i);
    }
    free(got);
    fold_release(&f);
}

static void test_fold(void)
{
    fold_is("plain <text>", false, "plain <text>");
    fold_is("<\xEF\xBD\x9C"
            "a\xE2\x96\x81"
            "b\xEF\xBD\x9C>",
            false, "<|a_b|>");
    fold_is("\xE2\x80\x96x\xE2\x88\xA3\xE2\x9D\x98\xEF\xBF\xA8", false, "|x|||");
    fold_is("\xE2\x97\x81t\xE2\x96\xB7\xEF\xBC\x9C\xEF\xBC\x9E\xEF\xBC\x8F", false, "<t><>/");
    fold_is("a\xE2\x80\x8B\xEF\xBB\xBF"
            "b\xC2\xA0"
            "c\xE3\x80\x80"
            "d",
            false, "ab c d");
    fold_is("\xE2\x80\x9Cq\xE2\x80\x9D \xE2\x82\xAC \xFF \xE2\x82", false,
            "\"q\" \xE2\x82\xAC \xFF \xE2\x82");
    fold_is("a\\_b \\n", false, "a_b \\n");
    fold_is("a\\\"b\\\\c\\/d\\ne\\u003cf\\u00e9\\uZZ", true, "a\"b\\c/d\ne<f?\\uZZ");
}

struct found {
    int tags[16];
    size_t starts[16], n;
};

static void note(void *arg, int tag, size_t start, size_t end)
{
    struct found *f = arg;
    (void)end;
    if (f->n < 16) {
        f->tags[f->n] = tag;
        f->starts[f->n++] = start;
    }
}

static void test_needles(void)
{
    struct needles *n = needles_new();
    static const char *const texts[] = {"he", "she", "hers", "his", "s"};
    for (int i = 0; i < 5; i++)
        needles_add(n, span_of(texts[i]), i);
    needles_build(n);
    struct found f = {.n = 0};
    needles_scan(n, span_of("uSHErs"), note, &f);
    CHECK_INT(f.n, 5);
    static const int tags[] = {4, 1, 0, 2, 4};
    static const size_t starts[] = {1, 1, 2, 2, 5};
    for (size_t i = 0; i < f.n; i++) {
        CHECK_INT(f.tags[i], tags[i]);
        CHECK_INT(f.starts[i], starts[i]);
    }
    needles_free(n);
    needles_free(NULL);
}

static void count(void *arg, int tag, size_t start, size_t end)
{
    long *counts = arg;
    (void)start;
    (void)end;
    counts[tag]++;
}

/* Against the naive search, on texts of a small alphabet where everything overlaps. */
static void test_needles_naive(void)
{
    struct rng r = rng_stream(5, 1, "needles");
    for (int round = 0; round < 200; round++) {
        char texts[6][6], hay[200];
        struct needles *n = needles_new();
        for (int i = 0; i < 6; i++) {
            size_t len = 1 + (size_t)rng_below(&r, 4);
            for (size_t k = 0; k < len; k++)
                texts[i][k] = (char)('a' + rng_below(&r, 3));
            texts[i][len] = '\0';
            needles_add(n, span_of(texts[i]), i);
        }
        for (size_t k = 0; k < sizeof hay; k++)
            hay[k] = (char)('a' + rng_below(&r, 3));
        needles_build(n);
        long got[6] = {0};
        struct span text = {hay, sizeof hay};
        needles_scan(n, text, count, got);
        for (int i = 0; i < 6; i++) {
            long want = 0;
            for (long at = 0; (at = span_find(text, span_of(texts[i]), (size_t)at)) >= 0; at++)
                want++;
            CHECK_INT(got[i], want);
        }
        needles_free(n);
    }
}

/* `map` has one letter per byte: . prose, f fence, i indented, c inline code, b blockquote, q
 * quote. The byte of a newline is not looked at. */
static void zones_are(const char *text, const char *map, bool whole)
{
    static const char letters[] = ".ficbq";
    struct zones z;
    zones_init(&z, span_of(text));
    for (size_t i = 0; text[i]; i++)
        if (text[i] != '\n') {
            CHECK_INT(letters[z.of[i]], map[i]);
            if (letters[z.of[i]] != map[i])
                fprintf(stderr, "  at byte %zu of '%s'\n", i, text);
        }
    CHECK(z.whole_fence == whole);
    zones_release(&z);
}

static void test_zones(void)
{
    zones_are("a\n```x\nb\n```\nc", ".\nffff\nf\nfff\n.", false);
    zones_are("```json\n{}\n```", "fffffff\nff\nfff", true);
    zones_are("~~~\na\n```\nb", "fff\nf\nfff\nf", true);
    zones_are("````\n```\n````\nx", "ffff\nfff\nffff\n.", false);
    zones_are("``` <x|>\na", "........\n.", false);
    zones_are("a `b` c", "..ccc..", false);
    zones_are("a ``b`c`` d", "..ccccccc..", false);
    zones_are("a `b\nc` d", "....\n....", false);
    zones_are("> a\n>b\n>>>c", "bbb\n..\n....", false);
    zones_are("a\n\n    b\n    c\nd", ".\n\niiiii\niiiii\n.", false);
    zones_are("a\n    b", ".\n.....", false);
    zones_are("say \"a b\" c=\"d\"", "....qqqqq......", false);
    zones_are("", "", false);
}

static void test_scripts(void)
{
    CHECK_INT(script_of('a'), SCRIPT_LATIN);
    CHECK_INT(script_of('1'), SCRIPT_COMMON);
    CHECK_INT(script_of(0xE9), SCRIPT_LATIN);
    CHECK_INT(script_of(0xD7), SCRIPT_COMMON);
    CHECK_INT(script_of(0x3C3), SCRIPT_GREEK);
    CHECK_INT(script_of(0x416), SCRIPT_CYRILLIC);
    CHECK_INT(script_of(0x6C34), SCRIPT_HAN);
    CHECK_INT(script_of(0x3042), SCRIPT_KANA);
    CHECK_INT(script_of(0xBB3C), SCRIPT_HANGUL);
    CHECK_INT(script_of(0x1F600), SCRIPT_COMMON);
    CHECK_INT(script_of(0x2014), SCRIPT_COMMON);
    CHECK_INT(script_of(0x20000), SCRIPT_HAN);
    CHECK_INT(script_of(0x10FFFF), SCRIPT_COMMON);
    /* The table is in order: looking up its neighbours never crosses a range. */
    for (uint32_t c = 0; c < 0x32000; c++)
        CHECK(script_of(c) < N_SCRIPTS && script_name(script_of(c)) != NULL);
    CHECK(script_of_language("zh-CN") ==
          ((1ull << SCRIPT_HAN) | (1ull << SCRIPT_BOPOMOFO) | (1ull << SCRIPT_LATIN)));
    CHECK(script_of_language("en") == 1ull << SCRIPT_LATIN);
    CHECK(script_of_language("multi") == 0);
    CHECK(script_of_language(NULL) == 0);
    CHECK(script_of_language("e") == 0);
}

int main(void)
{
    test_fold();
    test_needles();
    test_needles_naive();
    test_zones();
    test_scripts();
    return check_end();
}
