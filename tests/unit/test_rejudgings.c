// layers: store stats base
/* Rejudgings beside a run's own verdicts: numbered, whole or not there at all. */
#include "rejudgings.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "store.h"

static long count(struct store *s, const char *sql)
{
    struct err err = {0};
    struct query *q = store_query(s, sql, &err);
    CHECK(q && query_step(q, &err) == 1);
    long n = q ? query_long(q, 0) : -1;
    query_free(q);
    return n;
}

static void add(struct store *s, long run, long number, long sessions)
{
    struct err err = {0};
    for (long i = 1; i <= sessions; i++) {
        const struct rejudgement_row row = {.session = i,
                                            .round = 1,
                                            .twin = i % 2 == 0,
                                            .class = "leak",
                                            .reason = "leak.markup",
                                            .channel = "content",
                                            .rule = "r",
                                            .note = "n",
                                            .call = -1};
        CHECK_INT(rejudgings_add(s, run, number, &row, &err), 0);
    }
}

int main(void)
{
    char dir[] = "/tmp/rejudgings-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/x.db", dir);
    struct err err = {0};
    const struct rejudging_row row = {.version = "1", .judge_version = 7, .rules_file = "f"};
    struct store *s = store_open(path, STORE_WRITE, &err);
    CHECK(s != NULL);
    CHECK_INT(rejudgings_begin(s, 1, &row, &err), 1);
    add(s, 1, 1, 6);
    CHECK_INT(rejudgings_end(s, &err), 0);
    CHECK_INT(rejudgings_begin(s, 2, &row, &err), 1);
    CHECK_INT(rejudgings_end(s, &err), 0);
    CHECK_INT(rejudgings_begin(s, 1, &row, &err), 2);
    add(s, 1, 2, 4);
    rejudgings_abandon(s);
    CHECK_INT(rejudgings_begin(s, 1, &row, &err), 2);
    add(s, 1, 2, 3);
    /* Another connection sees nothing before the end. */
    struct store *other = store_open(path, STORE_READ, &err);
    CHECK_INT(count(other, "SELECT count(*) FROM rejudgements"), 6);
    CHECK_INT(rejudgings_end(s, &err), 0);
    CHECK_INT(count(other, "SELECT count(*) FROM rejudgements WHERE number = 2"), 3);
    CHECK_INT(count(other, "SELECT count(*) FROM rejudgements WHERE twin"), 4);
    CHECK_INT(count(other, "SELECT count(*) FROM rejudgings WHERE judge_version = 7"), 3);
    /* One verdict for each reply and rejudging. */
    CHECK_INT(rejudgings_begin(s, 1, &row, &err), 3);
    add(s, 1, 3, 1);
    const struct rejudgement_row again = {.session = 1, .round = 1, .class = "ok", .reason = "x"};
    CHECK_INT(rejudgings_add(s, 1, 3, &again, &err), -1);
    CHECK_INT(err.status, STATUS_TOOL);
    rejudgings_abandon(s);
    CHECK_INT(count(other, "SELECT max(number) FROM rejudgings"), 2);
    store_close(other);
    store_close(s);
    unlink(path);
    rmdir(dir);
    return check_end();
}
