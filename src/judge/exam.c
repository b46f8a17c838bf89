/* exam.c - the texts of a reply laid out for the detectors, and signs collected. Decides nothing.
 */
#include "exam.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "pattern.h"
#include "reply.h"
#include "utf8.h"

static size_t plain_bytes(struct span s)
{
    size_t at = 0;
    while ((at = utf8_plain_end(s, at)) < s.len && s.data[at] && strchr("\"\t\n\r\f", s.data[at]))
        at++;
    return at;
}

/* Content parts of arguments are JSON and so is most of what errors are made of. */
static void add_view(struct exam *x, enum channel channel, int call, const struct buf *text)
{
    struct view *w = &x->views[x->n_views++];
    *w = (struct view){.channel = channel, .call = call, .raw = buf_span(text)};
    w->plain = plain_bytes(w->raw);
    fold_init(&w->fold, w->raw, w->plain, channel == CHANNEL_args || channel == CHANNEL_error);
}

static void parse_args(struct exam *x, size_t i)
{
    struct span args = buf_span(&x->r->calls[i].args);
    x->args_fault[i] = json_check(args);
    if (x->args_fault[i] != -1)
        return;
    x->args[i] = json_parse(args, NULL);
    if (json_type(x->args[i]) != JSON_OBJECT) {
        json_free(x->args[i]);
        x->args[i] = NULL;
    }
}

void exam_init(struct exam *x)
{
    const struct reply *r = x->r;
    x->n_calls = r->n_calls < MAX_CALLS ? r->n_calls : MAX_CALLS;
    x->views = mem_zero(3 + 2 * x->n_calls, sizeof *x->views);
    x->args = mem_zero(x->n_calls + 1, sizeof(struct json *));
    x->args_fault = mem_zero(x->n_calls + 1, sizeof *x->args_fault);
    add_view(x, CHANNEL_content, -1, &r->content);
    add_view(x, CHANNEL_reasoning, -1, &r->reasoning);
    add_view(x, CHANNEL_error, -1, &r->error_text);
    for (size_t i = 0; i < x->n_calls; i++) {
        add_view(x, CHANNEL_name, (int)i, &r->calls[i].name);
        add_view(x, CHANNEL_args, (int)i, &r->calls[i].args);
        parse_args(x, i);
    }
}

void exam_release(struct exam *x)
{
    for (size_t i = 0; i < x->n_views; i++) {
        fold_release(&x->views[i].fold);
        zones_release(&x->views[i].zones);
    }
    for (size_t i = 0; i < x->n_calls; i++)
        json_free(x->args[i]);
    pattern_scratch_free(x->scratch);
    free(x->states);
    free(x->views);
    free(x->args);
    free(x->args_fault);
}

bool exam_unfinished(const struct exam *x)
{
    return x->failed || x->capped;
}

const struct zones *exam_zones(struct view *w)
{
    if (!w->zoned)
        zones_init(&w->zones, w->fold.text);
    w->zoned = true;
    return &w->zones;
}

struct span exam_raw(const struct view *w, size_t start, size_t end)
{
    size_t from = fold_raw(&w->fold, start), to = fold_raw(&w->fold, end);
    return (struct span){w->raw.data + from, to - from};
}

static struct sign *new_sign(struct exam *x)
{
    struct verdict *v = x->v;
    if (v->n_signs >= MAX_SIGNS)
        return NULL;
    v->signs = mem_grow(v->signs, &v->signs_cap, v->n_signs, sizeof *v->signs);
    struct sign *s = &v->signs[v->n_signs++];
    memset(s, 0, sizeof *s);
    return s;
}

struct sign *exam_sign(struct exam *x, struct charge charge, const struct view *w,
                       struct span where, const char *format, ...)
{
    struct sign *s = new_sign(x);
    if (!s)
        return NULL;
    s->reason = charge.reason;
    s->level = charge.level;
    s->channel = w->channel;
    s->call = w->call;
    s->offset = where.data ? (size_t)(where.data - w->raw.data) : 0;
    s->len = where.len;
    snprintf(s->rule, sizeof s->rule, "%s", charge.rule);
    va_list args;
    va_start(args, format);
    vsnprintf(s->note, sizeof s->note, format, args);
    va_end(args);
    return s;
}

struct sign *exam_note(struct exam *x, enum reason reason, enum channel channel, int call,
                       const char *rule, const char *format, ...)
{
    struct sign *s = new_sign(x);
    if (!s)
        return NULL;
    s->reason = reason;
    s->level = LEVEL_DAMAGE;
    s->channel = channel;
    s->call = call;
    snprintf(s->rule, sizeof s->rule, "%s", rule);
    va_list args;
    va_start(args, format);
    vsnprintf(s->note, sizeof s->note, format, args);
    va_end(args);
    return s;
}
