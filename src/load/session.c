/* session.c - plays one session round by round: request, reply, verdict, next request. It knows
 * nothing of sockets or threads, and decides nothing that judge decides. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "dialect.h"
#include "endpoint.h"
#include "expect.h"
#include "judge.h"
#include "mem.h"
#include "message.h"
#include "outcome.h"
#include "overlap.h"
#include "progress.h"
#include "reply.h"
#include "rng.h"
#include "scenario.h"
#include "settings.h"

#define MAX_RETRY_AFTER_S 300              /* who asks for more is not waited for */
#define FIRST_BACKOFF_US  INT64_C(1000000) /* without Retry-After; doubled each time */
#define MAX_BACKOFF_US    INT64_C(60000000)

#define FRAME_BYTES 1000 /* usual for a request without its messages */

struct session {
    const struct settings *settings;
    struct progress *progress;
    struct play *play;
    long number;
    int round, rounds;
    struct buf body;     /* the request: a head, the messages so far, a tail */
    size_t messages_end; /* in it; 0 = the user's own messages are sent instead of the session's */
    struct buf unsent;   /* which then go here */
    struct buf tails[2]; /* what follows the messages: in the asked form, in the twin's */
    char *header;
    struct reply reply;
    struct overlap_mark mark;
    struct round_facts facts; /* of the request that was answered last */
    int overload_retries;     /* of the request that is under way */
    /* The answer whose twin is under way. */
    bool in_twin;
    struct reply first;
    struct round_facts first_facts;
    struct buf first_body;
    struct outcome *outcome;
    struct outcome_end end;
    bool damaged;
};

/* The context tells nothing of which token comes in which round. */
static struct play *new_play(const struct settings *s, long number, long context_tokens)
{
    struct play_settings ps = {.seed = s->seed,
                               .rounds = s->rounds,
                               .context_tokens = context_tokens,
                               .n_sessions = s->sessions};
    return play_new(s->scenario, &ps, s->key, number);
}

/* A server that is given one seed for all sessions may answer all of them alike. */
static long long sampling_seed(const struct settings *s, long number)
{
    return s->sampling_seed ? (long long)(rng_mix(s->seed ^ rng_mix((uint64_t)number)) & 0x7FFFFFFF)
                            : -1;
}

static void write_body(const struct settings *s, long number, struct span messages, bool stream,
                       size_t *messages_end, struct buf *out)
{
    struct chat_request q = {.model = s->model,
                             .messages = messages,
                             .messages_end = messages_end,
                             .tools = span_of(scenario_tools_json(s->scenario)),
                             .tool_choice = s->tool_choice,
                             .stream = stream,
                             .temperature = s->temperature,
                             .max_tokens = s->max_tokens,
                             .seed = sampling_seed(s, number),
                             .extra_body = s->extra_body};
    s->endpoint->dialect->request(&q, out);
}

void session_open(const struct dialect *d, const struct scenario *sc, const struct play *p,
                  struct buf *history)
{
    size_t n;
    const struct message *opening = play_opening(p, &n);
    buf_adds(history, scenario_history(sc));
    for (size_t i = 0; i < n; i++)
        d->message(&opening[i], history);
}

/* The history may be large and is written once: what is said next takes the place of the tail. */
static void say(struct session *s, const struct message *m)
{
    const struct dialect *d = s->settings->endpoint->dialect;
    if (!s->messages_end) {
        d->message(m, &s->unsent);
        return;
    }
    s->body.len = s->messages_end;
    d->message(m, &s->body);
    s->messages_end = s->body.len;
}

/* Writes what stands around the messages; what is before them goes to the body, if that is wanted.
 */
static void write_frame(struct session *s, bool twin, struct buf *head)
{
    const struct settings *t = s->settings;
    struct buf frame = BUF_INIT;
    size_t end = 0;
    buf_reserve(&frame, FRAME_BYTES);
    write_body(t, s->number, span_of(""), t->stream != twin, &end, &frame);
    if (head)
        buf_add(head, frame.data, end);
    buf_add(&s->tails[twin], frame.data + end, frame.len - end);
    buf_release(&frame);
}

