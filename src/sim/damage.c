/* damage.c - the table of damages: which function spoils an answer for which reason, and when that
 * can be done. How it is done stands in damage_text.c, damage_call.c and damage_wire.c. */
#include "damage.h"

#include <stddef.h>

#include "answer.h"
#include "ask.h"
#include "damage_row.h"
#include "family.h"
#include "fault.h"
#include "rng.h"
#include "scene.h"
#include "server.h"

typedef bool condition_fn(const struct ask *ask, const struct expect *e);

static bool always(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    (void)e;
    return true;
}

static bool call_due(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return e->call_due;
}

static bool call_due_in_stream(const struct ask *ask, const struct expect *e)
{
    return e->call_due && ask->stream;
}

static bool call_due_plain_args(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return e->call_due && !e->args_may_contain_markup;
}

static bool several_due(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return e->n_calls > 1;
}

static bool no_call_allowed(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return !e->calls_allowed && e->n_tools > 0;
}

static bool new_call_due(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return damage_has_previous(e);
}

static bool has_value(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return damage_has_value(e);
}

static bool has_schema(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return damage_has_schema(e);
}

static bool has_neighbour(const struct ask *ask, const struct expect *e)
{
    return e->key && (ask->sessions == 0 || ask->sessions > 1);
}

static bool usage_told(const struct ask *ask, const struct expect *e)
{
    return e->call_due && (ask->include_usage || !ask->stream);
}

static bool not_repetitive(const struct ask *ask, const struct expect *e)
{
    (void)ask;
    return !e->repetitive_payload;
}

static bool is_stream(const struct ask *ask, const struct expect *e)
{
    (void)e;
    return ask->stream;
}

#define DUE "a call is due"

static const struct row {
    damage_fn *spoil; /* NULL: can't be produced */
    condition_fn *fits;
    const char *when;
    enum { NO_FAMILY, MARKED, SPECIAL, TAILED } family; /* and what it must have */
} rows[N_REASONS] = {
    [REASON_markup] = {damage_markup, call_due, DUE, MARKED},
    [REASON_markup_reasoning] = {damage_markup_reasoning, call_due, DUE, SPECIAL},
    [REASON_markup_args] = {damage_markup_args, call_due_plain_args, DUE, TAILED},
    [REASON_markup_name] = {damage_markup_name, call_due, DUE, SPECIAL},
    [REASON_special_token] = {damage_special_token, always, NULL, NO_FAMILY},
    [REASON_reasoning_text] = {damage_reasoning_text, always, NULL, NO_FAMILY},
    [REASON_loop] = {damage_loop, not_repetitive, "texts are not repetitive by intent", NO_FAMILY},
    [REASON_soup] = {damage_soup, always, NULL, NO_FAMILY},
    [REASON_utf8] = {damage_utf8, always, NULL, NO_FAMILY},
    [REASON_foreign] = {damage_foreign, has_neighbour, "there is another session", NO_FAMILY},
    [REASON_value] = {damage_value, has_value, "a literal is demanded", NO_FAMILY},
    [REASON_call_json] = {damage_call_json, call_due, DUE, NO_FAMILY},
    [REASON_call_schema] = {damage_call_schema, has_schema, "a call with a strict schema is due",
                            NO_FAMILY},
    [REASON_call_name] = {damage_call_name, call_due, DUE, NO_FAMILY},
    [REASON_call_id] = {damage_call_id, call_due, DUE, NO_FAMILY},
    [REASON_call_index] = {damage_call_index, call_due_in_stream, "a call is due in a stream",
                           NO_FAMILY},
    [REASON_call_extra] = {damage_call_extra, no_call_allowed, "no call is allowed", NO_FAMILY},
    [REASON_server_parse] = {damage_server_parse, call_due, DUE, MARKED},
    [REASON_connect] = {damage_connect, always, NULL, NO_FAMILY},
    [REASON_http] = {damage_http, always, NULL, NO_FAMILY},
    [REASON_overload] = {damage_overload, always, NULL, NO_FAMILY},
    [REASON_body] = {damage_body, always, NULL, NO_FAMILY},
    [REASON_sse] = {damage_sse, is_stream, "the answer is a stream", NO_FAMILY},
    [REASON_cut] = {damage_cut, always, NULL, NO_FAMILY},
    [REASON_stall] = {damage_stall, always, NULL, NO_FAMILY},
    [REASON_timeout] = {damage_timeout, always, NULL, NO_FAMILY},
    [REASON_too_large] = {damage_too_large, always, NULL, NO_FAMILY},
    [REASON_prose] = {damage_prose, call_due, DUE, NO_FAMILY},
    [REASON_empty] = {damage_empty, call_due, DUE, NO_FAMILY},
    [REASON_swallowed] = {damage_swallowed, usage_told, "a call is due and usage is told",
                          NO_FAMILY},
    [REASON_finish_lie] = {damage_finish_lie, call_due, DUE, NO_FAMILY},
    [REASON_cap] = {damage_cap, always, NULL, NO_FAMILY},
    [REASON_missing_calls] = {damage_missing_calls, several_due, "several calls are due",
                              NO_FAMILY},
    [REASON_repeat_call] = {damage_repeat_call, new_call_due,
                            "one call is due to a tool called before", NO_FAMILY},
};

bool damage_can(enum reason reason)
{
    return rows[reason].spoil != NULL;
}

bool damage_has_family(enum reason reason)
{
    return rows[reason].family != NO_FAMILY;
}

static enum family_need family_need(enum reason reason)
{
    switch (rows[reason].family) {
    case SPECIAL: return NEED_TOKEN;
    case TAILED: return NEED_TAIL;
    case MARKED:
    case NO_FAMILY:
    default: return NEED_NOTHING;
    }
}

bool damage_takes_family(enum reason reason, const char *name)
{
    return family_known(name, family_need(reason));
}

void damage_families(enum reason reason, struct buf *out)
{
    family_list(family_need(reason), out);
}

const char *damage_when(enum reason reason)
{
    return rows[reason].when;
}

bool damage_fits(enum reason reason, const struct scene *scene, const struct expect *e)
{
    return rows[reason].fits(scene->ask, e);
}

void damage_drop_calls(struct reply *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        buf_release(&r->calls[i].id);
        buf_release(&r->calls[i].name);
        buf_release(&r->calls[i].args);
    }
    r->n_calls = 0;
}

const char *damage_apply(const struct fault_hit *hit, const struct scene *scene,
                         struct answer *answer)
{
    const struct row *row = &rows[hit->reason];
    struct expect e;
    scene_expect(scene, scene->round, &e);
    struct rng dice = rng_stream(hit->dice, 0, "damage");
    struct damage_job job = {.scene = scene,
                             .e = &e,
                             .said = &answer->said,
                             .answer = answer,
                             .phrases = scene->server->phrases,
                             .dice = &dice};
    if (row->family != NO_FAMILY) {
        enum family_need need = family_need(hit->reason);
        job.family = family_pick(scene->server->families, hit->family,
                                 need == NEED_NOTHING ? NEED_MARKERS : need, &dice);
    }
    row->spoil(&job);
    return job.family ? family_name(job.family) : NULL;
}
