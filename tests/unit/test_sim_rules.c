// layers: sim scenario wire chat base
/* test_sim_rules.c - whom a rule hits: rates, rounds, conditions, boots, drift; grammar; the ledger
 * across runs, and what is not in it. */
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "file.h"
#include "ledger.h"
#include "simclient.h"

static struct faults *rule(const char *text, uint64_t seed)
{
    static const char *const factors[] = {"graph=on", "idxk=bf16"};
    struct err err = {0};
    struct faults *f = faults_new(&text, 1, factors, 2, seed, &err);
    CHECK_STR(err.text, "");
    return f;
}

/* Rounds 2 to 4 of five fit. */
static bool fits(const void *arg, enum reason reason, int round)
{
    (void)arg;
    (void)reason;
    return round >= 2 && round <= 4;
}

static struct fault_case a_case(long session, int round)
{
    return (struct fault_case){.run_seed = 11,
                               .session = session,
                               .round = round,
                               .rounds = 5,
                               .request = session,
                               .inflight = 1,
                               .boot = "b"};
}

/* The round in which a session is hit; 0 = none. */
static int round_hit(const struct faults *f, struct fault_case c)
{
    struct fault_hit hit;
    for (c.round = 1; c.round <= c.rounds; c.round++)
        if (faults_decide(f, &c, fits, NULL, &hit))
            return c.round;
    return 0;
}

static int hits(const struct faults *f, struct fault_case c, int n)
{
    int hit = 0;
    for (int k = 1; k <= n; k++) {
        c.session = c.request = k;
        hit += round_hit(f, c) > 0;
    }
    return hit;
}

static bool is_near(int got, int n, double rate)
{
    return fabs(got - n * rate) <= 5 * sqrt(n * rate * (1 - rate)) + 1e-9;
}

static void test_rates(void)
{
    static const struct {
        const char *text;
        double rate;
    } rows[] = {{"leak.utf8", 1},         {"leak.utf8=0", 0},      {"leak.utf8=100%", 1},
                {"leak.utf8=0.15", 0.15}, {"leak.utf8=15%", 0.15}, {"leak.utf8=0.5%", 0.005}};
    enum { N = 20000 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct faults *f = rule(rows[i].text, seed);
            CHECK(is_near(hits(f, a_case(0, 0), N), N, rows[i].rate));
            faults_free(f);
        }
}

/* Seed, boot and run each choose other sessions; the same ones choose the same. */
static void test_choice(void)
{
    enum { N = 4000 };
    struct faults *f[3] = {rule("leak.utf8=0.5", 1), rule("leak.utf8=0.5", 1),
                           rule("leak.utf8=0.5", 2)};
    int same = 0, seed = 0, boot = 0, run = 0;
    for (int k = 1; k <= N; k++) {
        struct fault_case c = a_case(k, 1), other = c;
        int hit = round_hit(f[0], c);
        same += hit == round_hit(f[1], c);
        seed += (hit > 0) == (round_hit(f[2], c) > 0);
        other.boot = "c";
        boot += (hit > 0) == (round_hit(f[0], other) > 0);
        other = c;
        other.run_seed = 12;
        run += (hit > 0) == (round_hit(f[0], other) > 0);
    }
    CHECK_INT(same, N);
    CHECK(is_near(seed, N, 0.5));
    CHECK(is_near(boot, N, 0.5));
    CHECK(is_near(run, N, 0.5));
    for (int i = 0; i < 3; i++)
        faults_free(f[i]);
}

/* Of the rounds that fit, each has the same chance; a condition can put it off, not bring it on. */
static void test_rounds(void)
{
    enum { N = 6000 };
    struct faults *f = rule("leak.utf8", 1);
    int by_round[6] = {0};
    for (int k = 1; k <= N; k++)
        by_round[round_hit(f, a_case(k, 1))]++;
    CHECK_INT(by_round[0] + by_round[1] + by_round[5], 0);
    for (int r = 2; r <= 4; r++)
        CHECK(is_near(by_round[r], N, 1.0 / 3));

    struct fault_hit hit;
    for (int k = 1; k <= 300; k++) {
        struct fault_case c = a_case(k, 4);
        CHECK(faults_decide(f, &c, fits, NULL, &hit)); /* late is better than never */
        c.damaged = true;
        CHECK(!faults_decide(f, &c, fits, NULL, &hit));
    }
    faults_free(f);
    f = rule("leak.utf8@every", 1);
    for (int r = 1; r <= 5; r++) {
        struct fault_case c = a_case(1, r);
        c.damaged = r > 2;
        CHECK(faults_decide(f, &c, fits, NULL, &hit) == (r >= 2 && r <= 4));
    }
    faults_free(f);
}

