/* damage_row.h - what the files of damages share: their job, their conditions, their rows. */
#ifndef DAMAGE_ROW_H
#define DAMAGE_ROW_H

#include <stdbool.h>

#include "expect.h"
#include "reply.h"

struct answer;
struct family;
struct json;
struct rng;
struct scene;

struct damage_job {
    const struct scene *scene;
    const struct expect *e;
    struct reply *said; /* of the answer */
    struct answer *answer;
    const struct json *phrases;
    const struct family *family; /* NULL if the reason has none */
    struct rng *dice;
};

typedef void damage_fn(struct damage_job *j);

/* In text: damage_text.c */
damage_fn damage_markup, damage_markup_reasoning, damage_special_token, damage_reasoning_text,
    damage_loop, damage_soup, damage_utf8, damage_foreign, damage_prose, damage_empty,
    damage_swallowed, damage_finish_lie, damage_cap;

/* In calls: damage_call.c */
damage_fn damage_markup_args, damage_markup_name, damage_value, damage_call_json,
    damage_call_schema, damage_call_name, damage_call_id, damage_call_index, damage_call_extra,
    damage_missing_calls, damage_repeat_call;

/* In the exchange: damage_wire.c */
damage_fn damage_server_parse, damage_connect, damage_http, damage_overload, damage_body,
    damage_sse, damage_cut, damage_stall, damage_timeout, damage_too_large;

/* Takes all calls out of the reply. */
void damage_drop_calls(struct reply *r);

/* Is there a literal that damage_value() can alter: in a call's arguments, or the final text? */
bool damage_has_value(const struct expect *e);

/* Is one call due, to a tool that was called before? */
bool damage_has_previous(const struct expect *e);

/* Can damage_call_schema() break the schema of a demanded call? */
bool damage_has_schema(const struct expect *e);

#endif
