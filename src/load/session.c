/* session.c - plays one session round by round: request, reply, verdict, next request. It knows
 * nothing of sockets or threads, and decides nothing that judge decides. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "expect.h"
#include "judge.h"
#include "mem.h"
#include "message.h"
#include "outcome.h"
#include "overlap.h"
#include "progress.h"
#include "reply.h"
#include "request.h"
#include "scenario.h"
#include "settings.h"

#define MAX_RETRY_AFTER_S 300              /* who asks for more is not waited for */
#define FIRST_BACKOFF_US  INT64_C(1000000) /* without Retry-After; doubled each time */
#define MAX_BACKOFF_US    INT64_C(60000000)

struct session {
    const struct settings *settings;
    struct progress *progress;
    struct play *play;
    long number;
    int round, rounds;
    struct request request;
    char *header;
    struct reply reply;
    struct overlap_mark mark;
    struct round_facts facts; /* of the request that was answered last */
    int overload_retries;     /* of the request that is under way */
    /* The answer whose twin is under way. */
    bool in_twin;
    struct reply first;
    struct round_facts first_facts;
    struct buf first_own;
    struct outcome *outcome;
    struct outcome_end end;
    bool damaged;
};

/* Writes the round's request in the asked form, or its twin in the other. */
static void prepare(struct session *s)
{
    const struct settings *t = s->settings;
    request_finish(&s->request, s->in_twin);
    free(s->header);
    s->header = request_name(&(struct request_place){.scenario = t->scenario,
                                                     .seed = t->seed,
                                                     .session = s->number,
                                                     .round = s->round,
                                                     .rounds = s->rounds,
                                                     .context_tokens = t->context_tokens,
                                                     .twin = s->in_twin});
    s->overload_retries = 0;
    reply_init(&s->reply);
    s->reply.stream = t->stream != s->in_twin;
}

struct session *session_new(const struct settings *settings, struct progress *progress,
                            struct span beginning, long number, long start_order)
{
    struct session *s = mem_zero(1, sizeof *s);
    s->settings = settings;
    s->progress = progress;
    s->number = number;
    s->play = request_play(settings, number, settings->context_tokens);
    s->round = 1;
    s->rounds = play_rounds(s->play);
    s->outcome = outcome_new(settings->redactor, number, start_order, play_canary(s->play));
    s->end.reason = REASON_maxrounds;
    s->end.warmup = start_order <= settings->warmup;
    s->end.start_us = clock_mono_us() - progress->start_us;
    request_open(&s->request, settings, s->play, number, beginning);
    play_forget_opening(s->play);
    prepare(s);
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    play_free(s->play);
    outcome_free(s->outcome);
    reply_release(&s->reply);
    reply_release(&s->first);
    request_release(&s->request);
    buf_release(&s->first_own);
    free(s->header);
    free(s);
}

struct http_body session_body(const struct session *s)
{
    return request_body(&s->request);
}

const char *session_header(const struct session *s)
{
    return s->header;
}

struct reply *session_reply(struct session *s)
{
    return &s->reply;
}

void session_sent(struct session *s)
{
    s->mark = overlap_enter(s->progress->overlap);
}

/* The round in which another session's token first stands in its text. */
static int owner_round(const struct session *s, const struct sign *sign)
{
    if (sign->owner_session == s->number || sign->owner_session > s->settings->sessions)
        return -1;
    struct play *other = request_play(s->settings, sign->owner_session, 0);
    int round = play_slot_round(other, sign->owner_slot);
    play_free(other);
    return round;
}

static void name_owners(struct session *s, const struct verdict *v)
{
    for (size_t i = 0; i < v->n_signs; i++)
        if (v->signs[i].owner_session > 0)
            outcome_name_owner(s->outcome, v->signs[i].owner_session, v->signs[i].owner_slot,
                               owner_round(s, &v->signs[i]));
}

