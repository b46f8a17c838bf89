// layers: wire chat base
/* Exchanges against a server that sends right and wrong HTTP byte by byte; limits are tens of
 * milliseconds where one is to pass, and far away elsewhere. */
#include "http.h"

#include <pthread.h>

#include "http_outcomes.h"

static void open_endpoint(struct endpoint *ep, int port, const char *name)
{
    open_at(ep, "http", port, name);
}

static void test_outcomes(struct raw_server *s)
{
    static const struct way ways[] = {
        {NULL, false},
        {cut_sevens, false},
        {cut_chunks, false},
        {cut_chunks, true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        check_outcomes(s, "http", s->port, ways[i]);
}

static void test_facts(int port)
{
    struct endpoint ep;
    struct reply r;
    open_endpoint(&ep, port, "later");
    ask(&ep, &r);
    CHECK_INT(r.retry_after_s, 7);
    CHECK_STR(buf_str(&r.error_text), "slow down");
    CHECK_STR(r.content_type, "application/json");
    reply_release(&r);
    endpoint_release(&ep);

    open_endpoint(&ep, port, "html");
    ask(&ep, &r);
    CHECK(r.body_unreadable);
    CHECK_INT(r.retry_after_s, -1);
    reply_release(&r);
    endpoint_release(&ep);

    open_endpoint(&ep, port, "stays-open");
    ask(&ep, &r);
    CHECK(r.quirks & QUIRK_BIT(open_after_done));
    reply_release(&r);
    endpoint_release(&ep);
}

static void test_limits(int port)
{
    static const struct {
        const char *name;
        int64_t ttft_us, idle_us, all_us;
        enum exchange_end end;
    } rows[] = {
        {"silent", 60000, 0, 0, END_STALL_FIRST},
        {"headers-only", 60000, 0, 0, END_STALL_FIRST},
        {"stalls", 0, 60000, 0, END_STALL_IDLE},
        {"stalls", 30000000, 30000000, 60000, END_TIMEOUT},
        {"silent", 30000000, 20000, 60000, END_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct endpoint ep;
        struct reply r;
        open_endpoint(&ep, port, rows[i].name);
        ep.ttft_timeout_us = rows[i].ttft_us;
        ep.idle_timeout_us = rows[i].idle_us;
        ep.timeout_us = rows[i].all_us;
        ask(&ep, &r);
        CHECK_INT(r.end, rows[i].end);
        CHECK(strstr(r.end_detail, "0.06 s"));
        CHECK(r.done_us - r.sent_us >= 60000 && r.done_us - r.sent_us < 5000000);
        reply_release(&r);
        endpoint_release(&ep);
    }
}

static void test_no_connection(int port)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *gone = raw_start(replies, N_REPLIES, NULL);
    int dead = gone->port;
    raw_stop(gone);
    open_endpoint(&ep, dead, "stream");
    ask(&ep, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK_INT(r.status, 0);
    CHECK(r.end_detail[0] && !r.reused && !r.retries);
    reply_release(&r);
    endpoint_release(&ep);

    /* a handshake that is never answered is no connection; one answered with text is no TLS */
    char url[80];
    struct err err = {0};
    snprintf(url, sizeof url, "https://127.0.0.1:%d/silent", port);
    CHECK_INT(endpoint_init(&ep, dialect_default(), url, &err), 0);
    ep.connect_timeout_us = 60000;
    ask(&ep, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK(strstr(r.end_detail, "no connection within 0.06 s"));
    reply_release(&r);
    endpoint_release(&ep);
}

static void test_reuse(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "stream");
    repeat(&ep, 3, &r);
    CHECK(r.reused);
    CHECK_INT(r.retries, 0);
    CHECK_INT(atomic_load(&s->n_connections), 1);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    CHECK(strstr(s->last_request, "X-Again: yes\r\n"));
    CHECK(strstr(s->last_request, "\r\n\r\n{\"q\":1}"));
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);

    /* a reused connection dies before any byte: once more, on a new one */
    s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "dies-second");
    repeat(&ep, 2, &r);
    CHECK_INT(r.end, END_CLEAN);
    CHECK_INT(r.retries, 1);
    CHECK(!r.reused && r.done);
    CHECK_INT(atomic_load(&s->n_connections), 2);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);

    s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "dies-for-good");
    repeat(&ep, 2, &r);
    CHECK_INT(r.end, END_CONNECT);
    CHECK_INT(r.retries, 1);
    CHECK_INT(atomic_load(&s->n_connections), 2);
    CHECK_INT(atomic_load(&s->n_requests), 3);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
}

