// layers: sim scenario wire chat base
/* test_sim_faults.c - every damage comes as its reason says, where its rule says, and stands in the
 * ledger; and nothing else is damaged. */
#include <unistd.h>

#include "check.h"
#include "file.h"
#include "message.h"
#include "simclient.h"

static bool holds(const struct buf *b, const char *text)
{
    return span_find(buf_span(b), span_of(text), 0) >= 0;
}

struct right {
    struct reply r;
    struct expect e;
};

/* Proofs: is this reply damaged in just the way that the reason means? */

static bool is_text_only(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->n_calls == 0 && r->content.len > 5 && strcmp(r->finish, "stop") == 0;
}

static bool is_markup_reasoning(const struct reply *r, const struct right *w)
{
    return r->n_calls == 0 && r->content.len == 0 && holds(&r->reasoning, w->e.calls[0].name);
}

static const struct tool_call *changed_call(const struct reply *r, const struct right *w)
{
    for (size_t i = 0; i < r->n_calls && i < w->r.n_calls; i++)
        if (!same_buf(&r->calls[i].args, &w->r.calls[i].args) ||
            !same_buf(&r->calls[i].name, &w->r.calls[i].name))
            return &r->calls[i];
    return NULL;
}

static bool is_markup_args(const struct reply *r, const struct right *w)
{
    const struct tool_call *c = changed_call(r, w);
    return c && c->args.len > w->r.calls[c - r->calls].args.len;
}

static bool is_markup_name(const struct reply *r, const struct right *w)
{
    const struct tool_call *c = changed_call(r, w);
    const struct buf *name = c ? &w->r.calls[c - r->calls].name : NULL;
    return c && c->name.len > name->len && span_starts(buf_span(&c->name), buf_str(name));
}

static bool is_special(const struct reply *r, const struct right *w)
{
    return r->content.len > w->r.content.len && r->n_calls == w->r.n_calls &&
           holds(&r->content, "<");
}

static bool is_reasoning(const struct reply *r, const struct right *w)
{
    return r->n_calls == w->r.n_calls && r->reasoning.len == 0 && holds(&r->content, "think");
}

static bool is_loop(const struct reply *r, const struct right *w)
{
    (void)w;
    const char *end = buf_str(&r->content) + r->content.len;
    for (size_t period = 1; period < 20 && r->content.len > 1500; period++)
        if (memcmp(end - 1200, end - 1200 - period, 1200) == 0)
            return strcmp(r->finish, "length") == 0;
    return false;
}

static bool is_soup(const struct reply *r, const struct right *w)
{
    size_t odd = 0;
    for (size_t i = 0; i < r->content.len; i++)
        odd += (unsigned char)r->content.data[i] >= 0x80;
    return odd > 100 && r->n_calls <= w->r.n_calls;
}

static bool is_utf8(const struct reply *r, const struct right *w)
{
    return holds(&r->content, "\xEF\xBF\xBD\xEF\xBF\xBD") && r->n_calls == w->r.n_calls;
}

static bool is_foreign(const struct reply *r, const struct right *w)
{
    struct token_owner owner = {0};
    long at = -1;
    for (size_t from = 0; at < 0 || owner.session == w->e.session; from = (size_t)at + 1) {
        at = token_find(w->e.key, buf_span(&r->content), from, &owner);
        if (at < 0)
            break;
    }
    for (size_t i = 0; i < r->n_calls && at < 0; i++)
        at = token_find(w->e.key, buf_span(&r->calls[i].args), 0, &owner);
    return at >= 0 && owner.session != w->e.session && labs(owner.session - w->e.session) == 1;
}

static size_t n_different(const struct buf *a, const struct buf *b)
{
    size_t n = a->len == b->len ? 0 : 1000;
    for (size_t i = 0; n < 1000 && i < a->len; i++)
        n += a->data[i] != b->data[i];
    return n;
}

static bool is_value(const struct reply *r, const struct right *w)
{
    size_t n = n_different(&r->content, &w->r.content);
    for (size_t i = 0; i < r->n_calls && r->n_calls == w->r.n_calls; i++) {
        n += n_different(&r->calls[i].args, &w->r.calls[i].args);
        n += json_check(buf_span(&r->calls[i].args)) < 0 ? 0 : 1000;
    }
    return n == 1;
}

static bool is_object(const struct buf *args)
{
    return json_check(buf_span(args)) < 0 && args->data[0] == '{';
}