/* The round's messages join the history. False if there is nothing more to ask. */
static bool go_on(struct session *s, bool damaged)
{
    struct reply right;
    reply_init(&right);
    const struct reply *said = &s->reply;
    if (damaged && s->settings->on_damage == DAMAGE_SCRUB) {
        play_perfect(s->play, s->round, &right);
        said = &right;
    }
    struct message m;
    message_from_reply(&m, said);
    size_t n;
    struct message *answers = play_answers(s->play, s->round, said, &n);
    if (n > 0) {
        request_say(&s->request, &m);
        for (size_t i = 0; i < n; i++)
            request_say(&s->request, &answers[i]);
    }
    for (size_t i = 0; i < n; i++)
        message_release(&answers[i]);
    free(answers);
    message_release(&m);
    reply_release(&right);
    return n > 0;
}

/* Whether a session that overlapped the steady part by less than half its life was in ramp-up or
 * drain. */
static bool is_ramp(const struct session *s, int64_t start_us, int64_t end_us)
{
    int64_t full = atomic_load(&s->progress->full_us);
    int64_t last = atomic_load(&s->progress->last_start_us);
    if (!full)
        return true;
    int64_t from = full > start_us ? full : start_us;
    int64_t to = last && last < end_us ? last : end_us;
    return (to - from) * 2 < end_us - start_us;
}

static void finish(struct session *s)
{
    int64_t now = clock_mono_us();
    s->end.end_us = now - s->progress->start_us;
    s->end.ramp = is_ramp(s, s->end.start_us + s->progress->start_us, now);
    outcome_end(s->outcome, &s->end);
}

static void count_tokens(struct session *s)
{
    const struct reply *r = &s->reply;
    long n = r->usage.completion_tokens >= 0 ? r->usage.completion_tokens : r->n_token_events;
    atomic_fetch_add(&s->progress->tokens, n);
}

/* What is known of the request that was just answered. */
static void take_facts(struct session *s)
{
    s->facts = (struct round_facts){
        .round = s->round,
        .in_flight_start = s->mark.at_start,
        .in_flight_max = overlap_leave(s->progress->overlap, s->mark),
        .run_start_us = s->progress->start_us,
        .overload_retries = s->overload_retries,
        .twin = s->in_twin,
    };
}

/* What the scenario demands, as far as the request left the model the choice. */
static void expect_by_choice(const struct settings *settings, struct expect *e)
{
    if (settings->choice != CHOICE_NONE && settings->choice != CHOICE_NAMED)
        return;
    e->choice = settings->choice;
    e->calls_allowed = e->call_due = settings->choice == CHOICE_NAMED;
    e->exact_calls = e->new_call_expected = false;
    e->final_text = NULL;
    bool due = settings->choice == CHOICE_NAMED && e->n_calls == 1 && e->calls[0].name &&
               strcmp(e->calls[0].name, settings->tool_choice) == 0;
    if (!due) {
        e->calls = NULL;
        e->n_calls = 0;
    }
}

static void judge_one(struct session *s, const struct reply *r, struct verdict *v)
{
    struct expect expect = {0};
    play_expect(s->play, s->round, &expect);
    expect_by_choice(s->settings, &expect);
    expect.max_tokens = s->settings->max_tokens;
    judge_reply(s->settings->judge, s->settings->toolset, &expect, r, v);
}

static bool worth_keeping(const struct session *s, const struct verdict *v)
{
    return s->settings->keep == KEEP_ALL ||
           (s->settings->keep == KEEP_DAMAGED && (v->class != CLASS_OK || v->n_signs > 0));
}

/* Judges the reply and adds the round's rows. */
static enum reason judge_round(struct session *s)
{
    struct verdict v = {0};
    judge_one(s, &s->reply, &v);
    s->facts.keep = worth_keeping(s, &v);
    outcome_add_round(s->outcome, &s->facts, session_body(s), &s->reply, &v);
    name_owners(s, &v);
    enum reason reason = v.reason;
    verdict_release(&v);
    return reason;
}