static void open_body(struct session *s)
{
    const struct settings *t = s->settings;
    write_frame(s, false, &s->body);
    bool sent = s->body.len > 0;
    session_open(t->endpoint->dialect, t->scenario, s->play, sent ? &s->body : &s->unsent);
    s->messages_end = s->body.len;
}

char *session_name(const struct session_place *p)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "X-Toolstorm-Session: scenario=");
    buf_adds(&b, scenario_name(p->scenario));
    buf_adds(&b, ";seed=");
    buf_add_ulong(&b, p->seed);
    buf_adds(&b, ";session=");
    buf_add_long(&b, p->session);
    buf_adds(&b, ";round=");
    buf_add_long(&b, p->round);
    buf_adds(&b, ";rounds=");
    buf_add_long(&b, p->rounds);
    buf_adds(&b, ";context=");
    buf_add_long(&b, p->context_tokens);
    buf_adds(&b, p->twin ? ";twin=1" : "");
    buf_adds(&b, p->replay ? ";replay=1" : "");
    return buf_take(&b);
}

/* Writes the round's request in the asked form, or its twin in the other. */
static void prepare(struct session *s)
{
    if (!s->tails[s->in_twin].len)
        write_frame(s, s->in_twin, NULL);
    s->body.len = s->messages_end;
    buf_add(&s->body, s->tails[s->in_twin].data, s->tails[s->in_twin].len);
    free(s->header);
    s->header = session_name(&(struct session_place){.scenario = s->settings->scenario,
                                                     .seed = s->settings->seed,
                                                     .session = s->number,
                                                     .round = s->round,
                                                     .rounds = s->rounds,
                                                     .context_tokens = s->settings->context_tokens,
                                                     .twin = s->in_twin});
    s->overload_retries = 0;
    reply_init(&s->reply);
    s->reply.stream = s->settings->stream != s->in_twin;
}

struct session *session_new(const struct settings *settings, struct progress *progress, long number,
                            long start_order)
{
    struct session *s = mem_zero(1, sizeof *s);
    s->settings = settings;
    s->progress = progress;
    s->number = number;
    s->play = new_play(settings, number, settings->context_tokens);
    s->round = 1;
    s->rounds = play_rounds(s->play);
    s->outcome = outcome_new(settings->redactor, number, start_order, play_canary(s->play));
    s->end.reason = REASON_maxrounds;
    s->end.warmup = start_order <= settings->warmup;
    s->end.start_us = clock_mono_us() - progress->start_us;
    open_body(s);
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
    buf_release(&s->body);
    buf_release(&s->unsent);
    buf_release(&s->first_body);
    buf_release(&s->tails[0]);
    buf_release(&s->tails[1]);
    free(s->header);
    free(s);
}

struct span session_body(const struct session *s)
{
    return buf_span(&s->body);
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
    struct play *other = new_play(s->settings, sign->owner_session, 0);
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
        say(s, &m);
        for (size_t i = 0; i < n; i++)
            say(s, &answers[i]);
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
    outcome_add_round(s->outcome, &s->facts, buf_span(&s->body), &s->reply, &v);
    name_owners(s, &v);
    enum reason reason = v.reason;
    verdict_release(&v);
    return reason;
}

/* The same for an answer and its twin. Of a pair both or none are kept: what one form shows, the
 * other may hide. */
static enum reason judge_pair(struct session *s)
{
    struct verdict own = {0}, twin = {0};
    judge_one(s, &s->first, &own);
    judge_one(s, &s->reply, &twin);
    s->first_facts.keep = s->facts.keep = worth_keeping(s, &own) || worth_keeping(s, &twin);
    outcome_add_round(s->outcome, &s->first_facts, buf_span(&s->first_body), &s->first, &own);
    outcome_add_round(s->outcome, &s->facts, buf_span(&s->body), &s->reply, &twin);
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
    buf_clear(&s->first_body);
    buf_add(&s->first_body, s->body.data, s->body.len);
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

void session_preview(const struct settings *settings, long number, struct buf *out)
{
    struct buf history = BUF_INIT;
    struct play *play = new_play(settings, number, settings->context_tokens);
    session_open(settings->endpoint->dialect, settings->scenario, play, &history);
    write_body(settings, number, buf_span(&history), settings->stream, NULL, out);
    play_free(play);
    buf_release(&history);
}
