/* forecast.c - estimates. They are for planning and never for results. */
#include "forecast.h"

#include <math.h>
#include <stdlib.h>

#include "buf.h"
#include "estimate.h"
#include "message.h"
#include "reply.h"
#include "run_options.h"
#include "scenario.h"
#include "store.h"
#include "token.h"

/* Assumed of a server that nothing is known of. */
#define TOKENS_PER_SECOND     30.0
#define SECONDS_TO_FIRST_BYTE 1.0

static long message_tokens(const struct message *m)
{
    long n = estimate_tokens(buf_span(&m->content));
    for (size_t i = 0; i < m->n_calls; i++)
        n += estimate_tokens(span_of(m->calls[i].args)) + 8;
    return n + 4;
}

static void add_messages(struct message *m, size_t n, long *history)
{
    for (size_t i = 0; i < n; i++) {
        *history += message_tokens(&m[i]);
        message_release(&m[i]);
    }
    free(m);
}

/* One session as it goes if nothing is damaged. */
static void play_through(const struct scenario *sc, struct play *p, double *prompt,
                         double *completion, int *rounds)
{
    size_t n;
    const struct message *opening = play_opening(p, &n);
    long history = estimate_tokens(span_of(scenario_tools_json(sc)));
    for (size_t i = 0; i < n; i++)
        history += message_tokens(&opening[i]);
    *rounds = play_rounds(p);
    for (int round = 1; round <= *rounds; round++) {
        struct reply right;
        struct message said;
        reply_init(&right);
        play_perfect(p, round, &right);
        message_from_reply(&said, &right);
        *prompt += (double)history;
        *completion += (double)message_tokens(&said);
        history += message_tokens(&said);
        message_release(&said);
        struct message *answers = play_answers(p, round, &right, &n);
        add_messages(answers, n, &history);
        reply_release(&right);
    }
}

/* Mean seconds of a session of this scenario, rounds and concurrency, or NaN. */
static double remembered_seconds(struct store *store, const struct run_options *o, const char *name)
{
    struct err ignored = {0};
    struct query *q =
        store ? store_query(store,
                            "SELECT avg(end_us - start_us) / 1e6 FROM sessions JOIN runs USING "
                            "(run) WHERE class = 'ok' AND scenario = :scenario AND concurrency = "
                            ":concurrency AND context_tokens = :context",
                            &ignored)
              : NULL;
    if (!q)
        return NAN;
    query_bind_text(q, "scenario", name);
    query_bind_long(q, "concurrency", o->concurrency);
    query_bind_long(q, "context", o->context);
    double seconds =
        query_step(q, &ignored) == 1 && !query_is_null(q, 0) ? query_double(q, 0) : NAN;
    query_free(q);
    return seconds;
}

int forecast_add(struct forecast *f, const struct run_options *o, double sessions,
                 struct store *store, struct err *err)
{
    struct scenario *sc = scenario_load(o->scenario, err);
    if (!sc)
        return -1;
    struct token_key key = token_key((uint64_t)o->seed);
    struct play_settings ps = {.seed = (uint64_t)o->seed,
                               .rounds = (int)o->rounds,
                               .context_tokens = o->context,
                               .n_sessions = o->sessions};
    struct play *p = play_new(sc, &ps, &key, 1);
    double prompt = 0, completion = 0;
    int rounds;
    play_through(sc, p, &prompt, &completion, &rounds);
    double one = remembered_seconds(store, o, scenario_name(sc));
    f->measured = !isnan(one);
    if (isnan(one))
        one = completion / TOKENS_PER_SECOND + rounds * SECONDS_TO_FIRST_BYTE;
    f->sessions += sessions;
    f->prompt_tokens += sessions * prompt;
    f->completion_tokens += sessions * completion;
    f->seconds += one * fmax(1, sessions / (double)o->concurrency);
    play_free(p);
    scenario_free(sc);
    return 0;
}
