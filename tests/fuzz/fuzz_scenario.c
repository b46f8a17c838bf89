// layers: scenario chat base
// corpus: tests/data/scenario-bad/*.json tests/data/scenario-good/*.json
/* Any text as a scenario file: refused in one line, or playable to its end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "expect.h"
#include "fuzz.h"
#include "json.h"
#include "message.h"
#include "reply.h"
#include "scenario.h"
#include "token.h"

static void must(int condition)
{
    if (!condition)
        abort();
}

static void play_round(const struct play *p, int round)
{
    struct expect e;
    struct reply r;
    size_t n;
    reply_init(&r);
    play_expect(p, round, &e);
    play_perfect(p, round, &r);
    must(r.n_calls == e.n_calls);
    for (size_t i = 0; i < r.n_calls; i++)
        must(json_check(buf_span(&r.calls[i].args)) < 0);
    must(!e.final_text || strstr(buf_str(&r.content), e.final_text) != NULL);
    struct message *list = play_answers(p, round, &r, &n);
    must((n == 0) == (round == play_rounds(p)));
    for (size_t i = 0; i < n; i++)
        message_release(&list[i]);
    free(list);
    reply_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct span text = {(const char *)data, size};
    struct scenario *sc = scenario_parse(text, "fuzz", &err);
    if (!sc) {
        must(err.status == STATUS_USAGE && err.text[0]);
        return 0;
    }
    struct token_key key = token_key(2);
    struct play_settings settings = {.seed = 2, .rounds = 5, .context_tokens = 300};
    struct play *p = play_new(sc, &settings, &key, 3);
    for (int round = 1; round <= play_rounds(p); round++)
        play_round(p, round);
    play_free(p);
    scenario_free(sc);
    return 0;
}
