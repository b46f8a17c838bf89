/* demand.c - the calls against what the scenario demands: the literals that must come back, how
 * many, which, and none that was answered before. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "exam.h"
#include "expect.h"
#include "json.h"
#include "mem.h"
#include "reply.h"

/* Calls demanded in one turn that are matched. */
#define MAX_DEMANDED 1000

enum { FREE, TAKEN };

static bool deep_equal(const struct json *v, const struct json *want, int depth)
{
    if (json_equal(v, want))
        return true;
    for (const struct json *m = depth < 64 ? json_first(v) : NULL; m; m = json_next(m))
        if (deep_equal(m, want, depth + 1))
            return true;
    return false;
}

/* A number that a double does not hold is compared digit by digit. */
static bool same_value(const struct exam *x, size_t call, const struct json *got,
                       const struct expect_literal *l, const struct json *want)
{
    if (json_type(want) != JSON_NUMBER || strlen(l->json) < 16)
        return json_equal(got, want);
    struct buf held = BUF_INIT;
    json_print(want, &held);
    bool exact = span_is(buf_span(&held), l->json);
    buf_release(&held);
    if (exact)
        return json_equal(got, want);
    return span_is(json_raw_get(buf_span(&x->r->calls[call].args), l->key), l->json);
}

/* Every member of that name must be it: clients differ in which of several they take. */
static bool member_right(const struct exam *x, size_t call, const struct expect_literal *l,
                         const struct json *want)
{
    bool found = false;
    for (const struct json *m = json_first(x->args[call]); m; m = json_next(m)) {
        if (strcmp(json_key(m), l->key) != 0)
            continue;
        found = true;
        if (!same_value(x, call, m, l, want))
            return false;
    }
    return found;
}

static bool literal_right(const struct exam *x, size_t call, const struct expect_literal *l)
{
    struct json *want = json_parse(span_of(l->json), NULL);
    bool right = l->key ? member_right(x, call, l, want) : deep_equal(x->args[call], want, 0);
    json_free(want);
    return right;
}

static bool name_fits(const struct exam *x, size_t call, const struct expect_call *want)
{
    return !want->name || span_is(buf_span(&x->r->calls[call].name), want->name);
}

static bool call_fits(const struct exam *x, size_t call, const struct expect_call *want)
{
    if (!name_fits(x, call, want))
        return false;
    for (size_t i = 0; i < want->n_literals; i++)
        if (!literal_right(x, call, &want->literals[i]))
            return false;
    return true;
}

/* A literal that is missing or of another type where the schema says so already is one damage, not
 * two. */
static bool schema_explains(const struct exam *x, size_t call, const struct expect_literal *l)
{
    bool broken = false;
    for (size_t i = 0; i < x->v->n_signs; i++)
        broken = broken ||
                 (x->v->signs[i].reason == REASON_call_schema && x->v->signs[i].call == (int)call);
    if (!broken || !l->key)
        return false;
    struct json *want = json_parse(span_of(l->json), NULL);
    const struct json *got = json_get(x->args[call], l->key);
    bool other = json_type(got) != json_type(want);
    json_free(want);
    return other;
}

static bool same_call(const struct exam *x, size_t call, size_t previous)
{
    const struct expect *e = x->e;
    if (!name_fits(x, call, &e->previous[previous]) || !e->previous_args)
        return false;
    struct json *args = json_parse(span_of(e->previous_args[previous]), NULL);
    bool same = args && x->args[call] && json_equal(args, x->args[call]);
    json_free(args);
    return same;
}

/* The same call was made and answered before, and another one is due. */
static bool is_repeat(const struct exam *x, size_t call)
{
    for (size_t i = 0; x->e->new_call_expected && i < x->e->n_previous; i++)
        if (same_call(x, call, i))
            return true;
    return false;
}

static void report_literals(struct exam *x, size_t call, const struct expect_call *want)
{
    if (is_repeat(x, call))
        return; /* old literals, not altered ones */
    for (size_t i = 0; i < want->n_literals; i++) {
        const struct expect_literal *l = &want->literals[i];
        /* Arguments that are no JSON are damage of their own. */
        if (!x->args[call] || literal_right(x, call, l) || schema_explains(x, call, l))
            continue;
        struct buf got = {.cap = 90};
        const struct json *v = l->key ? json_get(x->args[call], l->key) : NULL;
        if (v)
            json_print(v, &got);
        exam_note(x, REASON_value, CHANNEL_args, (int)call, "literal", "%s: wanted %.80s, got %s",
                  l->key ? l->key : "any value", l->json, v ? buf_str(&got) : "nothing");
        buf_release(&got);
    }
}

/* Gives each demanded call the reply's call that is exactly it; then, to those left over, one of
 * the same name, whose literals must then have been altered. Returns how many found none. */
static size_t match_calls(struct exam *x, char *taken)
{
    const struct expect *e = x->e;
    size_t n = e->n_calls < MAX_DEMANDED ? e->n_calls : MAX_DEMANDED, missing = 0;
    char *met = mem_zero(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x->n_calls && !met[i]; k++)
            if (!taken[k] && call_fits(x, k, &e->calls[i]))
                taken[k] = met[i] = TAKEN;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x->n_calls && !met[i]; k++)
            if (!taken[k] && name_fits(x, k, &e->calls[i])) {
                taken[k] = met[i] = TAKEN;
                report_literals(x, k, &e->calls[i]);
            }
    for (size_t i = 0; i < n; i++)
        missing += !met[i];
    free(met);
    return missing;
}

void call_demand_detect(struct exam *x)
{
    const struct expect *e = x->e;
    if (!e->n_calls || !x->n_calls)
        return; /* no call at all is turn.c's */
    char *taken = mem_zero(x->n_calls + 1, 1);
    size_t missing = match_calls(x, taken), extra = 0;
    for (size_t k = 0; k < x->n_calls; k++)
        extra += !taken[k];
    if (missing && !exam_unfinished(x))
        exam_note(x, REASON_missing_calls, CHANNEL_calls, -1, "calls-missing",
                  "%zu of %zu demanded calls did not come", missing, e->n_calls);
    if (extra && e->exact_calls && !missing)
        exam_note(x, REASON_call_extra, CHANNEL_calls, -1, "calls-extra",
                  "%zu calls beside the %zu demanded", extra, e->n_calls);
    free(taken);
}

void call_repeat_detect(struct exam *x)
{
    for (size_t k = 0; k < x->n_calls; k++) {
        if (!is_repeat(x, k))
            continue;
        exam_note(x, REASON_repeat_call, CHANNEL_calls, (int)k, "call-again",
                  "this call was made and answered before");
        return;
    }
}
