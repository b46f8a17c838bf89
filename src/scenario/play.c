/* play.c - writes one session of a scenario: opening, and for each round what is due and what
 * follows. Everything is written once, in the order of the conversation, when the play is made;
 * afterwards a play only answers questions. */
#include "play.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "estimate.h"
#include "fill.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "scenario.h"
#include "script.h"

#define ROUNDS_MAX 1000 /* of one session */

/* What a text grew to beyond its cap is noted: rehearse.c refuses such a file. */
static const char *keep(struct play *p, struct buf *text)
{
    p->too_long |= text->full;
    p->owned = mem_grow(p->owned, &p->owned_cap, p->n_owned, sizeof *p->owned);
    return p->owned[p->n_owned++] = buf_take(text);
}

static const char *write_text(struct play *p, struct fill *f, const struct template *t)
{
    struct buf out = {.cap = FILL_MAX_BYTES};
    fill_text(f, t, &out);
    return keep(p, &out);
}

static struct estimate write_context(const struct play *p, struct fill *f, struct buf *out)
{
    const struct script *s = &p->sc->script;
    struct context_plant *plants = mem_zero(s->n_plants + 1, sizeof *plants);
    char **lines = mem_zero(s->n_plants + 1, sizeof *lines);
    struct rng places = rng_stream(p->seed, (uint64_t)p->session, "plants");
    for (size_t i = 0; i < s->n_plants; i++) {
        double anywhere = rng_unit(&places);
        lines[i] = fill_string(f, &s->plants[i].line);
        plants[i].line = lines[i];
        plants[i].at = s->shared_context ? 1 : s->plants[i].at < 0 ? anywhere : s->plants[i].at;
    }
    struct context_order order = {.vocab = s->vocab,
                                  .seed = p->seed,
                                  .number = s->shared_context ? 0 : (uint64_t)p->session,
                                  .tokens = s->has_vocab ? p->context_tokens : 0,
                                  .plants = plants,
                                  .n_plants = s->n_plants};
    struct estimate tokens = context_write(&order, out);
    for (size_t i = 0; i < s->n_plants; i++)
        free(lines[i]);
    free(lines);
    free(plants);
    return tokens;
}

/* What the text behind `from` of `out` costs. The context in it may be long, and is known. */
static struct estimate estimate_text(const struct fill *f, const struct buf *out, size_t from,
                                     const struct estimate *context)
{
    struct span text = {buf_str(out) + from, out->len - from};
    if (f->n_contexts != 1 || out->full)
        return estimate_of(text);
    struct span before = {text.data, f->context_at - from};
    struct span behind = {before.data + before.len + f->context.len,
                          text.len - before.len - f->context.len};
    struct estimate e = estimate_of(before), rest = estimate_of(behind);
    estimate_add(&e, context);
    estimate_add(&e, &rest);
    return e;
}

static void write_opening(struct play *p, struct fill *f)
{
    const struct script *s = &p->sc->script;
    struct buf context = BUF_INIT;
    struct estimate context_tokens = write_context(p, f, &context), tokens[2] = {0};
    f->context = buf_span(&context);
    const struct template *texts[] = {s->has_system ? &s->system : NULL, &s->user};
    bool joined = s->history[0] != '\0'; /* the history has the only system message */
    for (int i = 0; i < 2; i++) {
        if (!texts[i])
            continue;
        bool glued = i && joined && p->n_opening;
        p->n_opening += !glued;
        struct message *m = &p->opening[p->n_opening - 1];
        size_t from = m->content.len;
        m->role = i || joined ? ROLE_USER : ROLE_SYSTEM;
        m->content.cap = FILL_MAX_BYTES + context.len;
        buf_adds(&m->content, glued ? "\n\n" : "");
        f->n_contexts = 0;
        fill_text(f, texts[i], &m->content);
        p->too_long |= m->content.full;
        struct estimate more = estimate_text(f, &m->content, from, &context_tokens);
        estimate_add(&tokens[p->n_opening - 1], &more);
    }
    for (size_t i = 0; i < p->n_opening; i++)
        p->opening_tokens += estimate_total(&tokens[i]) + 4;
    f->context = (struct span){"", 0};
    buf_release(&context);
}

static void write_call(struct play *p, struct fill *f, const struct script_call *spec)
{
    struct expect_call *call = &p->calls[p->n_calls];
    struct expect_literal *literals = p->literals + p->n_literals;
    struct buf args = {.cap = FILL_MAX_BYTES};
    buf_addc(&args, '{');
    for (size_t i = 0; i < spec->n_arguments; i++) {
        const struct script_argument *a = &spec->arguments[i];
        const char *json = write_text(p, f, &a->json);
        buf_adds(&args, i ? ", " : "");
        json_quote(&args, span_of(a->name));
        buf_adds(&args, ": ");
        buf_adds(&args, json);
        if (a->demanded)
            literals[call->n_literals++] = (struct expect_literal){a->name, json};
    }
    buf_addc(&args, '}');
    call->name = p->sc->script.tools[spec->tool].name;
    call->literals = literals;
    p->n_literals += call->n_literals;
    p->args[p->n_calls++] = keep(p, &args);
}

static void write_results(struct play *p, struct fill *f, const struct play_round *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct script_call *spec = &r->step->calls[i];
        bool last = spec->has_last_result && f->i == f->last;
        p->results[r->first + i] = write_text(p, f, last ? &spec->last_result : &spec->result);
    }
}

static bool same_call(const struct play *p, size_t a, size_t b)
{
    return p->calls[a].name == p->calls[b].name && strcmp(p->args[a], p->args[b]) == 0;
}