/* The same for an answer and its twin. Of a pair both or none are kept: what one form shows, the
 * other may hide. */
static enum reason judge_pair(struct session *s)
{
    struct http_body first = {.shared = session_body(s).shared, .own = buf_span(&s->first_own)};
    struct verdict own = {0}, twin = {0};
    judge_one(s, &s->first, &own);
    judge_one(s, &s->reply, &twin);
    s->first_facts.keep = s->facts.keep = worth_keeping(s, &own) || worth_keeping(s, &twin);
    outcome_add_round(s->outcome, &s->first_facts, first, &s->first, &own);
    outcome_add_round(s->outcome, &s->facts, session_body(s), &s->reply, &twin);
    name_owners(s, &own);
    name_owners(s, &twin);
    enum reason reason = own.reason;
    verdict_release(&own);
    verdict_release(&twin);
    return reason;
}

/* Puts the answer aside and writes the same request in the other form. */
static void begin_twin(struct session *s)
{
    s->first = s->reply;
    s->first_facts = s->facts;
    buf_clear(&s->first_own);
    buf_add(&s->first_own, session_body(s).own.data, session_body(s).own.len);
    s->in_twin = true;
    prepare(s);
}

/* The answer that the session goes on with is in s->reply again. */
static enum reason end_twin(struct session *s)
{
    enum reason reason = judge_pair(s);
    reply_release(&s->reply);
    s->reply = s->first;
    reply_init(&s->first);
    s->in_twin = false;
    return reason;
}

/* Whether the round is the session's last, given its verdict. */
static bool end_round(struct session *s, enum reason reason)
{
    bool damaged = reason_class(reason) != CLASS_OK;
    bool failed = reason_class(reason) == CLASS_ERROR;
    if (damaged && !s->damaged) {
        s->damaged = true;
        s->end.reason = reason;
        s->end.first_bad_round = s->round;
    }
    bool final = play_is_final(s->play, s->round) || s->settings->choice == CHOICE_NONE;
    if (final && !s->damaged)
        s->end.reason = REASON_done;
    return failed || final || s->round >= s->rounds ||
           (damaged && s->settings->on_damage == DAMAGE_STOP) || !go_on(s, damaged);
}

/* How long to wait before the request is sent again; -1 = it is not. */
static int64_t overload_wait_us(const struct session *s)
{
    const struct reply *r = &s->reply;
    if ((r->status != 429 && r->status != 503) ||
        s->overload_retries >= s->settings->retry_overload)
        return -1;
    if (r->retry_after_s > MAX_RETRY_AFTER_S)
        return -1;
    if (r->retry_after_s >= 0)
        return r->retry_after_s * INT64_C(1000000);
    int64_t wait_us = FIRST_BACKOFF_US << (s->overload_retries < 10 ? s->overload_retries : 10);
    return wait_us < MAX_BACKOFF_US ? wait_us : MAX_BACKOFF_US;
}

static void repeat(struct session *s)
{
    bool stream = s->reply.stream;
    s->overload_retries++;
    reply_release(&s->reply);
    reply_init(&s->reply);
    s->reply.stream = stream;
}

enum session_step session_advance(struct session *s, int64_t *wait_us)
{
    take_facts(s);
    *wait_us = overload_wait_us(s);
    if (*wait_us >= 0) {
        repeat(s);
        return SESSION_RESEND;
    }
    count_tokens(s);
    if (s->settings->twin && !s->in_twin) {
        begin_twin(s);
        return SESSION_SEND;
    }
    enum reason reason = s->in_twin ? end_twin(s) : judge_round(s);
    bool over = end_round(s, reason);
    reply_release(&s->reply);
    if (over) {
        finish(s);
        return SESSION_OVER;
    }
    s->round++;
    prepare(s);
    return SESSION_SEND;
}

struct outcome *session_outcome(struct session *s)
{
    struct outcome *o = s->outcome;
    s->outcome = NULL;
    return o;
}