/* Chunks read without libcurl leave it a connection that it can use again. Where this machine is so
 * slow that all pieces come together, libcurl reads them: then once more. */
static void test_direct(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    s->cut = cut_chunks;
    open_endpoint(&ep, s->port, "stream");
    last_direct = 0;
    for (int i = 1; i <= 100 && !last_direct; i++) {
        repeat(&ep, 3, &r);
        CHECK(r.reused && r.done && !r.retries);
        CHECK_STR(buf_str(&r.content), "hi");
        CHECK_INT(atomic_load(&s->n_connections), i);
        reply_release(&r);
    }
    CHECK(last_direct > 0 && last_direct <= 6);
    endpoint_release(&ep);
    raw_stop(s);
}

static char **one_header(const char *line)
{
    char **list = mem_zero(1, sizeof *list);
    list[0] = mem_str(line);
    return list;
}

static void test_secrets(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "echo");
    ep.api_key = mem_str("sk-quite-secret");
    ep.headers = one_header("X-Team: xyz");
    ep.n_headers = 1;
    ask(&ep, &r);
    CHECK_STR(buf_str(&r.error_text), "wrong key: *************** xyz");
    CHECK(strstr(buf_str(&r.headers), "X-Seen: Bearer ***"));
    CHECK(!strstr(buf_str(&r.headers), "c00k1e") && !strstr(buf_str(&r.headers), "secret"));
    CHECK(!strstr(buf_str(&r.raw), "secret") && strstr(buf_str(&r.raw), "wrong key"));
    CHECK(strstr(s->last_request, "Authorization: Bearer sk-quite-secret\r\n"));
    CHECK(strstr(s->last_request, "X-Team: xyz\r\n"));
    CHECK(strstr(s->last_request, "Content-Type: application/json\r\n"));
    CHECK(!strstr(s->last_request, "Expect:"));
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
}

/* Whether `line` is a line of the headers of the last request, and no other has its name. */
static bool sent_once(const struct raw_server *s, const char *line)
{
    char name[40];
    snprintf(name, sizeof name, "\r\n%.*s:", (int)strcspn(line, ":"), line);
    const char *found = strstr(s->last_request, name);
    return found && strncmp(found + 2, line, strlen(line)) == 0 && !strstr(found + 2, name);
}

static void test_headers(void)
{
    struct endpoint ep;
    struct reply r;
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    open_endpoint(&ep, s->port, "stream");
    ask(&ep, &r);
    CHECK(sent_once(s, "User-Agent: toolstorm/" TOOLSTORM_VERSION "\r\n"));
    CHECK(sent_once(s, "Accept: */*\r\n"));
    CHECK(sent_once(s, "Accept-Encoding: gzip, deflate\r\n"));
    CHECK(sent_once(s, "Content-Type: application/json\r\n"));
    CHECK(sent_once(s, "Content-Length: 2\r\n"));
    CHECK(!strstr(s->last_request, "Expect"));
    reply_release(&r);
    endpoint_release(&ep);

    static const char *const own[] = {"User-Agent: mine\r\n", "Accept-Encoding: br\r\n",
                                      "Content-Type: text/json\r\n"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        open_endpoint(&ep, s->port, "stream");
        ep.headers = mem_zero(1, sizeof *ep.headers);
        ep.headers[ep.n_headers++] = mem_copy(own[i], strlen(own[i]) - 2);
        ask(&ep, &r);
        CHECK(sent_once(s, own[i]));
        reply_release(&r);
        endpoint_release(&ep);
    }
    raw_stop(s);
}

