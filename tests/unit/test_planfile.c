// layers: sweep base
/* Plan files: cells, orders, errors in words, and what of them is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "check.h"
#include "file.h"
#include "planfile.h"
#include "schedule.h"

static char path[] = "/tmp/toolstorm-plan-XXXXXX";

static int read_plan(struct planfile *p, const char *text, struct err *err)
{
    CHECK_INT(file_write(path, text, strlen(text), err), 0);
    return planfile_read(p, path, NULL, 0, err);
}

static void good(const char *text, size_t cells, size_t baseline, const char *first)
{
    struct planfile p = {0};
    struct err e = {0};
    struct buf name = BUF_INIT;
    CHECK_INT(read_plan(&p, text, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(p.n_cells, cells);
    CHECK_INT(p.baseline, baseline);
    if (p.n_cells) {
        planfile_cell_name(&p, planfile_cell(&p, 0), &name);
        CHECK_STR(buf_str(&name), first);
    }
    buf_release(&name);
    planfile_release(&p);
}

static void bad(const char *text, const char *part)
{
    struct planfile p = {0};
    struct err e = {0};
    CHECK_INT(read_plan(&p, text, &e), -1);
    CHECK_INT(e.status, STATUS_USAGE);
    CHECK(strstr(e.text, path));
    CHECK(strstr(e.text, part));
    if (!strstr(e.text, part))
        fprintf(stderr, "%s\n", e.text);
    planfile_release(&p);
}

static void test_cells(void)
{
    good("{\"factors\":{\"a\":[\"x\",\"y\"],\"b\":[1,0],\"c\":[true,false,\"auto\"]}}", 12, 0,
         "a=x,b=1,c=true");
    good("{\"factors\":{\"a\":[\"x\",\"y\"],\"b\":[1,0,2]},\"cells\":\"one-at-a-time\"}", 4, 0,
         "a=x,b=1");
    good("{\"factors\":{\"a\":[\"x\",\"y\"],\"b\":[1,0]},\"exclude\":[{\"a\":\"y\",\"b\":0}]}", 3,
         0, "a=x,b=1");
    good("{\"factors\":{\"a\":[\"x\",\"y\"],\"b\":[1,0]},\"baseline\":{\"a\":\"y\"}}", 4, 2,
         "a=x,b=1");
    good("{\"cells\":[{\"a\":1,\"b\":\"p\"},{\"a\":2,\"b\":\"q\"},{\"a\":3,\"b\":\"p\"}]}", 3, 0,
         "a=1,b=p");
    good("{\"factors\":{\"a\":[1,2],\"b\":[3,4]},\"cells\":[{\"a\":2}],\"baseline\":{\"a\":1}}", 2,
         1, "a=2,b=3");
}

static void test_errors(void)
{
    bad("{", "line 1");
    bad("{\"factors\":{\"a\":[1]},\"surprise\":1}", "surprise");
    bad("{\"name\":\"x\"}", "");
    bad("{\"factors\":{\"a\":[1,1]}}", "factors.a");
    bad("{\"factors\":{\"a\":[1,\"1\"]}}", "level twice");
    bad("{\"factors\":{\"a\":[\"x,y\"]}}", "factors.a");
    bad("{\"factors\":{\"a-b\":[1],\"a.b\":[2]}}", "TOOLSTORM_FACTOR_A_B");
    bad("{\"factors\":{\"a\":[1,2]},\"exclude\":[{\"b\":1}]}", "no factor");
    bad("{\"factors\":{\"a\":[1,2]},\"exclude\":[{\"a\":3}]}", "'3' is no level of 'a'");
    bad("{\"factors\":{\"a\":[1,2]},\"exclude\":[{\"a\":1}]}", "leaves the baseline out");
    bad("{\"factors\":{\"a\":[1,2]},\"cells\":[{\"a\":1},{\"a\":1}]}", "twice");
    bad("{\"cells\":\"full\"}", "no factors");
    bad("{\"factors\":{\"a\":[1,2]},\"run\":{\"db\":\"x\"}}", "run");
    bad("{\"factors\":{\"a\":[1,2]},\"blocks\":0}", "blocks");
}

static void test_words(void)
{
    struct planfile p = {0};
    struct err e = {0};
    const char *text = "{\"factors\":{\"a\":[1]},\"hook\":\"./hook.sh\","
                       "\"endpoint\":\"http://me:secret1@host:1/v1?key=secret2\","
                       "\"run\":{\"sessions\":7,\"stream\":false,\"scenario\":\"-odd\","
                       "\"header\":[\"X-Key: secret3\"]},"
                       "\"limits\":{\"apply\":0.5},\"on_hook_failure\":\"go-on\"}";
    const char *more[] = {"--header", "X-Other: secret4", "--warmup", "3"};
    CHECK_INT(file_write(path, text, strlen(text), &e), 0);
    CHECK_INT(planfile_read(&p, path, more, 4, &e), 0);
    CHECK_INT(p.n_run_words, 8);
    CHECK_STR(p.run_words[0], "--sessions=7");
    CHECK_STR(p.run_words[1], "--no-stream");
    CHECK_STR(p.run_words[2], "--scenario=-odd");
    CHECK_STR(p.run_words[3], "--header=X-Key: secret3");
    CHECK_STR(p.run_words[7], "3");
    CHECK_STR(p.hook, "/tmp/./hook.sh");
    CHECK_INT(p.apply_us, 500000);
    CHECK(p.go_on_after_failure);
    /* What is stored holds no secret. */
    CHECK(!strstr(p.text, "secret"));
    CHECK(strstr(p.text, "X-Key: ***") && strstr(p.text, "X-Other: ***"));
    CHECK(strstr(p.text, "http://host:1/v1"));
    planfile_release(&p);
}

/* Every block holds every cell once; pairs of blocks mirror each other. */
static void test_schedule(void)
{
    size_t *two = schedule_new(2, 4, 1);
    static const size_t abba[] = {0, 1, 1, 0, 1, 0, 0, 1};
    CHECK(memcmp(two, abba, sizeof abba) == 0);
    free(two);
    for (size_t n = 1; n < 12; n++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            long blocks = 6;
            size_t *s = schedule_new(n, blocks, seed);
            for (long b = 0; b < blocks; b++) {
                size_t *block = s + (size_t)b * n;
                bool seen[12] = {false};
                for (size_t i = 0; i < n; i++) {
                    CHECK(block[i] < n && !seen[block[i]]);
                    seen[block[i]] = true;
                    if (b % 2 == 1)
                        CHECK_INT(block[i], (block - n)[n - 1 - i]);
                }
            }
            free(s);
        }
}

/* A server that gets worse all the time favours no cell: mean places of all cells are the same. */
static void test_drift(void)
{
    for (size_t n = 2; n < 9; n++) {
        size_t *s = schedule_new(n, 4, 3);
        double sum[9] = {0};
        for (size_t i = 0; i < 4 * n; i++)
            sum[s[i]] += (double)i;
        for (size_t c = 1; c < n; c++)
            CHECK_NEAR(sum[c], sum[0], 1e-12);
        free(s);
    }
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    test_cells();
    test_errors();
    test_words();
    test_schedule();
    test_drift();
    unlink(path);
    return check_end();
}
