/* damage_text.c - damages that show in what is said: leaked markup and tokens, loops, soup, and
 * texts where a call was due. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "damage_row.h"
#include "family.h"
#include "json.h"
#include "phrase.h"
#include "rng.h"
#include "scene.h"
#include "token.h"

#define LOOP_BYTES 2000 /* of a text that repeats itself */
#define CAP_TOKENS 800  /* of a runaway text, where max_tokens was not sent */
#define CAP_MOST   4000 /* and where it was, but is higher */

/* Something that could honestly stand before the damage. */
static void add_aside(struct damage_job *j)
{
    if (j->said->content.len == 0)
        phrase_add(j->phrases, "aside", j->e->lang, 1, j->dice, &j->said->content);
}

static void add_span(struct buf *out, struct span text)
{
    buf_add(out, text.data, text.len);
}

static void recount(struct damage_job *j)
{
    j->said->usage.completion_tokens = answer_tokens(j->said);
}

/* Length of `text` up to `want` bytes, not inside a character. */
static size_t cut_before(const struct buf *text, size_t want)
{
    while (want > 0 && ((unsigned char)text->data[want] & 0xC0) == 0x80)
        want--;
    return want;
}

/* The calls as text: whole; behind an aside; or cut towards the end. */
void damage_markup(struct damage_job *j)
{
    struct buf block = BUF_INIT;
    family_render(j->family, j->said, &block);
    uint64_t form = rng_below(j->dice, 10);
    if (form >= 5)
        add_aside(j);
    bool own_line = rng_below(j->dice, 2) || family_is_bare(j->family);
    if (j->said->content.len > 0 && own_line)
        buf_addc(&j->said->content, '\n');
    size_t len = block.len;
    if (form >= 8 && !family_is_bare(j->family))
        len = cut_before(&block, len * (60 + (size_t)rng_below(j->dice, 36)) / 100);
    buf_add(&j->said->content, block.data, len);
    buf_release(&block);
    damage_drop_calls(j->said);
    answer_finish(j->said, "stop");
    recount(j);
}

void damage_markup_reasoning(struct damage_job *j)
{
    if (j->said->reasoning.len == 0)
        phrase_add(j->phrases, "thought", j->e->lang, 2, j->dice, &j->said->reasoning);
    buf_addc(&j->said->reasoning, '\n');
    family_render(j->family, j->said, &j->said->reasoning);
    buf_clear(&j->said->content);
    damage_drop_calls(j->said);
    answer_finish(j->said, "stop");
    recount(j);
}

void damage_special_token(struct damage_job *j)
{
    add_aside(j);
    add_span(&j->said->content, phrase_pick(j->phrases, "special", NULL, j->dice));
    recount(j);
}

void damage_reasoning_text(struct damage_job *j)
{
    const struct json *tags = phrase_at(j->phrases, "think", j->dice);
    struct buf text = BUF_INIT;
    add_span(&text, json_span(json_get(tags, "open")));
    phrase_add(j->phrases, "thought", j->e->lang, 3, j->dice, &text);
    add_span(&text, json_span(json_get(tags, "close")));
    add_span(&text, buf_span(&j->said->content));
    buf_release(&j->said->content);
    j->said->content = text;
    buf_clear(&j->said->reasoning);
    recount(j);
}

void damage_loop(struct damage_job *j)
{
    struct span unit = phrase_pick(j->phrases, "loop", NULL, j->dice);
    damage_drop_calls(j->said);
    buf_clear(&j->said->content);
    add_aside(j);
    while (j->said->content.len < LOOP_BYTES)
        add_span(&j->said->content, unit);
    answer_finish(j->said, "length");
    recount(j);
}

/* Where the language says nothing about scripts, control bytes stand between the words. */
void damage_soup(struct damage_job *j)
{
    bool by_script = j->e->lang && strcmp(j->e->lang, "multi") != 0;
    if (rng_below(j->dice, 2)) {
        damage_drop_calls(j->said);
        answer_finish(j->said, "stop");
    }
    add_aside(j);
    for (size_t i = 0, n = 24 + (size_t)rng_below(j->dice, 24); i < n; i++) {
        buf_addc(&j->said->content, by_script ? ' ' : (char)(1 + rng_below(j->dice, 8)));
        add_span(&j->said->content, phrase_pick(j->phrases, "soup", NULL, j->dice));
    }
    recount(j);
}

void damage_utf8(struct damage_job *j)
{
    add_aside(j);
    buf_addc(&j->said->content, ' ');
    for (size_t i = 0, n = 2 + (size_t)rng_below(j->dice, 3); i < n; i++)
        buf_adds(&j->said->content, "\xEF\xBF\xBD");
    recount(j);
}

/* Puts the other session's token in the place of ours; false if `text` holds none of ours. */
static bool swap_token(struct damage_job *j, long other, struct buf *text)
{
    struct token_owner owner;
    long at = token_find(j->e->key, buf_span(text), 0, &owner);
    if (at < 0 || owner.session != j->e->session)
        return false;
    char token[TOKEN_LEN + 1];
    token_make(j->e->key, other, owner.slot, token);
    memcpy(text->data + at, token, TOKEN_LEN);
    return true;
}

void damage_foreign(struct damage_job *j)
{
    long other = j->e->session > 1 ? j->e->session - 1 : j->e->session + 1;
    struct reply *said = j->said;
    if (rng_below(j->dice, 2) && said->n_calls > 0 && swap_token(j, other, &said->calls[0].args))
        return;
    char token[TOKEN_LEN + 1];
    token_make(j->e->key, other, TOKEN_SLOT_CANARY, token);
    add_aside(j);
    buf_addf(&said->content, " %s", token);
    recount(j);
}

static void say_instead(struct damage_job *j, const char *kind, size_t n, const char *finish)
{
    damage_drop_calls(j->said);
    buf_clear(&j->said->content);
    phrase_add(j->phrases, kind, j->e->lang, n, j->dice, &j->said->content);
    answer_finish(j->said, finish);
    recount(j);
}

void damage_prose(struct damage_job *j)
{
    say_instead(j, "prose", 1 + (size_t)rng_below(j->dice, 2), "stop");
}

void damage_empty(struct damage_job *j)
{
    say_instead(j, "prose", 0, "stop");
    buf_clear(&j->said->reasoning);
    j->said->usage.completion_tokens = 0;
}

void damage_swallowed(struct damage_job *j)
{
    long tokens = answer_tokens(j->said);
    say_instead(j, "prose", 0, "stop");
    buf_clear(&j->said->reasoning);
    j->said->usage.completion_tokens = tokens > 40 ? tokens : 40;
}

void damage_finish_lie(struct damage_job *j)
{
    say_instead(j, "aside", (size_t)rng_below(j->dice, 2), "tool_calls");
}

void damage_cap(struct damage_job *j)
{
    long tokens = j->scene->ask->max_tokens;
    tokens = tokens == 0 ? CAP_TOKENS : tokens > CAP_MOST ? CAP_MOST : tokens;
    damage_drop_calls(j->said);
    buf_clear(&j->said->content);
    size_t want = (size_t)tokens * ANSWER_TOKEN_BYTES;
    while (j->said->content.len < want) {
        phrase_add(j->phrases, "ramble", j->e->lang, 1, j->dice, &j->said->content);
        buf_addc(&j->said->content, ' ');
    }
    j->said->content.len = cut_before(&j->said->content, want);
    j->said->content.data[j->said->content.len] = '\0';
    answer_finish(j->said, "length");
    j->said->usage.completion_tokens = tokens;
}