static bool is_call_json(const struct reply *r, const struct right *w)
{
    const struct tool_call *c = changed_call(r, w);
    return c && r->n_calls == w->r.n_calls && !is_object(&c->args);
}

static bool is_call_schema(const struct reply *r, const struct right *w)
{
    const struct tool_call *c = changed_call(r, w);
    return c && is_object(&c->args) && holds(&c->args, "note_to_self");
}

static bool is_call_name(const struct reply *r, const struct right *w)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        bool known = false;
        for (size_t k = 0; k < w->e.n_tools; k++)
            known |= span_is(buf_span(&r->calls[i].name), w->e.tools[k].name);
        if (!known)
            return r->n_calls == w->r.n_calls;
    }
    return false;
}

static bool is_call_id(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->n_calls > 1 && same_buf(&r->calls[0].id, &r->calls[1].id) &&
           !r->calls[1].index_conflict;
}

static bool is_call_index(const struct reply *r, const struct right *w)
{
    (void)w;
    bool conflict = false;
    for (size_t i = 0; i < r->n_calls; i++)
        conflict |= r->calls[i].index_conflict;
    return conflict;
}

static bool is_call_extra(const struct reply *r, const struct right *w)
{
    return r->n_calls == 1 && w->r.n_calls == 0 && is_object(&r->calls[0].args);
}

static bool is_server_parse(const struct reply *r, const struct right *w)
{
    (void)w;
    return holds(&r->error_text, "pars") && (r->status >= 400 || r->error_in_stream);
}

static bool is_connect(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->status == 0 && (r->end == END_CONNECT || r->end == END_CUT);
}

static bool is_http(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->status >= 500 && r->status != 503 && !holds(&r->error_text, "pars");
}

static bool is_overload(const struct reply *r, const struct right *w)
{
    (void)w;
    return (r->status == 429 || r->status == 503) && r->retry_after_s == 1;
}

static bool is_body(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->status == 200 && r->body_unreadable && r->end == END_CLEAN;
}

static bool is_sse(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->status == 200 && (r->error_in_stream || r->framing_broken) && !r->finish[0];
}

static bool is_cut(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->status == 200 && r->end == END_CUT && !r->finish[0];
}

static bool is_stall(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->end == END_STALL_FIRST || r->end == END_STALL_IDLE;
}

static bool is_timeout(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->end == END_TIMEOUT;
}

static bool is_too_large(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->end == END_TOO_LARGE;
}

static bool is_nothing(const struct reply *r)
{
    return r->n_calls == 0 && r->content.len == 0 && r->reasoning.len == 0 &&
           strcmp(r->finish, "stop") == 0;
}

static bool is_empty(const struct reply *r, const struct right *w)
{
    (void)w;
    return is_nothing(r) && r->usage.completion_tokens == 0;
}

static bool is_swallowed(const struct reply *r, const struct right *w)
{
    (void)w;
    return is_nothing(r) && r->usage.completion_tokens >= 40;
}

static bool is_finish_lie(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->n_calls == 0 && strcmp(r->finish, "tool_calls") == 0;
}

static bool is_cap(const struct reply *r, const struct right *w)
{
    (void)w;
    return r->n_calls == 0 && strcmp(r->finish, "length") == 0 &&
           r->usage.completion_tokens == 300 && r->content.len > 1190 && r->content.len <= 1200;
}

static bool is_missing(const struct reply *r, const struct right *w)
{
    return r->n_calls > 0 && r->n_calls == w->r.n_calls - 1;
}

static bool is_repeat(const struct reply *r, const struct right *w)
{
    const char *before = w->e.n_previous ? w->e.previous_args[w->e.n_previous - 1] : "";
    return r->n_calls == 1 && span_is(buf_span(&r->calls[0].args), before);
}

enum where { ANY, STREAM, PARALLEL, CHAIN };