static void test_routes(void)
{
    struct endpoint ep;
    struct reply r;
    struct err err = {0};
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);

    /* through a proxy the request line holds the whole URL */
    CHECK_INT(endpoint_init(&ep, dialect_default(), "http://llm.example/stream", &err), 0);
    ep.proxy = mem_printf("http://127.0.0.1:%d", s->port);
    ask(&ep, &r);
    CHECK(r.done);
    CHECK(strstr(s->last_request, "POST http://llm.example/stream/chat/completions HTTP/1.1\r\n"));
    reply_release(&r);
    endpoint_release(&ep);

    struct buf body = BUF_INIT;
    char why[160];
    open_endpoint(&ep, s->port, "models");
    char *url = endpoint_route(&ep, "/models");
    CHECK_INT(http_get(&ep, url, 5000000, &body, why), 200);
    CHECK_STR(buf_str(&body), "{\"data\":[]}");
    CHECK_STR(why, "");
    free(url);
    url = endpoint_route(&ep, "^/silent/");
    CHECK_INT(http_get(&ep, url, 50000, &body, why), 0);
    CHECK(why[0]);
    free(url);
    buf_clear(&body);
    url = endpoint_route(&ep, "^/body-forever/");
    CHECK_INT(http_get(&ep, url, 20000000, &body, why), 200);
    CHECK_INT(body.len, 1 << 20);
    free(url);
    buf_release(&body);
    endpoint_release(&ep);
    raw_stop(s);
}

static void test_unix_socket(void)
{
    char path[] = "/tmp/toolstorm-test-XXXXXX", name[80];
    CHECK(mkdtemp(path));
    snprintf(name, sizeof name, "%s/socket", path);
    struct raw_server *s = raw_start(replies, N_REPLIES, name);
    struct endpoint ep;
    struct reply r;
    open_endpoint(&ep, 1, "stream");
    ep.unix_socket = mem_str(name);
    ask(&ep, &r);
    CHECK(r.done);
    reply_release(&r);
    endpoint_release(&ep);
    raw_stop(s);
    unlink(name);
    rmdir(path);
}

struct crowd {
    struct http *http;
    struct reply replies[200];
    struct exchange *exchanges[200];
    int done, cancelled;
    int again; /* requests that a finished one starts */
};

static void crowd_done(void *arg, struct reply *r)
{
    struct crowd *c = arg;
    c->done++;
    c->cancelled += r->end == END_CANCELLED;
    CHECK(r->end == END_CANCELLED || r->done);
    reply_release(r);
    if (c->again > 0) {
        c->again--;
        r->stream = true;
        http_post(c->http, (struct http_body){.own = span_of("{}")}, "X-Round: 2", r, crowd_done,
                  c);
    }
}

