/* outcome.c - turns replies and verdicts into rows that outlive them, and the one place where what
 * a server said is cleared of secrets before it is kept. It decides nothing. */
#include "outcome.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "http.h"
#include "judge.h"
#include "mem.h"
#include "redact.h"
#include "reply.h"
#include "secrets.h"
#include "store.h"

#define EXCERPT_BYTES 240 /* kept around a finding */
#define ERROR_BYTES   500 /* kept of an error body in the round's row; evidence has the whole */

/* The memory that a round's row points into; NULL stands for an empty text. */
struct round_memory {
    char finish[sizeof((struct reply *)0)->finish];
    char *quirks, *end_detail, *error_text, *arrivals;
    struct buf request, headers, response;
};

struct finding_memory {
    char *rule, *note;
    struct buf excerpt;
    int owner_slot;
};

/* Answers to a session's requests in one form, with what was found in them. */
struct answers {
    struct round_row *rounds;
    struct round_memory *round_memory;
    size_t n_rounds, rounds_cap, round_memory_cap;
    struct finding_row *findings;
    struct finding_memory *finding_memory;
    size_t n_findings, findings_cap, finding_memory_cap;
};

struct outcome {
    struct session_row row;
    enum reason reason;
    char *canary;
    const struct redactor *redactor;
    struct answers own, twins;
};

struct outcome *outcome_new(const struct redactor *redactor, long session, long start_order,
                            const char *canary)
{
    struct outcome *o = mem_zero(1, sizeof *o);
    o->redactor = redactor;
    o->canary = mem_str(canary);
    o->row.session = session;
    o->row.start_order = start_order;
    return o;
}

static void release_answers(struct answers *a)
{
    for (size_t i = 0; i < a->n_rounds; i++) {
        struct round_memory *m = &a->round_memory[i];
        free(m->quirks);
        free(m->end_detail);
        free(m->error_text);
        free(m->arrivals);
        buf_release(&m->request);
        buf_release(&m->headers);
        buf_release(&m->response);
    }
    for (size_t i = 0; i < a->n_findings; i++) {
        free(a->finding_memory[i].rule);
        free(a->finding_memory[i].note);
        buf_release(&a->finding_memory[i].excerpt);
    }
    free(a->rounds);
    free(a->round_memory);
    free(a->findings);
    free(a->finding_memory);
}

void outcome_free(struct outcome *o)
{
    if (!o)
        return;
    release_answers(&o->own);
    release_answers(&o->twins);
    free(o->canary);
    free(o);
}

static int64_t since(int64_t at_us, int64_t start_us)
{
    return at_us ? at_us - start_us : -1;
}

static char *quirk_words(quirk_set quirks)
{
    struct buf b = BUF_INIT;
    for (int q = 0; quirks >> q; q++)
        if (quirks >> q & 1) {
            buf_adds(&b, b.len ? " " : "");
            buf_adds(&b, quirk_name((enum quirk)q));
        }
    return b.data;
}

static char *arrival_text(const struct reply *r)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < r->n_arrivals; i++) {
        buf_adds(&b, i ? ",[" : "[[");
        buf_add_long(&b, (long long)r->arrivals[i].offset);
        buf_addc(&b, ',');
        buf_add_long(&b, (long long)(r->arrivals[i].at_us - r->sent_us));
        buf_addc(&b, ']');
    }
    buf_adds(&b, r->n_arrivals ? "]" : "[]");
    return buf_take(&b);
}

/* The part of a text around a finding, without secrets: those that it cuts included. */
static void cut_out(const struct redactor *d, struct span text, size_t from, struct buf *out)
{
    size_t n = text.len - from < EXCERPT_BYTES ? text.len - from : EXCERPT_BYTES;
    size_t longest = d->n ? d->secrets[0].len * 6 : 0; /* each byte as \u00XX */
    size_t before = from < longest ? from : longest;
    size_t behind = text.len - from - n < longest ? text.len - from - n : longest;
    struct buf wide = BUF_INIT;
    buf_add(&wide, text.data + from - before, before + n + behind);
    redact_bytes(d, wide.data, wide.len);
    buf_add(out, wide.data + before, n);
    buf_release(&wide);
}

