/* survey_facts.c - what a server says about itself, looked up where servers say it. Where that is
 * stands in schemas/servers.json; nothing here knows a server by name. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "embed.h"
#include "json.h"
#include "mem.h"
#include "survey.h"

#define MAX_MODELS 1000 /* names kept */

/* The entry of the model in a list of them; else the first. */
static const struct json *own_entry(const struct json *list, const char *model)
{
    for (const struct json *e = json_first(list); e && model; e = json_next(e)) {
        const char *id = json_text(json_get(e, "id"));
        if (id && strcmp(id, model) == 0)
            return e;
    }
    return json_at(list, 0);
}

static const struct json *look_up(const struct json *facts, const struct json *path,
                                  const char *model)
{
    const struct json *at = facts;
    for (const struct json *step = json_first(path); step && at; step = json_next(step))
        at = strcmp(json_text(step), "@") == 0 ? own_entry(at, model)
                                               : json_get(at, json_text(step));
    return at;
}

static void recognise(struct survey *s, const struct json *facts, const struct json *servers)
{
    for (const struct json *row = json_first(servers); row; row = json_next(row)) {
        const struct json *found = look_up(facts, json_get(row, "where"), s->model);
        const char *is = json_text(json_get(row, "is")), *text = json_text(found);
        if (json_type(found) <= JSON_NULL || (is && !(text && strcmp(is, text) == 0)))
            continue;
        s->server = mem_str(json_text(json_get(row, "name")));
        s->version = mem_str(json_text(look_up(facts, json_get(row, "version"), s->model)));
        return;
    }
}

static void read_context(struct survey *s, const struct json *facts, const struct json *paths)
{
    for (const struct json *p = json_first(paths); p && s->max_context <= 0; p = json_next(p))
        s->max_context = json_long(look_up(facts, p, s->model), 0);
    if (s->max_context < 0)
        s->max_context = 0;
}

static void read_models(struct survey *s, const struct json *list)
{
    s->models = mem_zero(json_count(list), sizeof *s->models);
    for (const struct json *e = json_first(list); e && s->n_models < MAX_MODELS; e = json_next(e))
        if (json_text(json_get(e, "id")))
            s->models[s->n_models++] = mem_str(json_text(json_get(e, "id")));
}

int survey_read_facts(struct survey *s, const struct buf *facts, struct err *err)
{
    struct json *said = json_parse(buf_span(facts), err);
    const struct embedded *file = embed_find("schemas/servers.json");
    struct json *known = json_parse((struct span){file->data, file->len}, err);
    if (said && known) {
        read_models(s, json_get(json_get(said, "/models"), "data"));
        recognise(s, said, json_get(known, "servers"));
        read_context(s, said, json_get(known, "context"));
    }
    int rc = said && known ? 0 : -1;
    json_free(said);
    json_free(known);
    return rc;
}
