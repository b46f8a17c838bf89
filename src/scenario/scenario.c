/* scenario.c - finds scenario files, shipped or the user's own, and hands out what they say to all
 * sessions alike. What a session makes of it is play.c's business. */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "rehearse.h"
#include "schema.h"
#include "script.h"

#define FOLDER    "scenarios/"
#define MAX_BYTES (8u << 20) /* of a scenario file */

/* RFC 8259 to the letter, since its bytes are sent on: the parser alone lets some pass. */
static struct json *parse_strictly(struct span text, struct err *err)
{
    struct json *tree = json_parse(text, err);
    long bad = tree ? json_check(text) : -1;
    if (bad < 0)
        return tree;
    int line = 1;
    for (long i = 0; i < bad; i++)
        line += text.data[i] == '\n';
    err_set(err, STATUS_USAGE, "not JSON: line %d", line);
    json_free(tree);
    return NULL;
}

static int check_shape(const struct json *tree, struct err *err)
{
    const struct embedded *file = embed_find("schemas/scenario.schema.json");
    struct json *rules = file ? json_parse((struct span){file->data, file->len}, err) : NULL;
    struct schema *schema = rules ? schema_new(rules, err) : NULL;
    int status = schema ? schema_check(schema, tree, err)
                        : err_set(err, STATUS_TOOL, "the built-in scenario schema can't be used");
    schema_free(schema);
    json_free(rules);
    return status;
}

struct scenario *scenario_parse(struct span text, const char *name, struct err *err)
{
    struct scenario *sc = mem_zero(1, sizeof *sc);
    int status = -1;
    if (span_starts(text, "\xEF\xBB\xBF")) /* some editors put a byte order mark there */
        text = (struct span){text.data + 3, text.len - 3};
    struct json *tree = parse_strictly(text, err);
    if (!tree)
        goto out;
    sc->text = mem_copy(text.data, text.len);
    status = check_shape(tree, err);
    if (status == 0)
        status = script_read(&sc->script, text, tree, err);
    if (status == 0)
        status = rehearse_scenario(sc, err);
out:
    json_free(tree);
    if (status == 0)
        return sc;
    err_prefix(err, "scenario '%.300s'", name);
    scenario_free(sc);
    return NULL;
}

static struct scenario *load_shipped(const char *name, struct err *err)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%.100s.json", name);
    const struct embedded *file = embed_find(path);
    if (file)
        return scenario_parse((struct span){file->data, file->len}, name, err);
    struct buf known = BUF_INIT;
    for (size_t i = 0; scenario_shipped(i); i++)
        buf_addf(&known, "%s%s", i ? ", " : "", scenario_shipped(i));
    err_set(err, STATUS_USAGE,
            "no scenario '%.100s' (known: %s; a file's name holds a '/' or ends "
            "in '.json')",
            name, buf_str(&known));
    buf_release(&known);
    return NULL;
}

struct scenario *scenario_load(const char *name_or_path, struct err *err)
{
    size_t len = strlen(name_or_path);
    bool path =
        strchr(name_or_path, '/') || (len > 5 && strcmp(name_or_path + len - 5, ".json") == 0);
    if (!path)
        return load_shipped(name_or_path, err);
    struct buf text = BUF_INIT;
    struct scenario *sc = NULL;
    if (file_read(name_or_path, MAX_BYTES, &text, err) == 0)
        sc = scenario_parse(buf_span(&text), name_or_path, err);
    buf_release(&text);
    return sc;
}

void scenario_free(struct scenario *sc)
{
    if (!sc)
        return;
    script_release(&sc->script);
    free(sc->text);
    free(sc);
}

const char *scenario_name(const struct scenario *sc)
{
    return sc->script.name;
}

const char *scenario_about(const struct scenario *sc)
{
    return sc->script.about ? sc->script.about : "";
}

const char *scenario_text(const struct scenario *sc)
{
    return sc->text;
}

const struct tool *scenario_tools(const struct scenario *sc, size_t *n)
{
    *n = sc->script.n_tools;
    return sc->script.tools;
}

const char *scenario_tools_json(const struct scenario *sc)
{
    return sc->script.tools_json;
}

const char *scenario_history(const struct scenario *sc)
{
    return sc->script.history;
}

bool scenario_has_context(const struct scenario *sc)
{
    return sc->script.has_vocab;
}

int scenario_default_rounds(const struct scenario *sc)
{
    return sc->script.rounds ? sc->script.rounds : (int)sc->script.n_steps;
}

/* Vocabularies lie in a folder of their own and are no scenarios. */
const char *scenario_shipped(size_t i)
{
    for (const struct embedded *f = NULL; (f = embed_next(FOLDER, f));)
        if (!strchr(f->path + strlen(FOLDER), '/') && i-- == 0)
            return f->name;
    return NULL;
}

void scenario_list(struct buf *out)
{
    const char *name;
    for (size_t i = 0; (name = scenario_shipped(i)); i++) {
        struct scenario *sc = scenario_load(name, NULL);
        buf_addf(out, "%-12s %s\n", name, sc ? scenario_about(sc) : "(can't be read)");
        scenario_free(sc);
    }
}