static void add_finding(const struct redactor *d, struct answers *a, int round,
                        const struct reply *r, const struct sign *s)
{
    a->findings = mem_grow(a->findings, &a->findings_cap, a->n_findings, sizeof *a->findings);
    a->finding_memory = mem_grow(a->finding_memory, &a->finding_memory_cap, a->n_findings,
                                 sizeof *a->finding_memory);
    struct finding_row *row = &a->findings[a->n_findings];
    struct finding_memory *m = &a->finding_memory[a->n_findings++];
    struct span text = reply_channel(r, s->channel, s->call);
    size_t lead = (EXCERPT_BYTES - (s->len < EXCERPT_BYTES ? s->len : EXCERPT_BYTES)) / 2;
    size_t from = s->offset > lead ? s->offset - lead : 0;
    if (from < text.len)
        cut_out(d, text, from, &m->excerpt);
    m->rule = mem_str(s->rule);
    m->note = mem_str(s->note);
    redact_pieces(d, m->note);
    m->owner_slot = s->owner_slot;
    *row = (struct finding_row){.round = round,
                                .class = class_name(reason_class(s->reason)),
                                .reason = reason_name(s->reason),
                                .level = s->level == LEVEL_DAMAGE ? "damage" : "suspect",
                                .channel = channel_name(s->channel),
                                .excerpt_offset = from < text.len ? (long)from : 0,
                                .offset = (long)s->offset,
                                .length = (long)s->len,
                                .call = s->call,
                                .owner_session = s->owner_session};
}

static void fill_row(struct round_row *row, const struct round_facts *f, const struct reply *r,
                     const struct verdict *v)
{
    *row = (struct round_row){
        .round = f->round,
        .class = class_name(v->class),
        .reason = reason_name(v->reason),
        .budget = v->budget,
        .scheduled_us = since(r->scheduled_us, f->run_start_us),
        .sent_us = since(r->sent_us, f->run_start_us),
        .first_byte_us = since(r->first_byte_us, f->run_start_us),
        .first_token_us = since(r->first_token_us, f->run_start_us),
        .last_token_us = since(r->last_token_us, f->run_start_us),
        .done_us = since(r->done_us, f->run_start_us),
        .prompt_tokens = r->usage.prompt_tokens,
        .completion_tokens = r->usage.completion_tokens,
        .cached_tokens = r->usage.cached_tokens,
        .reasoning_tokens = r->usage.reasoning_tokens,
        .token_events = r->n_token_events,
        .max_gap_us = r->max_gap_us,
        .max_late_us = r->max_late_us,
        .in_flight_start = f->in_flight_start,
        .in_flight_max = f->in_flight_max,
        .status = r->status,
        .reused = r->reused,
        .retries = r->retries,
        .overload_retries = f->overload_retries,
        .response_bytes = (long)r->raw.len,
    };
}

static char *copy_text(struct span text)
{
    return text.len ? mem_copy(text.data, text.len) : NULL;
}

/* Memory moves from the reply to the outcome: the raw bytes can be large. */
static struct buf take(struct buf *from)
{
    struct buf b = *from;
    *from = (struct buf){.cap = b.cap};
    return b;
}

void outcome_add_round(struct outcome *o, const struct round_facts *facts, struct http_body request,
                       struct reply *r, const struct verdict *v)
{
    struct answers *a = facts->twin ? &o->twins : &o->own;
    for (size_t i = 0; i < v->n_signs; i++)
        add_finding(o->redactor, a, facts->round, r, &v->signs[i]);
    a->rounds = mem_grow(a->rounds, &a->rounds_cap, a->n_rounds, sizeof *a->rounds);
    a->round_memory =
        mem_grow(a->round_memory, &a->round_memory_cap, a->n_rounds, sizeof *a->round_memory);
    struct round_row *row = &a->rounds[a->n_rounds];
    struct round_memory *m = &a->round_memory[a->n_rounds++];
    fill_row(row, facts, r, v);
    row->request_bytes = (long)(request.shared.len + request.own.len);
    memcpy(m->finish, r->finish, sizeof m->finish);
    redact_pieces(o->redactor, m->finish);
    m->quirks = quirk_words(v->quirks);
    m->end_detail = copy_text(span_of(r->end_detail));
    m->error_text =
        copy_text((struct span){buf_str(&r->error_text),
                                r->error_text.len < ERROR_BYTES ? r->error_text.len : ERROR_BYTES});
    if (facts->keep) {
        buf_reserve(&m->request, (size_t)row->request_bytes);
        buf_add(&m->request, request.shared.data, request.shared.len);
        buf_add(&m->request, request.own.data, request.own.len);
        redact_bytes(o->redactor, m->request.data, m->request.len);
        m->arrivals = arrival_text(r);
        m->headers = take(&r->headers);
        m->response = take(&r->raw);
    }
}

