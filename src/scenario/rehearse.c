/* rehearse.c - plays a new scenario to itself before anybody else has to.
 *
 * Finds what neither the schema nor names can show: that the file's own right answers would not
 * pass. Knows nothing of files; the messages name steps. */
#include "rehearse.h"

#include <string.h>

#include "fill.h"
#include "json.h"
#include "message.h"
#include "play.h"
#include "scenario.h"
#include "schema.h"
#include "script.h"
#include "token.h"

static int check_args(const struct play *p, const struct play_round *r, size_t step,
                      struct err *err)
{
    const struct script *s = &p->sc->script;
    for (size_t i = 0; i < r->n_calls; i++) {
        const char *parameters = s->tools[r->step->calls[i].tool].parameters;
        struct json *args = json_parse(span_of(p->args[r->first + i]), NULL);
        struct json *tree = parameters ? json_parse(span_of(parameters), NULL) : NULL;
        struct schema *schema = tree ? schema_new(tree, err) : NULL;
        int status = tree && !schema ? -1 : 0;
        if (schema)
            status = schema_check(schema, args, err);
        schema_free(schema);
        json_free(tree);
        json_free(args);
        if (status)
            return err_prefix(
                err, "'steps[%zu].calls[%zu].arguments' against the tool's own schema", step, i);
    }
    return 0;
}

static int check_round(const struct play *p, int round, struct err *err)
{
    const struct script *s = &p->sc->script;
    const struct play_round *r = &p->plan[round - 1];
    size_t step = (size_t)(r->step - s->steps);
    if (r->untold)
        return err_set(err, STATUS_USAGE,
                       "'steps[%zu]' demands a token that no text before it "
                       "tells the model",
                       step);
    if (r->final_text && !*r->final_text)
        return err_set(err, STATUS_USAGE, "'steps[%zu].answer.holds' is empty", step);
    if (r->final_text && (!r->say || !strstr(r->say, r->final_text)))
        return err_set(err, STATUS_USAGE,
                       "'steps[%zu].answer.text' does not contain what 'holds' "
                       "demands",
                       step);
    return check_args(p, r, step, err);
}

static int check_play(const struct play *p, struct err *err)
{
    if (p->bad_index)
        return err_set(err, STATUS_USAGE,
                       "a reference has an index below 0 (i counts from 0; so does "
                       "last)");
    if (p->too_long)
        return err_set(err, STATUS_USAGE, "a text grows beyond %u bytes when filled in",
                       FILL_MAX_BYTES);
    for (int round = 1; round <= p->n_rounds; round++)
        if (check_round(p, round, err))
            return -1;
    return 0;
}

int rehearse_scenario(const struct scenario *sc, struct err *err)
{
    struct token_key key = token_key(1);
    int status = 0;
    /* Once with each step as it stands, once with the repeated one twice: both results of it. */
    for (int more = 0; more < 2 && status == 0; more++) {
        struct play_settings settings = {.seed = 1, .rounds = (int)sc->script.n_steps + more};
        struct play *p = play_new(sc, &settings, &key, 1);
        status = check_play(p, err);
        play_free(p);
    }
    return status;
}
