// layers: base
/* Buffers, UTF-8, random streams, the queue, files. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "check.h"
#include "err.h"
#include "file.h"
#include "mem.h"
#include "queue.h"
#include "rng.h"
#include "utf8.h"

static void test_buf(void)
{
    struct buf b = {.cap = 10};
    buf_adds(&b, "12345678");
    CHECK(!b.full);
    buf_adds(&b, "9abc");
    CHECK(b.full);
    CHECK_STR(buf_str(&b), "123456789a");
    buf_addc(&b, 'x');
    CHECK_INT(b.len, 10);
    buf_consume(&b, 4);
    CHECK_STR(buf_str(&b), "56789a");
    buf_clear(&b);
    CHECK(!b.full && b.len == 0);
    buf_release(&b);
    CHECK_INT(b.cap, 10);

    struct buf big = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_addf(&big, "%03d,", i);
    CHECK_INT(big.len, 4000);
    CHECK_INT(span_find(buf_span(&big), span_of("999,"), 0), 3996);
    CHECK_INT(span_find(buf_span(&big), span_of("nowhere"), 0), -1);
    CHECK_INT(span_find(buf_span(&big), span_of(""), 0), -1);
    struct buf numbers = BUF_INIT;
    static const long long some[] = {0, 7, -7, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        buf_add_long(&numbers, some[i]);
        buf_addc(&numbers, ' ');
    }
    CHECK_STR(buf_str(&numbers), "0 7 -7 1234567890123 9223372036854775807 -9223372036854775808 ");
    buf_release(&numbers);
    char *text = buf_take(&big);
    CHECK_INT(strlen(text), 4000);
    CHECK_INT(big.len, 0);
    free(text);
}

/* Every byte at every place of a plain text, which stands at every distance from its start. */
static void test_plain_end(void)
{
    char text[40];
    memset(text, 'x', sizeof text);
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < sizeof text; at++) {
            struct span s = {text, sizeof text};
            bool plain = byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
            text[at] = (char)byte;
            for (size_t from = 0; from <= at; from++)
                CHECK_INT(utf8_plain_end(s, from), plain ? s.len : at);
            CHECK_INT(utf8_plain_end(s, at + 1), s.len);
            text[at] = 'x';
        }
    CHECK_INT(utf8_plain_end((struct span){NULL, 0}, 0), 0);
}

static void test_utf8(void)
{
    static const struct {
        const char *bytes;
        long bad;
    } rows[] = {{"plain", -1},
                {"\xC3\xA9\xE6\x96\x87\xF0\x9F\x9A\xA4", -1},
                {"a\xC0\x80", 1},
                {"\xED\xA0\xBD", 0},
                {"ok\xF5\x80\x80", 2},
                {"\xE2\x82", 0},
                {"x\xF4\x90\x80\x80", 1},
                {"\x80", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(utf8_check(span_of(rows[i].bytes)), rows[i].bad);
    for (uint32_t c = 1; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 251) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        struct buf b = BUF_INIT;
        size_t at = 0;
        utf8_add(&b, c);
        uint32_t back = utf8_next(buf_span(&b), &at);
        if (back != c || at != b.len)
            CHECK_INT(back, c);
        buf_release(&b);
    }
    struct buf b = BUF_INIT;
    utf8_add_loose(&b, span_of("boat \xED\xA0\xBD"));
    CHECK_INT(utf8_check(buf_span(&b)), 5);
    utf8_add_loose(&b, span_of("\xED\xBA\xA4 z\xC0\x80"));
    CHECK(b.len == 12 && memcmp(b.data, "boat \xF0\x9F\x9A\xA4 z\0", 12) == 0);
    buf_release(&b);
}

static void test_rng(void)
{
    struct rng a = rng_stream(7, 3, "x"), b = rng_stream(7, 3, "x"), c = rng_stream(7, 3, "y");
    uint64_t first = rng_u64(&a);
    CHECK(first == rng_u64(&b));
    CHECK(first != rng_u64(&c));
    long counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[rng_below(&a, 7)]++;
    for (int i = 0; i < 7; i++)
        CHECK(counts[i] > 9600 && counts[i] < 10400);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double u = rng_unit(&a);
        CHECK(u >= 0 && u < 1);
        sum += u;
    }
    CHECK(sum > 4850 && sum < 5150);
}