static void test_crowd(void)
{
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    struct endpoint ep;
    struct err err = {0};
    struct crowd *c = mem_zero(1, sizeof *c);
    open_endpoint(&ep, s->port, "stream");
    c->http = http_new(&ep, 200, &err);
    c->again = 400;
    for (int i = 0; i < 200; i++) {
        reply_init(&c->replies[i]);
        c->replies[i].stream = true;
        http_post(c->http, (struct http_body){.own = span_of("{}")}, NULL, &c->replies[i],
                  crowd_done, c);
    }
    wait_for(c->http, &c->done, 600);
    CHECK_INT(http_run(c->http, 0), 0);
    CHECK_INT(atomic_load(&s->n_requests), 600);
    CHECK_INT(atomic_load(&s->n_connections), 200);

    /* all at once again: each finds an idle connection */
    for (int i = 0; i < 200; i++) {
        c->replies[i].stream = true;
        http_post(c->http, (struct http_body){.own = span_of("{}")}, NULL, &c->replies[i],
                  crowd_done, c);
    }
    wait_for(c->http, &c->done, 800);
    CHECK_INT(atomic_load(&s->n_requests), 800);
    CHECK_INT(atomic_load(&s->n_connections), 200);
    CHECK(http_lateness_us(c->http, 0.5) <= http_lateness_us(c->http, 0.99));
    CHECK(http_lateness_us(c->http, 1) > 0);
    http_free(c->http);
    endpoint_release(&ep);

    open_endpoint(&ep, s->port, "stalls");
    c->http = http_new(&ep, 50, &err);
    c->done = 0;
    for (int i = 0; i < 50; i++) {
        c->replies[i].stream = true;
        c->exchanges[i] = http_post(c->http, (struct http_body){.own = span_of("{}")}, NULL,
                                    &c->replies[i], crowd_done, c);
    }
    http_run(c->http, 10000);
    for (int i = 0; i < 50; i += 2)
        http_cancel(c->exchanges[i]);
    CHECK_INT(c->done, 0);
    CHECK_INT(http_run(c->http, 0), 25);
    CHECK_INT(c->done, 25);
    CHECK_INT(c->cancelled, 25);
    http_free(c->http); /* with 25 in flight */
    CHECK_INT(c->done, 25);
    for (int i = 0; i < 50; i++)
        reply_release(&c->replies[i]);
    endpoint_release(&ep);
    raw_stop(s);
    free(c);
}

struct ticks {
    struct http *http;
    int64_t due[4];
    int n, order[4];
};

struct tick_arg {
    struct ticks *all;
    int number;
};

static void on_tick(void *arg)
{
    struct tick_arg *t = arg;
    CHECK(clock_mono_us() >= t->all->due[t->number]);
    t->all->order[t->all->n++] = t->number;
}

static void *wake(void *arg)
{
    http_wake(arg);
    return NULL;
}

static void test_ticks(void)
{
    struct endpoint ep;
    struct err err = {0};
    open_endpoint(&ep, 1, "none");
    struct http *h = http_new(&ep, 1, &err);
    struct ticks all = {.http = h};
    struct tick_arg args[4];
    static const int64_t in_us[] = {30000, 10000, 0, 20000};
    int64_t now = clock_mono_us();
    for (int i = 0; i < 4; i++) {
        args[i] = (struct tick_arg){&all, i};
        all.due[i] = now + in_us[i];
        http_at(h, all.due[i], on_tick, &args[i]);
    }
    wait_for(h, &all.n, 4);
    static const int order[] = {2, 1, 3, 0};
    CHECK(memcmp(all.order, order, sizeof order) == 0);

    /* a wake-up from another thread ends a long wait */
    pthread_t thread;
    now = clock_mono_us();
    CHECK_INT(pthread_create(&thread, NULL, wake, h), 0);
    http_run(h, 20000000);
    CHECK(clock_mono_us() - now < 10000000);
    pthread_join(thread, NULL);
    http_at(h, now + 3600000000, on_tick, &args[0]); /* never due: freed with the loop */
    http_free(h);
    endpoint_release(&ep);
}

int main(void)
{
    struct err err = {0};
    CHECK_INT(http_global_init(&err), 0);
    make_burst();
    struct raw_server *s = raw_start(replies, N_REPLIES, NULL);
    test_outcomes(s);
    test_facts(s->port);
    test_limits(s->port);
    check_bodies(s, "http", s->port);
    test_no_connection(s->port);
    raw_stop(s);
    test_reuse();
    test_direct();
    test_secrets();
    test_headers();
    test_routes();
    test_unix_socket();
    test_crowd();
    test_ticks();
    http_global_end();
    buf_release(&burst);
    return check_end();
}
