/* judge.c - every detector looks, then the worst sign decides. Knows the order of reasons and
 * nothing of how signs are found. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "exam.h"
#include "expect.h"
#include "garble.h"
#include "json.h"
#include "marker.h"
#include "markup.h"
#include "mem.h"
#include "message.h"
#include "reply.h"
#include "schema.h"
#include "turn.h"

static const struct detector {
    void (*look)(struct exam *x);
    const char *about;
} detectors[] = {
#define DETECTOR(function, about) {function, about},
#include "detector.def"
#undef DETECTOR
};

struct judge *judge_new(const struct judge_options *options, struct err *err)
{
    struct judge *j = mem_zero(1, sizeof *j);
    j->strict = options->strict;
    j->more = mem_str(options->rules_json);
    if (rules_load(&j->rules, options->rules_json, err) < 0 ||
        rule_set_init(&j->plain, &j->rules, NULL, NULL, 0, err) < 0) {
        judge_free(j);
        return NULL;
    }
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    if (j->plain.rules)
        rule_set_release(&j->plain);
    rules_release(&j->rules);
    free(j->more);
    free(j);
}

static int add_tool(struct toolset *t, const struct tool *tool, struct err *err)
{
    size_t i = t->n++;
    t->names[i] = mem_str(tool->name ? tool->name : "");
    if (!tool->parameters)
        return 0;
    t->parameters[i] = json_parse(span_of(tool->parameters), err);
    if (t->parameters[i])
        t->schemas[i] = schema_new(t->parameters[i], err);
    if (!t->schemas[i])
        return err_prefix(err, "tool '%s'", t->names[i]);
    t->needs_args[i] = json_count(json_get(t->parameters[i], "required")) > 0;
    return 0;
}

struct toolset *toolset_new(const struct judge *j, const struct tool *tools, size_t n,
                            struct err *err)
{
    struct toolset *t = mem_zero(1, sizeof *t);
    t->judge = j;
    t->names = mem_zero(n + 1, sizeof(char *));
    t->parameters = mem_zero(n + 1, sizeof(struct json *));
    t->schemas = mem_zero(n + 1, sizeof(struct schema *));
    t->needs_args = mem_zero(n + 1, sizeof(bool));
    int rc = rule_set_init(&t->set, &j->rules, &j->plain, tools, n, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_tool(t, &tools[i], err);
    if (rc == 0)
        return t;
    toolset_free(t);
    return NULL;
}

void toolset_free(struct toolset *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        free(t->names[i]);
        schema_free(t->schemas[i]);
        json_free(t->parameters[i]);
    }
    rule_set_release(&t->set);
    free(t->names);
    free(t->parameters);
    free(t->schemas);
    free(t->needs_args);
    free(t);
}

/* Damage before suspicion, then the order of the table of reasons, then as found. */
static bool weighs_more(const struct sign *a, const struct sign *b)
{
    if (a->level != b->level)
        return a->level > b->level;
    return a->reason < b->reason;
}

static void sort_signs(struct verdict *v)
{
    for (size_t i = 1; i < v->n_signs; i++) {
        struct sign s = v->signs[i];
        size_t k = i;
        for (; k > 0 && weighs_more(&s, &v->signs[k - 1]); k--)
            v->signs[k] = v->signs[k - 1];
        v->signs[k] = s;
    }
}

static bool same_place(const struct sign *a, const struct sign *b)
{
    return a->level == b->level && a->reason == b->reason && a->channel == b->channel &&
           a->call == b->call && a->len && b->len && a->owner_session == b->owner_session &&
           a->owner_slot == b->owner_slot && a->offset < b->offset + b->len &&
           b->offset < a->offset + a->len;
}

/* Several rules that found one damage: the one that saw most of it speaks for all. */
static void absorb(struct sign *a, const struct sign *b)
{
    size_t from = a->offset < b->offset ? a->offset : b->offset;
    size_t a_end = a->offset + a->len, b_end = b->offset + b->len;
    if (b->len > a->len)
        *a = *b;
    a->offset = from;
    a->len = (a_end > b_end ? a_end : b_end) - from;
}

/* A place is damaged once, however many rules tell of it. Growing places may come to overlap
 * others: again until none do. */
static void merge_places(struct verdict *v)
{
    for (size_t i = 0; i < v->n_signs; i++) {
        for (size_t k = i + 1; k < v->n_signs;) {
            if (!same_place(&v->signs[i], &v->signs[k])) {
                k++;
                continue;
            }
            absorb(&v->signs[i], &v->signs[k]);
            memmove(&v->signs[k], &v->signs[k + 1], (--v->n_signs - k) * sizeof *v->signs);
            k = i + 1;
        }
    }
}

static void decide(const struct exam *x)
{
    struct verdict *v = x->v;
    v->reason = REASON_done;
    for (size_t i = 0; i < v->n_signs; i++) {
        struct sign *s = &v->signs[i];
        if (x->judge->strict && s->level == LEVEL_SUSPECT)
            s->level = LEVEL_DAMAGE;
    }
    merge_places(v);
    sort_signs(v);
    if (v->n_signs && v->signs[0].level == LEVEL_DAMAGE)
        v->reason = v->signs[0].reason;
    v->class = reason_class(v->reason);
    v->budget = x->capped && v->class != CLASS_OK;
}

static void note_quirks(struct exam *x)
{
    const struct reply *r = x->r;
    if (r->n_calls && strcmp(r->finish, "stop") == 0)
        x->v->quirks |= QUIRK_BIT(finish_stop_with_calls);
    bool blank = r->content.len > 0;
    for (size_t i = 0; i < r->content.len && blank; i++)
        blank = strchr(" \t\r\n", r->content.data[i]) != NULL;
    if (r->n_calls && blank)
        x->v->quirks |= QUIRK_BIT(blank_content_with_calls);
}

void judge_reply(const struct judge *j, const struct toolset *t, const struct expect *e,
                 const struct reply *r, struct verdict *v)
{
    struct exam x = {
        .judge = j, .set = t ? &t->set : &j->plain, .tools = t, .e = e, .r = r, .v = v};
    *v = (struct verdict){.quirks = r->quirks};
    turn_begin(&x);
    exam_init(&x);
    for (size_t i = 0; i < sizeof detectors / sizeof *detectors; i++)
        detectors[i].look(&x);
    note_quirks(&x);
    decide(&x);
    exam_release(&x);
}

void verdict_release(struct verdict *v)
{
    free(v->signs);
    *v = (struct verdict){0};
}
