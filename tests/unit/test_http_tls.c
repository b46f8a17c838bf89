// layers: wire chat base
/* The same exchanges over TLS: whoever reads the records, and whatever else the peer does with
 * them, they end alike. */
#include <openssl/err.h>

#include "http_outcomes.h"
#include "tls.h"
#include "tlsfront.h"

/* Whether libcurl's TLS library is the one that is linked here. */
static bool readable;

static void test_outcomes(void)
{
    static const struct {
        unsigned habits;
        struct way way;
    } rows[] = {
        {0, {NULL, false}},
        {0, {cut_sevens, false}},
        {0, {cut_chunks, false}},
        {0, {cut_chunks, true}},
        {TLS_OLD, {cut_chunks, false}},
        {TLS_PIECES, {NULL, false}},
        {TLS_PIECES | TLS_TICKETS, {cut_chunks, false}},
        {TLS_UPDATES, {cut_chunks, false}},
    };
    uint64_t direct = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
        struct tls_front *f = tls_start(s->port, rows[i].habits);
        direct += check_outcomes(s, "https", f->port, rows[i].way);
        tls_stop(f);
        raw_stop(s);
    }

    CHECK((direct > 0) == readable);
}

/* Records read without libcurl leave it a connection that it can use again, whatever the peer sends
 * besides. */
static void test_reuse(void)
{
    static const unsigned habits[] = {0, TLS_PIECES, TLS_TICKETS, TLS_UPDATES, TLS_OLD};
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
        struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
        struct tls_front *f = tls_start(s->port, habits[i]);
        struct endpoint ep;
        struct reply r;
        s->cut = cut_chunks;
        open_at(&ep, "https", f->port, "stream");
        last_direct = 0;
        for (int n = 1; n <= (readable ? 100 : 1) && !last_direct; n++) {
            repeat(&ep, 3, &r);
            CHECK(r.reused && r.done && !r.retries);
            CHECK_STR(buf_str(&r.content), "hi");
            CHECK_INT(atomic_load(&s->n_connections), n);
            reply_release(&r);
        }
        CHECK((last_direct > 0) == readable && last_direct <= 6);
        endpoint_release(&ep);
        tls_stop(f);
        raw_stop(s);
    }
}

/* Ends that TLS does not vouch for, and bytes that nobody sent. */
static void test_faults(void)
{
    static const struct {
        unsigned habits;
        const char *name;
        enum exchange_end end;
        const char *content; /* NULL: a part of it or nothing, never the end */
    } rows[] = {
        {TLS_ABRUPT, "stream", END_CLEAN, "hi"},
        {TLS_ABRUPT, "to-the-end", END_CLEAN, "hi"}, /* libcurl leaves it to us, and [DONE] came */
        {TLS_ABRUPT, "no-last-chunk", END_CUT, "hi"},
        {TLS_ABRUPT, "fin-mid-line", END_CUT, "hi"},
        {TLS_GARBLE, "stream", END_CUT, NULL},
        {TLS_GARBLE | TLS_OLD, "stream", END_CUT, NULL},
        {TLS_GARBLE | TLS_PIECES, "stays-open", END_CUT, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int through_libcurl = 0; through_libcurl < 2; through_libcurl++) {
            struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
            struct tls_front *f = tls_start(s->port, rows[i].habits);
            struct endpoint ep;
            struct reply r;
            s->cut = cut_chunks;
            open_at(&ep, "https", f->port, rows[i].name);
            ep.through_libcurl = through_libcurl;
            ask(&ep, &r);
            int before = check_failures;
            CHECK_INT(r.end, rows[i].end);
            CHECK(r.end == END_CLEAN || r.end_detail[0]);
            if (rows[i].content)
                CHECK_STR(buf_str(&r.content), rows[i].content);
            else
                CHECK(!r.done);
            if (check_failures > before)
                fprintf(stderr, "... in row %zu: %s\n", i, r.end_detail);
            reply_release(&r);
            endpoint_release(&ep);
            tls_stop(f);
            raw_stop(s);
        }
}

static void test_bodies(void)
{
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    struct tls_front *f = tls_start(s->port, 0);
    check_bodies(s, "https", f->port);
    tls_stop(f);
    raw_stop(s);
}

struct spoiler {
    struct http *http;
    int done;
};

static void spoil(void *arg)
{
    struct spoiler *s = arg;
    ERR_raise(ERR_LIB_USER, 1);
    if (!s->done)
        http_at(s->http, clock_mono_us() + 500, spoil, s);
}

/* Errors that others left in this thread's queue are not this connection's. */
static void test_others_errors(void)
{
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    struct tls_front *f = tls_start(s->port, TLS_PIECES);
    struct endpoint ep;
    struct err err = {0};
    struct reply r;
    s->cut = cut_chunks;
    open_at(&ep, "https", f->port, "burst");
    struct spoiler spoiler = {.http = http_new(&ep, 1, &err)};
    reply_init(&r);
    r.stream = true;
    http_post(spoiler.http, (struct http_body){.own = span_of("{}")}, NULL, &r, at_done,
              &spoiler.done);
    spoil(&spoiler);
    wait_for(spoiler.http, &spoiler.done, 1);
    CHECK_INT(r.end, END_CLEAN);
    CHECK_INT(r.content.len, 2 * BURST_CHUNKS);
    CHECK((http_direct_chunks(spoiler.http) > 0) == readable);
    http_free(spoiler.http);
    reply_release(&r);
    endpoint_release(&ep);
    tls_stop(f);
    raw_stop(s);
}

int main(void)
{
    struct err err = {0};
    CHECK_INT(http_global_init(&err), 0);
    make_burst();
    struct tls *t = tls_new();
    readable = t != NULL;
    tls_free(t);
    test_outcomes();
    test_reuse();
    test_faults();
    test_bodies();
    test_others_errors();
    http_global_end();
    buf_release(&burst);
    return check_end();
}
