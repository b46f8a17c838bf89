// layers: sim scenario wire chat base
/* test_sim.c - the simulated endpoint without damage: right play, honest answers to strangers,
 * HTTP manners, many slow streams. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "simclient.h"

/* Every scenario, streamed and not, in every manner of delivery, is played as the scenario layer
 * says, whatever the context's size was for the client. */
static void check_play(const struct sim_options *o)
{
    struct sim *s = must_start(o);
    struct client c;
    client_open(&c, s);
    for (size_t i = 0; scenario_shipped(i); i++) {
        struct scenario *sc = must_load(scenario_shipped(i));
        for (int k = 0; k < 4; k++) {
            struct visit_order order = {.scenario = sc,
                                        .seed = 5,
                                        .session = 1 + k,
                                        .stream = k % 2,
                                        .rounds = k < 2 ? 0 : 4};
            struct visit *v = visit_all(&c, &order);
            for (int round = 1; round <= v->rounds; round++) {
                CHECK(visit_perfect(v, round));
                CHECK((v->replies[round - 1].reasoning.len > 0) == o->think);
                CHECK(v->replies[round - 1].usage.prompt_tokens > 0);
                CHECK(v->replies[round - 1].usage.completion_tokens > 0);
            }
            visit_free(v);
        }
        scenario_free(sc);
    }
    struct buf ledger = BUF_INIT;
    sim_ledger(s, &ledger);
    CHECK_INT(ledger.len, 0);
    buf_release(&ledger);
    client_close(&c);
    sim_stop(s);
}

static void test_play(void)
{
    check_play(&(struct sim_options){.seed = 1});
    check_play(&(struct sim_options){.seed = 1, .split = 7, .tokens_per_chunk = 3, .think = true});
    check_play(&(struct sim_options){.seed = 1, .split = 1, .tokens_per_chunk = 50});
    check_play(&(struct sim_options){
        .seed = 1, .ttft_us = 500, .itl_us = 100, .jitter = 0.5, .threads = 3});
}

/* A client of plain bytes: sends, and reads until the peer closes, `enough` was seen `times` times,
 * or five seconds have passed. */
struct line {
    int fd;
    struct buf in;
};

