// layers: base
/* test_pattern.c - expressions over any bytes, bounded, within a window. */
#include "pattern.h"

#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "clock.h"
#include "mem.h"

static struct pattern *compile(const char *regex, unsigned flags)
{
    struct err err = {0};
    struct pattern *p = pattern_new(regex, flags, &err);
    CHECK_STR(err.text, "");
    return p;
}

/* Start of the first match, or -1, or -2 if it gave up. */
static long find(const char *regex, unsigned flags, struct span text)
{
    struct pattern *p = compile(regex, flags);
    struct pattern_hit hit;
    enum pattern_result r = pattern_find(p, text, 0, &hit);
    pattern_free(p);
    return r == PATTERN_YES ? (long)hit.start : r == PATTERN_NO ? -1 : -2;
}

static void test_bytes(void)
{
    CHECK_INT(find("b", 0, (struct span){"\xFF\0b", 3}), 2);
    CHECK_INT(find("^b", 0, span_of("a\nb")), 2);
    CHECK_INT(find("^b", PATTERN_WHOLE_TEXT, span_of("a\nb")), -1);
    CHECK_INT(find("a$", PATTERN_WHOLE_TEXT, span_of("a\n")), -1);
    CHECK_INT(find("AB", PATTERN_NOCASE, span_of("xab")), 1);
    CHECK_INT(find("", 0, span_of(NULL)), 0);
    CHECK_INT(find("^.$", PATTERN_UTF, span_of("\xE2\x82\xAC")), 0);
    CHECK_INT(find("x", PATTERN_UTF, span_of("\xFF\xFEx")), 2);
    CHECK_INT(find("^\\p{Lowercase_Letter}\\p{Script=Greek}$", PATTERN_UTF, span_of("z\xCE\xB1")),
              0);
}

static void test_window(void)
{
    struct pattern *p = compile("(?<=a)(b)c*(?=\\z)", 0);
    struct span text = span_of("abbabccc");
    struct pattern_scratch *scratch = pattern_scratch_new();
    struct pattern_hit hit;
    CHECK_INT(pattern_find_within(p, scratch, text, 0, 3, &hit), PATTERN_NO);
    CHECK_INT(pattern_find_within(p, scratch, text, 4, 4, &hit), PATTERN_YES);
    CHECK_INT(hit.start, 4);
    CHECK_INT(hit.end, 8);
    CHECK_INT(hit.group_end, 5);
    CHECK_INT(pattern_find(p, text, 9, &hit), PATTERN_NO);
    pattern_scratch_free(scratch);
    pattern_free(p);
}

/* What the length or the first byte rules out without a search is what a search finds nowhere. */
static void test_window_of_one(void)
{
    struct pattern *p = compile("(?<=x)(?:ab|[c-e])f?|\\Ag", 0);
    struct pattern_scratch *scratch = pattern_scratch_new();
    struct span text = span_of("gabxabxdfxgxa");
    static const long found[] = {0, 4, 7};
    for (size_t at = 0, n = 0; at <= text.len; at++) {
        struct pattern_hit hit = {0};
        bool want = n < 3 && (long)at == found[n];
        CHECK_INT(pattern_find_within(p, scratch, text, at, at, &hit) == PATTERN_YES, want);
        CHECK_INT(hit.start, want ? at : 0);
        n += want;
    }
    pattern_scratch_free(scratch);
    pattern_free(p);
}

/* An expression that doubles its work with every byte must come back. */
static void test_bounded(void)
{
    char text[4001];
    memset(text, 'a', 4000);
    text[4000] = '\0';
    int64_t start = clock_cpu_us();
    CHECK_INT(find("^(?:a+a+)+[bc]", 0, span_of(text)), -2);
    CHECK(clock_cpu_us() - start < 5000000);
}

static void test_errors(void)
{
    struct err err = {0};
    CHECK(!pattern_new("a(b", 0, &err));
    CHECK_INT(err.status, STATUS_USAGE);
    CHECK_STR(err.text, "bad regular expression 'a(b' at offset 3: missing closing parenthesis");
    pattern_free(NULL);
}

/* Searches of a few places find what other searches find there. */
static void test_near(void)
{
    static const char *const regexes[] = {"<[ab]+>", "[Aa]b|<b",   "(?<=a)b*>", "\\Ab|b\\z",
                                          "(?i)B<",  "(?=a)\\w+>", "^<|>$",     "",
                                          "a.*b",    "(a)|(b)<"};
    struct pattern_scratch *scratch = pattern_scratch_new();
    unsigned state = 1;
    long found = 0;
    for (size_t i = 0; i < sizeof regexes / sizeof *regexes; i++) {
        struct err err = {0};
        struct pattern *plain = pattern_new(regexes[i], 0, &err);
        struct pattern *near = pattern_new(regexes[i], PATTERN_NEAR, &err);
        for (int round = 0; round < 3000; round++) {
            char text[2000];
            state = state * 1103515245u + 12345u;
            size_t len = round % 10 ? state >> 16 & 15 : 1000 + (state >> 16) % 1000;
            for (size_t k = 0; k < len; k++) {
                state = state * 1103515245u + 12345u;
                text[k] = "ab<>B\n"[(state >> 16) % 6];
            }
            size_t from = len ? (state >> 8) % (len + 1) : 0, last = from + (state >> 20 & 7);
            struct span span = {text, len};
            struct pattern_hit a = {0}, b = {0};
            int result = (int)pattern_find_within(plain, scratch, span, from, last, &a);
            CHECK_INT(pattern_find_within(near, scratch, span, from, last, &b), result);
            CHECK(a.start == b.start && a.end == b.end && a.group_start == b.group_start);
            found += result == PATTERN_YES;
        }
        pattern_free(plain);
        pattern_free(near);
    }
    pattern_scratch_free(scratch);
    CHECK(found > 5000);
}

static void *search(void *arg)
{
    struct pattern_hit hit;
    long found = 0;
    for (int i = 0; i < 2000; i++)
        found += pattern_find(arg, span_of("xxxx<tag>"), 0, &hit) == PATTERN_YES && hit.start == 4;
    return (void *)found;
}

/* One that none of them finds compiled. */
static void test_threads(void)
{
    struct pattern *p = pattern_later("<[a-z]+>", 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, search, p);
    for (int i = 0; i < 4; i++) {
        void *found;
        pthread_join(threads[i], &found);
        CHECK_INT((long)found, 2000);
    }
    pattern_free(p);
}

int main(void)
{
    test_bytes();
    test_window();
    test_window_of_one();
    test_bounded();
    test_errors();
    test_near();
    test_threads();
    return check_end();
}