static const struct proof {
    const char *reason;
    enum where where;
    bool (*holds)(const struct reply *r, const struct right *w);
} proofs[] = {
    {"leak.markup", ANY, is_text_only},
    {"leak.markup_reasoning", ANY, is_markup_reasoning},
    {"leak.markup_args", ANY, is_markup_args},
    {"leak.markup_name", ANY, is_markup_name},
    {"leak.special_token", ANY, is_special},
    {"leak.reasoning_text", ANY, is_reasoning},
    {"leak.loop", ANY, is_loop},
    {"leak.soup", ANY, is_soup},
    {"leak.utf8", ANY, is_utf8},
    {"leak.foreign", ANY, is_foreign},
    {"leak.value", ANY, is_value},
    {"leak.call_json", ANY, is_call_json},
    {"leak.call_schema", ANY, is_call_schema},
    {"leak.call_name", ANY, is_call_name},
    {"leak.call_id", ANY, is_call_id},
    {"leak.call_index", STREAM, is_call_index},
    {"leak.call_extra", ANY, is_call_extra},
    {"leak.server_parse", ANY, is_server_parse},
    {"error.connect", ANY, is_connect},
    {"error.http", ANY, is_http},
    {"error.overload", ANY, is_overload},
    {"error.body", ANY, is_body},
    {"error.sse", STREAM, is_sse},
    {"error.cut", ANY, is_cut},
    {"error.stall", ANY, is_stall},
    {"error.timeout", ANY, is_timeout},
    {"error.too_large", ANY, is_too_large},
    {"no_tool.prose", ANY, is_text_only},
    {"no_tool.empty", ANY, is_empty},
    {"no_tool.swallowed", ANY, is_swallowed},
    {"no_tool.finish_lie", ANY, is_finish_lie},
    {"no_tool.cap", ANY, is_cap},
    {"no_tool.missing_calls", PARALLEL, is_missing},
    {"no_tool.repeat_call", CHAIN, is_repeat},
};

#define N_PROOFS (sizeof proofs / sizeof *proofs)

static const struct proof *proof_of(const char *reason)
{
    for (size_t i = 0; i < N_PROOFS; i++)
        if (strcmp(proofs[i].reason, reason) == 0)
            return &proofs[i];
    return NULL;
}

/* All rounds of a session against the ledger: what is in it is damaged in the way that it says,
 * what is not is perfect. Returns how many entries the session has. */
static int check_visit(const struct visit *v, const struct entry *ledger, size_t n)
{
    int entries = 0;
    for (int round = 1; round <= v->rounds; round++) {
        const struct entry *e = find_entry(ledger, n, v->session, round);
        const struct reply *r = &v->replies[round - 1];
        if (!e) {
            CHECK(visit_perfect(v, round));
            continue;
        }
        entries++;
        struct right w;
        reply_init(&w.r);
        play_expect(v->play, round, &w.e);
        play_perfect(v->play, round, &w.r);
        bool proven = proof_of(e->reason)->holds(r, &w);
        CHECK(proven && !visit_perfect(v, round));
        if (!proven)
            fprintf(stderr,
                    "  %s %s session %ld round %d %s: end %d status %d content '%s' %s '%s'\n",
                    scenario_name(v->scenario), e->reason, v->session, round, e->family, r->end,
                    r->status, buf_str(&r->content), r->n_calls ? buf_str(&r->calls[0].args) : "",
                    buf_str(&r->error_text));
        reply_release(&w.r);
    }
    return entries;
}

/* Time limits only where they are what shows the damage: a busy machine passes them, too. */
static void set_limits(struct client *c, const char *rule)
{
    if (strcmp(rule, "error.too_large") == 0) {
        c->ep.caps.line = 1 << 20;
        c->ep.caps.reply = 2 << 20;
    }
    if (strcmp(rule, "error.stall") != 0 && strcmp(rule, "error.timeout") != 0)
        return;
    c->ep.ttft_timeout_us = c->ep.idle_timeout_us = 1000000;
    c->ep.timeout_us = 2000000;
}

/* `rule` alone, over some sessions at once; each is hit once, if `expected`. */
static void check_rule(const char *rule, const struct scenario *sc, bool stream, bool expected)
{
    enum { N = 8 };
    struct sim *s = must_start(&(struct sim_options){
        .seed = 4, .faults = &rule, .n_faults = 1, .tokens_per_chunk = 3, .split = 40});
    struct client c;
    client_open(&c, s);
    set_limits(&c, rule);
    struct visit *visits[N];
    for (int i = 0; i < N; i++)
        visits[i] = visit_start(
            &c,
            &(struct visit_order){
                .scenario = sc, .seed = 77, .session = i + 1, .stream = stream, .max_tokens = 300});
    client_settle(&c);
    size_t n;
    struct entry *ledger = read_ledger(s, &n);
    CHECK_INT(n, expected ? N : 0);
    for (int i = 0; i < N; i++) {
        CHECK_INT(check_visit(visits[i], ledger, n), expected);
        visit_free(visits[i]);
    }
    free(ledger);
    client_close(&c);
    sim_stop(s);
}