static void line_open(struct line *l, const struct sim *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_port = htons((unsigned short)atoi(strrchr(sim_url(s), ':') + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *l = (struct line){.fd = socket(AF_INET, SOCK_STREAM, 0)};
    CHECK(connect(l->fd, (struct sockaddr *)&to, sizeof to) == 0);
}

static void line_close(struct line *l)
{
    close(l->fd);
    buf_release(&l->in);
}

static void line_send(struct line *l, const char *text)
{
    CHECK(send(l->fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static int count(const struct buf *b, const char *word)
{
    int n = 0;
    for (long at = 0; (at = span_find(buf_span(b), span_of(word), (size_t)at)) >= 0; at++)
        n++;
    return n;
}

static bool line_wait(struct line *l, const char *enough, int times)
{
    int64_t until = clock_mono_us() + 5000000;
    while (count(&l->in, enough) < times && clock_mono_us() < until) {
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        char piece[4096];
        ssize_t n = poll(&p, 1, 100) > 0 ? recv(l->fd, piece, sizeof piece, 0) : -2;
        if (n == 0 || n == -1)
            break;
        if (n > 0)
            buf_add(&l->in, piece, (size_t)n);
    }
    return count(&l->in, enough) >= times;
}

static bool line_closed(struct line *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    char piece[4096];
    while (poll(&p, 1, 5000) > 0)
        if (recv(l->fd, piece, sizeof piece, 0) <= 0)
            return true;
    return false;
}

static char *post(const char *path, const char *headers, const char *body)
{
    return mem_printf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n%s", path,
                      headers, strlen(body), body);
}

/* The answer to one request on a connection of its own must hold both texts. */
static void check_answer(const struct sim *s, const char *request, const char *status,
                         const char *text)
{
    struct line l;
    line_open(&l, s);
    line_send(&l, request);
    CHECK(line_wait(&l, text, 1));
    CHECK(count(&l.in, status) > 0);
    line_close(&l);
}

static void check_post(const struct sim *s, const char *headers, const char *body,
                       const char *status, const char *text)
{
    char *request = post("/v1/chat/completions", headers, body);
    check_answer(s, request, status, text);
    free(request);
}

#define ASK   "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define NAMED "X-Toolstorm-Session: scenario=chain;seed=1;session=1;round=1\r\n"
#define TOOLS                                                                                      \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"aa\"}},{\"type\":\"function\","    \
    "\"function\":{\"name\":\"bb\",\"parameters\":{\"type\":\"object\",\"required\":[\"n\",\"s\"," \
    "\"l\"],"                                                                                      \
    "\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":4},\"s\":{\"enum\":[\"x\"]},"         \
    "\"l\":{\"type\":\"array\",\"items\":{\"const\":true}}}}}}]"
#define CALL_AA "\"name\":\"aa\",\"arguments\":\"{}\""
#define CALL_BB                                                                                    \
    "\"name\":\"bb\",\"arguments\":\"{\\\"n\\\":4,\\\"s\\\":\\\"x\\\",\\\"l\\\":[true]}\""
#define ANSWERED "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"1\"}"

static void test_strangers(void)
{
    struct sim *s = must_start(&(struct sim_options){.seed = 1});
    check_post(s, "", "{" ASK "}", "200 OK", "\"content\":\"Hello");
    check_post(s, "", "{" ASK "," TOOLS "}", "200 OK", CALL_AA);
    check_post(s, "", "{" ASK "," TOOLS ",\"stream\":true}", "text/event-stream", "data: [DONE]");
    check_post(s, "",
               "{" ASK "," TOOLS
               ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"bb\"}}}",
               "200 OK", CALL_BB);
    check_post(s, "", "{" ASK "," TOOLS ",\"tool_choice\":\"none\"}", "200 OK", "\"Hello");
    check_post(s, "", "{\"messages\":[" ANSWERED "]," TOOLS "}", "200 OK", "\"The tool has");
    check_post(s, "", "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]}",
               "200 OK", "\"finish_reason\":\"stop\"");
    sim_stop(s);
}

static void test_routes(void)
{
    struct sim *s = must_start(&(struct sim_options){.seed = 3, .boot = "b7", .model = "m/1"});
    check_answer(s, "GET /v1/models HTTP/1.1\r\n\r\n", "200 OK", "\"id\":\"m/1\"");
    check_answer(s, "GET /models HTTP/1.1\r\n\r\n", "200 OK", "\"id\":\"m/1\"");
    check_answer(s, "GET /health HTTP/1.1\r\n\r\n", "200 OK", "\"ok\"");
    check_answer(s, "GET /version HTTP/1.1\r\n\r\n", "200 OK", TOOLSTORM_VERSION);
    check_answer(s, "GET /get_server_info HTTP/1.1\r\n\r\n", "200 OK", "\"boot\":\"b7\"");
    check_answer(s, "GET /metrics HTTP/1.1\r\n\r\n", "200 OK", "toolstorm_sim_requests_total 0\n");
    check_answer(s, "GET /debug/ledger HTTP/1.1\r\n\r\n", "200 OK", "Content-Length: 0");
    check_answer(s, "GET /v2/none HTTP/1.1\r\n\r\n", "404 Not Found", "\"code\":\"not_found\"");
    check_answer(s, "GET /v1/chat/completions HTTP/1.1\r\n\r\n", "405", "method_not_allowed");
    check_answer(s, "nonsense\r\n\r\n", "400 Bad Request", "Bad Request</H1>");
    check_post(s, "", "{\"model\":\"gpt\"," ASK "}", "404 Not Found", "model_not_found");
    check_post(s, "", "{" ASK, "400 Bad Request", "not JSON");
    check_post(s, "", "{}", "400 Bad Request", "'messages' is a required property");
    check_post(s, "X-Toolstorm-Session: session=1\r\n", "{" ASK "}", "400 Bad Request",
               "scenario, session and round are needed");
    check_post(s, "X-Toolstorm-Session: scenario=chain;session=-1;round=1\r\n", "{" ASK "}",
               "400 Bad Request", "bad member");
    check_post(s, "X-Toolstorm-Session: scenario=moon;session=1;round=1\r\n", "{" ASK "}",
               "400 Bad Request", "unknown scenario 'moon'");
    sim_stop(s);
}

static void test_key(void)
{
    struct sim *s = must_start(&(struct sim_options){.api_key = "abc"});
    check_post(s, "", "{" ASK "}", "401 Unauthorized", "invalid_api_key");
    check_post(s, "Authorization: Bearer abcd\r\n", "{" ASK "}", "401", "invalid_api_key");
    check_post(s, "Authorization: Bearer abc\r\n", "{" ASK "}", "200 OK", "Hello");
    check_answer(s, "GET /v1/models HTTP/1.1\r\n\r\n", "401", "invalid_api_key");
    check_answer(s, "GET /health HTTP/1.1\r\n\r\n", "200 OK", "ok");
    sim_stop(s);
}

/* One connection, request after request, and two sent at once; without keep-alive it closes. */
static void test_connections(void)
{
    struct sim *s = must_start(&(struct sim_options){.seed = 1, .itl_us = 50});
    struct line l;
    char *request = post("/v1/chat/completions", NAMED, "{" ASK ",\"stream\":true}");
    line_open(&l, s);
    for (int i = 1; i <= 3; i++) {
        line_send(&l, request);
        CHECK(line_wait(&l, "0\r\n\r\n", i));
    }
    char *twice = mem_printf("%s%s", request, request);
    line_send(&l, twice);
    CHECK(line_wait(&l, "0\r\n\r\n", 5));
    CHECK_INT(count(&l.in, "data: [DONE]"), 5);
    line_close(&l);

    line_open(&l, s);
    line_send(&l, "GET /health HTTP/1.0\r\n\r\n");
    CHECK(line_closed(&l));
    line_close(&l);
    free(twice);
    free(request);
    sim_stop(s);
}

static long metric(const struct sim *s, const char *name)
{
    struct line l;
    line_open(&l, s);
    line_send(&l, "GET /metrics HTTP/1.1\r\n\r\n");
    CHECK(line_wait(&l, "damaged_total", 1));
    char *key = mem_printf("\ntoolstorm_sim_%s ", name);
    long at = span_find(buf_span(&l.in), span_of(key), 0);
    long value = at >= 0 ? atol(l.in.data + at + strlen(key)) : -1;
    free(key);
    line_close(&l);
    return value;
}

/* A thousand streams, none of which has ended when the last one begins. */
static void test_many_streams(void)
{
    enum { N = 1000 };
    struct sim *s = must_start(
        &(struct sim_options){.ttft_us = 2000000, .itl_us = 20000, .jitter = 0.2, .threads = 2});
    struct scenario *sc = must_load("chain");
    struct client c;
    client_open(&c, s);
    static struct visit *visits[N];
    for (int i = 0; i < N; i++)
        visits[i] = visit_start(
            &c, &(struct visit_order){
                    .scenario = sc, .seed = 9, .session = i + 1, .rounds = 1, .stream = true});
    long peak = 0;
    for (int64_t until = clock_mono_us() + 30000000; http_run(c.http, 1000) > 0;) {
        if (peak < N && clock_mono_us() < until) {
            long now = metric(s, "requests_in_flight");
            peak = now > peak ? now : peak;
        }
    }
    CHECK_INT(peak, N);
    int perfect = 0;
    for (int i = 0; i < N; i++) {
        perfect += visit_perfect(visits[i], 1);
        visit_free(visits[i]);
    }
    CHECK_INT(perfect, N);
    CHECK_INT(metric(s, "requests_in_flight"), 0);
    CHECK_INT(metric(s, "abandoned_total"), 0);
    client_close(&c);
    scenario_free(sc);
    sim_stop(s);
}

/* Delays are kept: a stream of k chunks lasts at least k - 1 of them. */
static void test_pace(void)
{
    struct sim *s = must_start(&(struct sim_options){.ttft_us = 30000, .itl_us = 3000});
    struct scenario *sc = must_load("chain");
    struct client c;
    client_open(&c, s);
    struct visit *v =
        visit_all(&c, &(struct visit_order){
                          .scenario = sc, .seed = 9, .session = 1, .rounds = 1, .stream = true});
    const struct reply *r = &v->replies[0];
    CHECK(r->first_token_us - r->sent_us >= 30000);
    CHECK(r->n_token_events > 10);
    /* from the request on: a client that is late for the first token only adds to this */
    CHECK(r->last_token_us - r->sent_us >= 30000 + 3000 * (r->n_token_events - 4));
    visit_free(v);
    client_close(&c);
    scenario_free(sc);
    sim_stop(s);
}

/* A client that leaves is noticed, before the first byte and inside a stream, and stopping does not
 * wait for those who are still there. */
static void test_leaving(void)
{
    struct sim *s = must_start(&(struct sim_options){.ttft_us = 50000, .itl_us = 60000000});
    char *request = post("/v1/chat/completions", NAMED, "{" ASK ",\"stream\":true}");
    struct line l[3];
    for (int i = 0; i < 3; i++) {
        line_open(&l[i], s);
        line_send(&l[i], request);
    }
    line_close(&l[0]);
    CHECK(line_wait(&l[1], "data: ", 1));
    line_close(&l[1]);
    for (int64_t until = clock_mono_us() + 5000000; clock_mono_us() < until;)
        if (metric(s, "abandoned_total") == 2)
            break;
    CHECK_INT(metric(s, "abandoned_total"), 2);
    CHECK_INT(metric(s, "requests_in_flight"), 1);
    sim_stop(s);
    line_close(&l[2]);
    free(request);
}

static void test_bad_options(void)
{
    struct err err = {0};
    struct sim *s = must_start(&(struct sim_options){0});
    int port = atoi(strrchr(sim_url(s), ':') + 1);
    CHECK(!sim_start(&(struct sim_options){.port = port}, &err));
    CHECK_INT(err.status, STATUS_TOOL);
    err = (struct err){0};
    CHECK(!sim_start(&(struct sim_options){.host = "256.1.1.1"}, &err));
    CHECK_INT(err.status, STATUS_TOOL);
    err = (struct err){0};
    CHECK(!sim_start(&(struct sim_options){.ledger = "/nowhere/ledger"}, &err));
    CHECK_INT(err.status, STATUS_TOOL);
    sim_stop(s);
}

int main(void)
{
    struct err err = {0};
    CHECK(http_global_init(&err) == 0);
    test_strangers();
    test_routes();
    test_key();
    test_connections();
    test_play();
    test_pace();
    test_leaving();
    test_many_streams();
    test_bad_options();
    http_global_end();
    return check_end();
}