static void name_owner(struct answers *a, long owner_session, int owner_slot, int owner_round)
{
    for (size_t i = 0; i < a->n_findings; i++)
        if (a->findings[i].owner_session == owner_session &&
            a->finding_memory[i].owner_slot == owner_slot)
            a->findings[i].owner_round = owner_round;
}

void outcome_name_owner(struct outcome *o, long owner_session, int owner_slot, int owner_round)
{
    name_owner(&o->own, owner_session, owner_slot, owner_round);
    name_owner(&o->twins, owner_session, owner_slot, owner_round);
}

/* The lists do not grow any more: rows may point into them. */
static void settle(struct answers *a)
{
    for (size_t i = 0; i < a->n_rounds; i++) {
        const struct round_memory *m = &a->round_memory[i];
        struct round_row *row = &a->rounds[i];
        row->finish = m->finish;
        row->quirks = m->quirks ? m->quirks : "";
        row->end_detail = m->end_detail ? m->end_detail : "";
        row->error_text = m->error_text ? m->error_text : "";
        row->arrivals_json = m->arrivals;
        row->request = m->request.len ? buf_span(&m->request) : (struct span){NULL, 0};
        row->headers = m->headers.len ? buf_span(&m->headers) : (struct span){NULL, 0};
        row->response = m->response.len ? buf_span(&m->response) : (struct span){NULL, 0};
    }
    for (size_t i = 0; i < a->n_findings; i++) {
        a->findings[i].rule = a->finding_memory[i].rule;
        a->findings[i].note = a->finding_memory[i].note;
        a->findings[i].excerpt = buf_span(&a->finding_memory[i].excerpt);
    }
}

void outcome_end(struct outcome *o, const struct outcome_end *end)
{
    settle(&o->own);
    settle(&o->twins);
    o->reason = end->reason;
    o->row = (struct session_row){
        .session = o->row.session,
        .start_order = o->row.start_order,
        .class = class_name(reason_class(end->reason)),
        .reason = reason_name(end->reason),
        .first_bad_round = end->first_bad_round,
        .rounds_played = (int)o->own.n_rounds,
        .start_us = end->start_us,
        .end_us = end->end_us,
        .ramp = end->ramp,
        .warmup = end->warmup,
        .canary = o->canary,
        .rounds = o->own.rounds,
        .n_rounds = o->own.n_rounds,
        .findings = o->own.findings,
        .n_findings = o->own.n_findings,
        .twins = o->twins.rounds,
        .n_twins = o->twins.n_rounds,
        .twin_findings = o->twins.findings,
        .n_twin_findings = o->twins.n_findings,
    };
}

enum reason outcome_reason(const struct outcome *o)
{
    return o->reason;
}

static size_t evidence_of(const struct answers *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_rounds; i++)
        n += a->rounds[i].request.len + a->rounds[i].headers.len + a->rounds[i].response.len;
    return n;
}

size_t outcome_evidence(const struct outcome *o)
{
    return evidence_of(&o->own) + evidence_of(&o->twins);
}

static long drop_evidence(struct answers *a)
{
    const struct span none = {NULL, 0};
    long n = 0;
    for (size_t i = 0; i < a->n_rounds; i++) {
        struct round_row *row = &a->rounds[i];
        n += row->request.len > 0;
        row->request = row->headers = row->response = none;
        row->arrivals_json = NULL;
    }
    return n;
}

long outcome_drop_evidence(struct outcome *o)
{
    return drop_evidence(&o->own) + drop_evidence(&o->twins);
}

const struct session_row *outcome_row(const struct outcome *o)
{
    return &o->row;
}