static void test_reasons(void)
{
    struct scenario *chain = must_load("chain"), *parallel = must_load("parallel");
    for (size_t i = 0; i < N_PROOFS; i++)
        for (int stream = 0; stream < 2; stream++) {
            bool can = proofs[i].where != STREAM || stream;
            check_rule(proofs[i].reason, chain, stream, can && proofs[i].where != PARALLEL);
            /* There, each round's calls are the first of their kind. */
            check_rule(proofs[i].reason, parallel, stream, can && proofs[i].where != CHAIN);
        }
    scenario_free(chain);
    scenario_free(parallel);
}

/* All reasons are proven above, but for those that no plain endpoint can produce. */
static void test_all_known(void)
{
    for (int i = 0; i < N_REASONS; i++) {
        const char *rule = reason_name((enum reason)i);
        struct err err = {0};
        bool possible = sim_check_faults(&rule, 1, &err) == 0;
        CHECK(possible == (proof_of(rule) != NULL));
        if (!possible)
            CHECK_INT(err.status, STATUS_USAGE);
    }
}

/* Every family's calls leak with its own words. */
static void test_families(void)
{
    struct buf help = BUF_INIT;
    sim_fault_help(&help);
    long at = span_find(buf_span(&help), span_of("\nFamilies"), 0);
    CHECK(at > 0);
    struct scenario *sc = must_load("payload");
    int n_families = 0;
    char *list = mem_str(strchr(help.data + at + 1, '\n')), *rest = list;
    for (char *name; (name = strtok_r(rest, " ,\n", &rest)); n_families++) {
        char *rule = mem_printf("leak.markup:%s", name);
        check_rule(rule, sc, true, true);
        free(rule);
    }
    CHECK(n_families > 40);
    free(list);
    scenario_free(sc);
    buf_release(&help);
}

/* Keeps `c` sessions in flight until n have been played, as a load would. */
static struct visit **play_many(struct client *client, struct visit_order o, int n, int c)
{
    struct visit **visits = mem_zero((size_t)n, sizeof *visits);
    int started = 0, oldest = 0;
    while (oldest < n) {
        while (started < n && started < oldest + c) {
            o.session = started + 1;
            o.stream = started % 4 != 0;
            visits[started++] = visit_start(client, &o);
        }
        http_run(client->http, 100000);
        while (oldest < started && !visits[oldest]->in_flight)
            oldest++;
    }
    return visits;
}

/* Many kinds of damage at once, two hundred sessions in flight: the ledger says exactly what came
 * back, session by session. */
static void test_crowd(void)
{
    enum { N = 800 };
    static const char *const rules[] = {"leak.markup=5%",       "leak.value=5%@inflight>1",
                                        "no_tool.prose=5%",     "error.cut=5%",
                                        "error.http=3%",        "leak.call_json=5%",
                                        "leak.foreign=3%",      "error.connect=4%",
                                        "leak.server_parse=3%", "no_tool.missing_calls=3%",
                                        "error.sse=3%",         "leak.loop=2%",
                                        "error.overload=2%",    "error.body=2%",
                                        "leak.soup=2%"};
    struct sim *s = must_start(&(struct sim_options){.seed = 8,
                                                     .faults = rules,
                                                     .n_faults = sizeof rules / sizeof *rules,
                                                     .ttft_us = 2000,
                                                     .itl_us = 300,
                                                     .jitter = 0.5,
                                                     .tokens_per_chunk = 2,
                                                     .threads = 3});
    struct scenario *sc = must_load("parallel");
    struct client c;
    client_open(&c, s);
    struct visit **visits = play_many(&c, (struct visit_order){.scenario = sc, .seed = 5}, N, 200);
    size_t n;
    struct entry *ledger = read_ledger(s, &n);
    int hit = 0;
    for (int i = 0; i < N; i++) {
        int entries = check_visit(visits[i], ledger, n);
        CHECK(entries <= 1);
        hit += entries;
        visit_free(visits[i]);
    }
    CHECK_INT(hit, (int)n);
    CHECK(n > N / 3 && n < N * 2 / 3);
    free(visits);
    free(ledger);
    client_close(&c);
    scenario_free(sc);
    sim_stop(s);
}

int main(void)
{
    struct err err = {0};
    CHECK(http_global_init(&err) == 0);
    test_all_known();
    test_reasons();
    test_families();
    test_crowd();
    http_global_end();
    return check_end();
}
