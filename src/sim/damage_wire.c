/* damage_wire.c - damages of the exchange itself: error answers, broken streams, silence. */
#include <stdlib.h>

#include "answer.h"
#include "ask.h"
#include "damage_row.h"
#include "family.h"
#include "phrase.h"
#include "rng.h"
#include "scene.h"

static char *pick(struct damage_job *j, const char *kind)
{
    struct buf text = BUF_INIT;
    phrase_add(j->phrases, kind, NULL, 1, j->dice, &text);
    return buf_take(&text);
}

/* Somewhere inside the answer: 10 % to 80 % of its text. */
static unsigned midway(struct damage_job *j)
{
    return 100 + (unsigned)rng_below(j->dice, 700);
}

static void error_event(struct answer *a, const char *type, const char *message)
{
    a->ending = ENDS_TAIL;
    buf_adds(&a->tail, "data: ");
    answer_add_error(&a->tail, type, NULL, message);
    buf_adds(&a->tail, "\n\n");
}

/* What the model wrote follows in half of the messages, as some servers have it. */
void damage_server_parse(struct damage_job *j)
{
    struct buf text = BUF_INIT;
    phrase_add(j->phrases, "parse_error", NULL, 1, j->dice, &text);
    if (rng_below(j->dice, 2))
        family_render(j->family, j->said, &text);
    if (j->scene->ask->stream && rng_below(j->dice, 2)) {
        error_event(j->answer, "BadRequestError", buf_str(&text));
        j->answer->after_permille = 1 + (unsigned)rng_below(j->dice, 500);
    } else {
        int status = rng_below(j->dice, 2) ? 500 : 400;
        answer_error(j->answer, status, status == 500 ? "server_error" : "BadRequestError", NULL,
                     buf_str(&text));
    }
    buf_release(&text);
}

void damage_connect(struct damage_job *j)
{
    j->answer->ending = ENDS_RESET;
}

void damage_http(struct damage_job *j)
{
    static const int statuses[] = {500, 502, 504};
    char *text = pick(j, "server_error");
    answer_error(j->answer, statuses[rng_below(j->dice, 3)], "server_error", NULL, text);
    free(text);
}

void damage_overload(struct damage_job *j)
{
    char *text = pick(j, "overload");
    answer_error(j->answer, rng_below(j->dice, 2) ? 503 : 429, "overloaded_error", NULL, text);
    j->answer->retry_after_s = 1;
    free(text);
}

void damage_body(struct damage_job *j)
{
    j->answer->whole = true;
    j->answer->content_type = "text/html; charset=utf-8";
    phrase_add(j->phrases, "html", NULL, 1, j->dice, &j->answer->body);
}

/* An error event; an event whose JSON is broken off; half an event, and the stream closes. */
void damage_sse(struct damage_job *j)
{
    static const char half[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
    uint64_t form = rng_below(j->dice, 3);
    if (form == 0) {
        char *text = pick(j, "server_error");
        error_event(j->answer, "InternalServerError", text);
        free(text);
    } else {
        j->answer->ending = form == 1 ? ENDS_TAIL : ENDS_TAIL_CUT;
        buf_adds(&j->answer->tail, half);
        buf_adds(&j->answer->tail, form == 1 ? "\n\n" : "");
    }
    j->answer->after_permille = midway(j);
}

void damage_cut(struct damage_job *j)
{
    j->answer->ending = ENDS_CUT;
    j->answer->after_permille = midway(j);
}

void damage_stall(struct damage_job *j)
{
    j->answer->ending = ENDS_STALL;
    j->answer->after_permille = rng_below(j->dice, 2) ? midway(j) : 0;
}

void damage_timeout(struct damage_job *j)
{
    j->answer->ending = ENDS_TRICKLE;
    j->answer->after_permille = midway(j);
}

void damage_too_large(struct damage_job *j)
{
    j->answer->ending = ENDS_ENDLESS;
    j->answer->after_permille = midway(j);
}