static void *put_many(void *arg)
{
    for (long i = 1; i <= 20000; i++)
        queue_put(arg, mem_printf("%ld", i));
    return NULL;
}

/* Everything that several threads put in comes out once, although the queue is small. */
static void test_queue(void)
{
    struct queue *q = queue_new(16);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, put_many, q);
    long n = 0, sum = 0;
    while (n < 60000) {
        char *item = queue_get(q, 5000000);
        CHECK(item != NULL);
        if (!item)
            break;
        sum += strtol(item, NULL, 10);
        n++;
        free(item);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(sum, 3L * 20000 * 20001 / 2);
    CHECK(queue_get(q, 0) == NULL);
    CHECK_INT(queue_count(q), 0);
    queue_free(q);
}

struct reading {
    struct queue *q;
    void *got;
    atomic_bool done;
};

static void *get_one(void *arg)
{
    struct reading *r = arg;
    r->got = queue_get(r->q, 600000000);
    atomic_store(&r->done, true);
    return NULL;
}

/* Who waits for what will not come, or for more to come, need not wait for long. */
static void test_queue_hurry(void)
{
    for (int items = 0; items < 2; items++) {
        struct reading r = {.q = queue_new(100)};
        pthread_t reader;
        queue_put(r.q, mem_str("before"));
        free(queue_get(r.q, 1000000));
        pthread_create(&reader, NULL, get_one, &r);
        if (items)
            queue_put(r.q, mem_str("last"));
        while (!atomic_load(&r.done))
            queue_hurry(r.q);
        pthread_join(reader, NULL);
        CHECK((r.got != NULL) == (items > 0));
        free(r.got);
        queue_free(r.q);
    }
}

static void test_err(void)
{
    struct err e = {0};
    CHECK_INT(err_set(&e, STATUS_USAGE, "bad '%s'", "x"), -1);
    err_set(&e, STATUS_TOOL, "later");
    CHECK_STR(e.text, "bad 'x'");
    CHECK_INT(e.status, STATUS_USAGE);
    err_prefix(&e, "'%s' line %d", "file", 3);
    CHECK_STR(e.text, "'file' line 3: bad 'x'");
    char *longest = mem_zero(1, 5000);
    memset(longest, 'y', 4999);
    err_prefix(&e, "%s", longest);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    free(longest);
    CHECK_INT(err_set(NULL, STATUS_TOOL, "nobody listens"), -1);
}

static void test_file(void)
{
    struct err e = {0};
    struct buf b = BUF_INIT;
    CHECK_INT(file_read("/nowhere/at/all", 100, &b, &e), -1);
    CHECK_STR(e.text, "cannot open '/nowhere/at/all': No such file or directory");
    e = (struct err){0};
    CHECK_INT(file_read("/", 100, &b, &e), -1);
    CHECK_STR(e.text, "cannot read '/': it is a directory");
    char path[] = "/tmp/toolstorm-test-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    e = (struct err){0};
    CHECK_INT(file_write(path, "a\0b", 3, &e), 0);
    CHECK_INT(file_read(path, 3, &b, &e), 0);
    CHECK(b.len == 3 && memcmp(b.data, "a\0b", 3) == 0);
    CHECK_INT(file_read(path, 2, &b, &e), -1);
    CHECK_INT(e.status, STATUS_USAGE);
    /* A device stays a device. */
    e = (struct err){0};
    struct stat st;
    CHECK_INT(file_write("/dev/null", "x", 1, &e), 0);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    CHECK_INT(file_write("/dev/full", "x", 1, &e), -1);
    CHECK_STR(e.text, "cannot write '/dev/full': No space left on device");
    e = (struct err){0};
    CHECK_INT(file_write("/nowhere/at/all", "x", 1, &e), -1);
    CHECK_INT(e.status, STATUS_TOOL);
    buf_release(&b);
    unlink(path);
}

int main(void)
{
    test_buf();
    test_plain_end();
    test_utf8();
    test_rng();
    test_queue();
    test_queue_hurry();
    test_err();
    test_file();
    return check_end();
}