static void note_repeats(const struct play *p, struct play_round *r)
{
    for (size_t i = r->first; i < r->first + r->n_calls; i++)
        for (size_t k = 0; k < r->first && !r->repeats_call; k++)
            r->repeats_call = same_call(p, i, k);
}

/* Step and repetition of round `round`. */
static const struct script_step *step_of(const struct script *s, int round, int repeats, long *i)
{
    long at = round - 1, first = (long)s->repeat;
    *i = 0;
    if (at < first)
        return &s->steps[at];
    if (at < first + repeats) {
        *i = at - first;
        return &s->steps[first];
    }
    return &s->steps[at - repeats + 1];
}

static void write_round(struct play *p, struct fill *f, int round, int repeats)
{
    const struct script *s = &p->sc->script;
    struct play_round *r = &p->plan[round - 1];
    int known = f->n_slots;
    f->round = round;
    r->step = step_of(s, round, repeats, &f->i);
    r->first = p->n_calls;
    r->n_calls = r->step->n_calls;
    for (size_t i = 0; i < r->n_calls; i++)
        write_call(p, f, &r->step->calls[i]);
    if (!r->n_calls)
        r->final_text = write_text(p, f, &r->step->holds);
    r->untold = f->n_slots > known;
    if (r->step->say.n)
        r->say = write_text(p, f, &r->step->say);
    write_results(p, f, r);
    note_repeats(p, r);
    if (round < p->n_rounds) {
        const struct script_step *next = step_of(s, round + 1, repeats, &f->i);
        if (next->has_user)
            r->user_after = write_text(p, f, &next->user);
    }
}

static long text_tokens(const char *text)
{
    return text ? estimate_tokens(span_of(text)) + 4 : 0;
}

/* What each request will cost, if all goes well: judged softly, shown, never decisive. */
static void estimate_requests(struct play *p)
{
    long tokens = p->sc->script.fixed_tokens + p->opening_tokens;
    for (int round = 1; round <= p->n_rounds; round++) {
        struct play_round *r = &p->plan[round - 1];
        r->tokens_before = tokens;
        for (size_t i = r->first; i < r->first + r->n_calls; i++)
            tokens += text_tokens(p->calls[i].name) + text_tokens(p->args[i]) +
                      text_tokens(p->results[i]);
        tokens += text_tokens(r->say) + text_tokens(r->user_after);
    }
}

static void make_room(struct play *p, int repeats)
{
    const struct script *s = &p->sc->script;
    size_t calls = 1, literals = 1;
    long i;
    for (int round = 1; round <= p->n_rounds; round++) {
        const struct script_step *step = step_of(s, round, repeats, &i);
        calls += step->n_calls;
        for (size_t c = 0; c < step->n_calls; c++)
            literals += step->calls[c].n_arguments;
    }
    p->plan = mem_zero((size_t)p->n_rounds, sizeof *p->plan);
    p->calls = mem_zero(calls, sizeof *p->calls);
    p->args = mem_zero(calls, sizeof *p->args);
    p->results = mem_zero(calls, sizeof *p->results);
    p->literals = mem_zero(literals, sizeof *p->literals);
}

struct play *play_new(const struct scenario *sc, const struct play_settings *settings,
                      const struct token_key *key, long session)
{
    struct play *p = mem_zero(1, sizeof *p);
    const struct script *s = &sc->script;
    int rounds = settings->rounds > 0 ? settings->rounds : scenario_default_rounds(sc), repeats;
    if (rounds > ROUNDS_MAX)
        rounds = ROUNDS_MAX;
    int length = script_length(s, rounds, &repeats);
    p->sc = sc;
    p->key = key;
    p->seed = settings->seed;
    p->session = session;
    p->n_sessions = settings->n_sessions;
    p->context_tokens = settings->context_tokens;
    p->n_rounds = length < rounds ? length : rounds;
    p->whole = length <= rounds;
    make_room(p, repeats);
    token_make(key, session, TOKEN_SLOT_CANARY, p->canary);
    struct fill f = {.values = s->values,
                     .key = key,
                     .seed = settings->seed,
                     .session = session,
                     .last = repeats - 1,
                     .rounds = p->n_rounds};
    write_opening(p, &f);
    for (int round = 1; round <= p->n_rounds; round++)
        write_round(p, &f, round, repeats);
    p->wrong_call = write_text(p, &f, &s->wrong_call);
    p->missing_call = write_text(p, &f, &s->missing_call);
    p->slots = mem_zero((size_t)f.n_slots + 1, sizeof *p->slots);
    memcpy(p->slots, f.slots, (size_t)f.n_slots * sizeof *p->slots);
    p->n_slots = f.n_slots;
    p->bad_index = f.bad_index;
    estimate_requests(p);
    return p;
}

void play_forget_opening(struct play *p)
{
    while (p->n_opening > 0)
        message_release(&p->opening[--p->n_opening]);
}

void play_free(struct play *p)
{
    if (!p)
        return;
    play_forget_opening(p);
    for (size_t i = 0; i < p->n_owned; i++)
        free(p->owned[i]);
    free(p->owned);
    free(p->slots);
    free(p->plan);
    free(p->calls);
    free(p->args);
    free(p->results);
    free(p->literals);
    free(p);
}

const char *play_canary(const struct play *p)
{
    return p->canary;
}

int play_rounds(const struct play *p)
{
    return p->n_rounds;
}

const struct message *play_opening(const struct play *p, size_t *n)
{
    *n = p->n_opening;
    return p->opening;
}

bool play_is_final(const struct play *p, int round)
{
    return p->whole && round == p->n_rounds;
}

int play_slot_round(const struct play *p, int slot)
{
    if (slot == TOKEN_SLOT_CANARY)
        return 0;
    return slot >= 0 && slot < p->n_slots ? p->slots[slot].round : -1;
}
