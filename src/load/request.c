/* request.c - keeps a session's request so that sending it costs no more than what is new in it. It
 * knows nothing of replies. */
#include "request.h"

#include "dialect.h"
#include "endpoint.h"
#include "message.h"
#include "rng.h"
#include "scenario.h"
#include "settings.h"

#define FRAME_BYTES 1000 /* usual for a request without its messages */

/* What is shorter is sent by libcurl in one piece, along with the headers, which costs less time;
 * and a server that refuses by the headers alone still takes it whole and keeps the connection. */
#define WORTH_SHARING 65536
#define BLOCK         4096 /* compared at once */

struct play *request_play(const struct settings *s, long number, long context_tokens)
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

static void write_all(const struct settings *s, long number, struct span messages, bool stream,
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

void request_history(const struct dialect *d, const struct scenario *sc, const struct play *p,
                     struct buf *history)
{
    size_t n;
    const struct message *opening = play_opening(p, &n);
    buf_adds(history, scenario_history(sc));
    for (size_t i = 0; i < n; i++)
        d->message(&opening[i], history);
}

/* Writes what stands around the messages: what is before them to `head`, if that is wanted, and
 * what follows. */
static void write_frame(struct request *q, bool twin, struct buf *head)
{
    const struct settings *s = q->settings;
    struct buf frame = BUF_INIT;
    size_t end = 0;
    buf_reserve(&frame, FRAME_BYTES);
    write_all(s, q->session, span_of(""), s->stream != twin, &end, &frame);
    if (head)
        buf_add(head, frame.data, end);
    buf_add(&q->tails[twin], frame.data + end, frame.len - end);
    buf_release(&frame);
}

/* How many bytes both begin with; 0 if they are not worth sharing. */
static size_t common(struct span a, struct span b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;
    while (n + BLOCK <= most && memcmp(a.data + n, b.data + n, BLOCK) == 0)
        n += BLOCK;
    while (n < most && a.data[n] == b.data[n])
        n++;
    return n >= WORTH_SHARING ? n : 0;
}

/* The last byte stays where it is, since what is said next looks back at it. */
static void share(struct request *q, struct span beginning)
{
    struct buf whole = q->own;
    q->shared.data = beginning.data;
    q->shared.len = common(beginning, (struct span){whole.data, whole.len - 1});
    if (!q->shared.len)
        return;
    q->own = (struct buf)BUF_INIT;
    buf_add(&q->own, whole.data + q->shared.len, whole.len - q->shared.len);
    buf_release(&whole);
}

void request_open(struct request *q, const struct settings *s, const struct play *p, long session,
                  struct span beginning)
{
    q->settings = s;
    q->session = session;
    write_frame(q, false, &q->own);
    request_history(s->endpoint->dialect, s->scenario, p, &q->own);
    share(q, beginning);
    q->messages_end = q->own.len;
}

void request_release(struct request *q)
{
    buf_release(&q->own);
    buf_release(&q->tails[0]);
    buf_release(&q->tails[1]);
}

void request_say(struct request *q, const struct message *m)
{
    q->own.len = q->messages_end;
    q->settings->endpoint->dialect->message(m, &q->own);
    q->messages_end = q->own.len;
}

void request_finish(struct request *q, bool twin)
{
    if (!q->tails[twin].len)
        write_frame(q, twin, NULL);
    q->own.len = q->messages_end;
    buf_add(&q->own, q->tails[twin].data, q->tails[twin].len);
}

struct http_body request_body(const struct request *q)
{
    return (struct http_body){.shared = q->shared, .own = buf_span(&q->own)};
}

void request_beginning(const struct settings *s, long a, long b, struct buf *out)
{
    struct request requests[2] = {0};
    for (int i = 0; i < 2; i++) {
        long number = i ? b : a;
        struct play *p = request_play(s, number, s->context_tokens);
        request_open(&requests[i], s, p, number, (struct span){0});
        play_free(p);
    }
    buf_add(out, requests[0].own.data,
            common(buf_span(&requests[0].own), buf_span(&requests[1].own)));
    request_release(&requests[0]);
    request_release(&requests[1]);
}

void request_preview(const struct settings *s, long number, struct buf *out)
{
    struct buf history = BUF_INIT;
    struct play *p = request_play(s, number, s->context_tokens);
    request_history(s->endpoint->dialect, s->scenario, p, &history);
    write_all(s, number, buf_span(&history), s->stream, NULL, out);
    play_free(p);
    buf_release(&history);
}

char *request_name(const struct request_place *p)
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
