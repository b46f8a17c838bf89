/* transport.c - how the exchange went, in the words of the verdict. Knows statuses and ends; reads
 * no text but the finish reason. */
#include <string.h>

#include "exam.h"
#include "expect.h"
#include "json.h"
#include "reply.h"
#include "turn.h"

static const struct end_row {
    enum exchange_end end;
    enum reason reason;
    const char *rule;
} ends[] = {
    {END_CONNECT, REASON_connect, "no-connection"},
    {END_TLS, REASON_tls, "tls"},
    {END_CUT, REASON_cut, "closed-early"},
    {END_STALL_FIRST, REASON_stall, "no-first-byte"},
    {END_STALL_IDLE, REASON_stall, "idle"},
    {END_TIMEOUT, REASON_timeout, "round-limit"},
    {END_TOO_LARGE, REASON_too_large, "cap"},
    {END_PROTOCOL, REASON_body, "no-http"},
    {END_CANCELLED, REASON_cut, "cancelled"},
};

/* No answer at all is a cut before the status came. */
#define NO_ANSWER "no-answer"

int judge_told_end(const char *rule)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].rule, rule) == 0)
            return (int)ends[i].end;
    return strcmp(rule, NO_ANSWER) == 0 ? END_CUT : END_CLEAN;
}

static bool is_success(int status)
{
    return status >= 200 && status < 300;
}

static bool is_capped(const struct exam *x)
{
    static const char *const words[] = {"length", "max_tokens", "model_length", "MAX_TOKENS",
                                        "max_output_tokens"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(x->r->finish, words[i]) == 0)
            return true;
    const struct usage *u = &x->r->usage;
    return x->e->max_tokens > 0 && u->completion_tokens >= x->e->max_tokens &&
           strcmp(x->r->finish, "tool_calls") != 0 && strcmp(x->r->finish, "stop") != 0;
}

/* A reply that was complete when its connection was lost has lost nothing. Where the server just
 * fell silent, only [DONE] tells that it had no more to say. */
static bool closed_early(const struct reply *r)
{
    return (r->end == END_CUT && reply_complete(r)) || (r->end == END_STALL_IDLE && r->done);
}

static bool has_arrived(const struct reply *r)
{
    return r->end == END_CLEAN || closed_early(r);
}

/* A complete stream says why it ended; [DONE] alone does not. */
static bool lacks_finish(const struct reply *r)
{
    return has_arrived(r) && is_success(r->status) && !r->finish[0] && !r->error_text.len &&
           !r->body_unreadable && !r->framing_broken && r->stream;
}

/* Finish words by which a server says that it gave up, and what that tells. */
static const struct given_up {
    const char *word;
    enum reason reason;
    const char *about;
} given_up[] = {
    {"parse_error", REASON_server_parse, "the server could not parse what the model wrote"},
    {"malformed_function_call", REASON_server_parse, "the server could not parse the model's call"},
    {"MALFORMED_FUNCTION_CALL", REASON_server_parse, "the server could not parse the model's call"},
    {"error", REASON_sse, "the server failed while it generated"},
    {"network_error", REASON_sse, "the server failed while it generated"},
    {"insufficient_system_resource", REASON_sse, "the server failed while it generated"},
    {"abort", REASON_cut, "the server broke the reply off"},
    {"aborted", REASON_cut, "the server broke the reply off"},
    {"cancelled", REASON_cut, "the server broke the reply off"},
};

/* The row of a reply that the server gave up; NULL if it did not, or if whole calls came all the
 * same: then the word is a habit. */
static const struct given_up *find_given_up(const struct reply *r)
{
    size_t i = 0;
    while (i < sizeof given_up / sizeof *given_up && strcmp(given_up[i].word, r->finish) != 0)
        i++;
    bool said = i < sizeof given_up / sizeof *given_up;
    if (said && r->n_calls && json_check(buf_span(&r->calls[r->n_calls - 1].args)) == -1)
        return NULL;
    return said ? &given_up[i] : NULL;
}

void turn_begin(struct exam *x)
{
    const struct reply *r = x->r;
    x->failed = !has_arrived(r) || find_given_up(r) || !is_success(r->status) ||
                r->error_text.len || r->body_unreadable || r->framing_broken || lacks_finish(r) ||
                (!r->has_choice && !r->stream);
    x->capped = !x->failed && is_capped(x);
}

static void note(struct exam *x, enum reason reason, const char *rule, const char *detail)
{
    exam_note(x, reason, CHANNEL_transport, -1, rule, "%s", detail);
}

static void check_end(struct exam *x)
{
    const struct reply *r = x->r;
    if (closed_early(r)) {
        x->v->quirks |= QUIRK_BIT(early_close);
        return;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends[i].end != r->end)
            continue;
        /* Closed before even a status came: as good as no connection. */
        bool nothing = r->end == END_CUT && !r->status && !r->raw.len && !r->headers.len;
        note(x, nothing ? REASON_connect : ends[i].reason, nothing ? NO_ANSWER : ends[i].rule,
             r->end_detail);
    }
}

static void check_status(struct exam *x)
{
    const struct reply *r = x->r;
    if (r->status == 0 || is_success(r->status))
        return;
    bool waits = r->status == 429 || (r->status == 503 && r->retry_after_s >= 0);
    if (waits || r->status == 503)
        exam_note(x, REASON_overload, CHANNEL_transport, -1, "status", "status %d", r->status);
    if (!waits)
        exam_note(x, REASON_http, CHANNEL_transport, -1, "status", "status %d", r->status);
}

void transport_detect(struct exam *x)
{
    const struct reply *r = x->r;
    check_end(x);
    check_status(x);
    if (!is_success(r->status) || r->end == END_CONNECT || r->end == END_TLS)
        return;
    if (r->body_unreadable)
        note(x, REASON_body, "unreadable", "neither the JSON nor the stream that was asked for");
    if (r->framing_broken)
        note(x, REASON_sse, "framing", "an event that is not JSON");
    if (r->error_text.len) {
        enum reason reason = r->error_in_stream ? REASON_sse : REASON_body;
        exam_note(x, reason, CHANNEL_error, -1, "error-object", "%.180s", buf_str(&r->error_text));
    }
    const struct given_up *word = find_given_up(r);
    if (word) {
        bool whole_body = word->reason == REASON_sse && !r->stream;
        exam_note(x, whole_body ? REASON_body : word->reason, CHANNEL_finish, -1, "gave-up",
                  "%s: %s", r->finish, word->about);
    }
    if (!has_arrived(r) || r->body_unreadable || r->framing_broken || r->error_text.len)
        return;
    if (!r->has_choice && !r->stream)
        note(x, REASON_body, "no-choice", "a body without any choice");
    if (lacks_finish(r))
        note(x, REASON_cut, "no-finish",
             r->done ? "[DONE] came, a finish reason never did" : "the stream just ended");
}