static void test_conditions(void)
{
    static const struct {
        const char *text;
        bool holds;
    } rows[] = {{"inflight>1", true},
                {"inflight>7", false},
                {"inflight>=7", true},
                {"inflight<7", false},
                {"inflight<=7", true},
                {"inflight=7", true},
                {"inflight!=7", false},
                {"round=3", true},
                {"round=2", false},
                {"request>100", true},
                {"request>101", false},
                {"session=42", true},
                {"session%4=2", true},
                {"session%4=0", false},
                {"session%10>=3", false},
                {"stream=1", true},
                {"stream=0", false},
                {"boot=x=1+graph=off", true},
                {"boot=x", false},
                {"boot!=x", true},
                {"factor.graph=on", true},
                {"factor.graph=off", false},
                {"factor.graph!=off", true},
                {"factor.x=1", true},
                {"factor.x=", false},
                {"factor.none=1", false},
                {"factor.none!=1", true},
                {"inflight>1,round=3,factor.idxk=bf16,factor.graph=on", true},
                {"inflight>1,round=3,factor.idxk=fp8,factor.graph=on", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = mem_printf("leak.utf8@every,%s", rows[i].text);
        struct faults *f = rule(text, 1);
        struct fault_case c = a_case(42, 3);
        c.inflight = 7;
        c.request = 101;
        c.stream = true;
        c.boot = "x=1+graph=off";
        struct fault_hit hit;
        CHECK(faults_decide(f, &c, fits, NULL, &hit) == rows[i].holds);
        faults_free(f);
        free(text);
    }
}

/* The rate moves with the requests; boots scatter around it, each with one rate of its own. */
static void test_drift_and_luck(void)
{
    enum { N = 20000 };
    struct faults *f = rule("leak.utf8=0.4@drift=0.5/10000", 1);
    struct fault_case c = a_case(0, 0);
    int early = 0, late = 0;
    for (int k = 1; k <= N; k++) {
        c.session = k;
        c.request = k <= N / 2 ? 1 : 10001 + k;
        *(k <= N / 2 ? &early : &late) += round_hit(f, c) > 0;
    }
    CHECK(is_near(early, N / 2, 0.4));
    CHECK(is_near(late, N / 2, 0.2));
    faults_free(f);

    f = rule("leak.utf8=0.2@luck=0.5", 1);
    int lowest = N, highest = 0;
    double sum = 0;
    for (int b = 0; b < 60; b++) {
        char boot[24];
        snprintf(boot, sizeof boot, "boot %d", b);
        c = a_case(0, 0);
        c.boot = boot;
        int n = hits(f, c, 2000);
        lowest = n < lowest ? n : lowest;
        highest = n > highest ? n : highest;
        sum += n;
    }
    CHECK(lowest < 2000 * 0.14 && lowest > 2000 * 0.07);
    CHECK(highest > 2000 * 0.26 && highest < 2000 * 0.34);
    CHECK(fabs(sum / 60 - 400) < 45);
    faults_free(f);
}

static void test_grammar(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {{"leak.markupp", "did you mean 'leak.markup'; known: leak.markup, leak.markup_re"},
                {"", "unknown reason ''"},
                {"markup", "unknown reason 'markup'"},
                {"ok.done", "can't be produced"},
                {"error.tls", "can't be produced"},
                {"leak.markup=2", "rate '2' must be 0..1 or 0%..100%"},
                {"leak.markup=101%", "rate '101%'"},
                {"leak.markup=-0.1", "rate '-0.1'"},
                {"leak.markup=", "rate ''"},
                {"leak.markup=nan", "rate 'nan'"},
                {"leak.markup:moon", "no family 'moon' that can show this; known: "},
                {"leak.value:moon", "leak.value has no families"},
                {"leak.markup@", "nothing behind '@'"},
                {"leak.markup@round", "bad condition 'round'"},
                {"leak.markup@round=two", "bad condition 'round=two'"},
                {"leak.markup@round=2x", "bad condition 'round=2x'"},
                {"leak.markup@session%0=1", "bad condition 'session%0=1'"},
                {"leak.markup@weather=fine", "bad condition 'weather=fine'"},
                {"leak.markup@factor.=1", "bad condition 'factor.=1'"},
                {"leak.markup@luck=2", "bad condition 'luck=2'"},
                {"leak.markup@drift=2", "bad condition 'drift=2'"},
                {"leak.markup@inflight>1,bad", "bad condition 'bad'"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        const char *list[] = {"leak.value", rows[i].text};
        CHECK(sim_check_faults(list, 2, &err) == -1);
        CHECK_INT(err.status, STATUS_USAGE);
        CHECK(strstr(err.text, rows[i].says) != NULL);
        CHECK(!sim_start(&(struct sim_options){.faults = list, .n_faults = 2}, NULL));
    }
    struct err err = {0};
    const char *bad = "graph";
    CHECK(!sim_start(&(struct sim_options){.factors = &bad, .n_factors = 1}, &err));
    CHECK_STR(err.text, "factor 'graph' must be NAME=VALUE");
}

/* The set of damaged sessions, through growth and removal. */
static void test_set(void)
{
    enum { N = 5000 };
    struct ledger *l = ledger_new(NULL, NULL);
    for (int k = 1; k <= N; k++) {
        struct ledger_line line = {
            .scenario = "s", .seed = 1, .session = k, .rule = "", .boot = ""};
        ledger_add(l, &line);
        ledger_add(l, &line);
        if (k % 3 == 0)
            ledger_forget(l, ledger_key("s", 1, k));
    }
    int wrong = 0;
    for (int k = 1; k <= N; k++) {
        wrong += ledger_has(l, ledger_key("s", 1, k)) != (k % 3 != 0);
        wrong += ledger_has(l, ledger_key("s", 2, k)) + ledger_has(l, ledger_key("t", 1, k));
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(ledger_count(l, 0), 2 * N);
    ledger_free(l);
}

struct scene_of_test {
    struct sim *sim;
    struct client client;
    struct scenario *scenario;
};

static void open_scene(struct scene_of_test *t, const struct sim_options *o)
{
    t->sim = must_start(o);
    client_open(&t->client, t->sim);
    t->scenario = must_load("chain");
}

static void close_scene(struct scene_of_test *t)
{
    client_close(&t->client);
    scenario_free(t->scenario);
    sim_stop(t->sim);
}

/* A second run may bring the same sessions again: they are hit again, in the same rounds. */
static void test_second_run(void)
{
    const char *text = "leak.value=0.5";
    char path[] = "/tmp/toolstorm-ledger-XXXXXX";
    close(mkstemp(path));
    struct scene_of_test t;
    open_scene(&t, &(struct sim_options){
                       .seed = 2, .faults = &text, .n_faults = 1, .boot = "one", .ledger = path});
    for (int run = 0; run < 2; run++)
        for (int k = 1; k <= 20; k++)
            visit_free(visit_all(
                &t.client, &(struct visit_order){
                               .scenario = t.scenario, .seed = 1, .session = k, .stream = run}));
    size_t n;
    struct entry *ledger = read_ledger(t.sim, &n);
    CHECK(n > 8 && n % 2 == 0);
    for (size_t i = 0; i < n / 2; i++) {
        CHECK_INT(ledger[i].session, ledger[i + n / 2].session);
        CHECK_INT(ledger[i].round, ledger[i + n / 2].round);
        CHECK_STR(ledger[i].scenario, "chain");
        CHECK_INT(ledger[i].inflight, 1);
    }
    struct buf memory = BUF_INIT, file = BUF_INIT;
    sim_ledger(t.sim, &memory);
    CHECK(file_read(path, 1 << 20, &file, NULL) == 0);
    CHECK_STR(buf_str(&file), buf_str(&memory));
    CHECK(strstr(buf_str(&file), "\"class\":\"leak\",\"rule\":\"leak.value=0.5\"") != NULL);
    CHECK(strstr(buf_str(&file), "\"boot\":\"one\"") != NULL);
    unlink(path);
    buf_release(&memory);
    buf_release(&file);
    free(ledger);
    close_scene(&t);
}

/* The boot that the client names is the one in force, with the factors in its name. */
static void test_client_boot(void)
{
    const char *text = "no_tool.prose@factor.graph=on,round=1";
    struct scene_of_test t;
    open_scene(&t, &(struct sim_options){.seed = 2, .faults = &text, .n_faults = 1});
    for (int k = 1; k <= 4; k++)
        visit_free(visit_all(&t.client,
                             &(struct visit_order){.scenario = t.scenario,
                                                   .session = k,
                                                   .boot = k % 2 ? "graph=on+c=3" : "graph=off"}));
    size_t n;
    struct entry *ledger = read_ledger(t.sim, &n);
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(ledger[i].session % 2, 1);
        CHECK_INT(ledger[i].round, 1);
    }
    free(ledger);
    close_scene(&t);
}

/* Alone, nothing is hit that needs company; in company, everything is. */
static void test_company(void)
{
    const char *text = "no_tool.prose@inflight>1,round=1";
    struct scene_of_test t;
    open_scene(&t,
               &(struct sim_options){.seed = 2, .faults = &text, .n_faults = 1, .ttft_us = 20000});
    struct visit *v[2];
    struct visit_order o = {.scenario = t.scenario, .session = 1};
    size_t n;
    visit_free(visit_all(&t.client, &o));
    free(read_ledger(t.sim, &n));
    CHECK_INT(n, 0);
    for (int i = 0; i < 2; i++) {
        o.session = i + 2;
        v[i] = visit_start(&t.client, &o);
    }
    client_settle(&t.client);
    free(read_ledger(t.sim, &n));
    CHECK_INT(n, 1); /* the first to come was alone */
    for (int i = 0; i < 2; i++)
        visit_free(v[i]);
    close_scene(&t);
}

static void note_done(void *arg, struct reply *r)
{
    (void)r;
    *(bool *)arg = true;
}

/* Clients that name no session are hit by the ordinal of the request. */
static void test_strangers(void)
{
    const char *text = "no_tool.prose@request%2=0";
    struct scene_of_test t;
    open_scene(&t, &(struct sim_options){.seed = 2, .faults = &text, .n_faults = 1});
    for (int i = 1; i <= 4; i++) {
        struct reply r;
        bool done = false;
        reply_init(&r);
        http_post(
            t.client.http,
            (struct http_body){
                .own = span_of("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"tools\":[{"
                               "\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}")},
            NULL, &r, note_done, &done);
        client_settle(&t.client);
        CHECK(done && r.status == 200);
        CHECK_INT(r.n_calls, i % 2);
        CHECK_STR(r.finish, i % 2 ? "tool_calls" : "stop");
        reply_release(&r);
    }
    size_t n;
    struct entry *ledger = read_ledger(t.sim, &n);
    CHECK_INT(n, 2);
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(ledger[i].session, 2 * (long)i + 2);
        CHECK_STR(ledger[i].scenario, "");
    }
    free(ledger);
    close_scene(&t);
}

/* Who leaves before the damage has not been damaged. */
static void test_abandoned(void)
{
    const char *text = "no_tool.prose";
    struct scene_of_test t;
    open_scene(&t,
               &(struct sim_options){.seed = 2, .faults = &text, .n_faults = 1, .ttft_us = 200000});
    struct visit_order o = {.scenario = t.scenario, .session = 1};
    struct visit *v = visit_start(&t.client, &o);
    char why[160];
    char *url = endpoint_route(&t.client.ep, "^/metrics");
    bool arrived = false, left = false;
    for (int64_t until = clock_mono_us() + 5000000; !left && clock_mono_us() < until;) {
        struct buf text_now = BUF_INIT;
        http_run(t.client.http, 1000);
        CHECK_INT(http_get(&t.client.ep, url, 1000000, &text_now, why), 200);
        if (!arrived && strstr(buf_str(&text_now), "requests_in_flight 1\n")) {
            arrived = true;
            http_cancel(v->exchange);
        }
        left = strstr(buf_str(&text_now), "abandoned_total 1\n") != NULL;
        buf_release(&text_now);
    }
    CHECK(arrived && left);
    size_t n;
    free(read_ledger(t.sim, &n));
    CHECK_INT(n, 0);
    free(url);
    visit_free(v);
    close_scene(&t);
}

int main(void)
{
    struct err err = {0};
    CHECK(http_global_init(&err) == 0);
    test_rates();
    test_choice();
    test_rounds();
    test_conditions();
    test_drift_and_luck();
    test_grammar();
    test_set();
    test_second_run();
    test_client_boot();
    test_company();
    test_strangers();
    test_abandoned();
    http_global_end();
    return check_end();
}
