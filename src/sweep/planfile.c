/* planfile.c - from a plan's text to its factors, cells and limits. It knows no option of `run`,
 * and starts nothing. */
#include "planfile.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cells.h"
#include "embed.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "schema.h"

/* --- small readers ---------------------------------------------------------------------------- */

/* A level as text: strings as they are, numbers and truth values as JSON writes them. */
static char *level_text(const struct json *v)
{
    if (json_type(v) == JSON_STRING)
        return mem_str(json_text(v));
    struct buf b = BUF_INIT;
    json_print(v, &b);
    return buf_take(&b);
}

static int64_t seconds_us(const struct json *root, const char *key, double absent)
{
    return (int64_t)(json_double(json_get(json_get(root, "limits"), key), absent) * 1e6);
}

/* "sweeps/find-it.json" is called "find-it". */
static char *stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    return mem_copy(base, n);
}

/* A path with a '/' starts at the plan's folder; a bare name is looked for as a shell does. */
static char *hook_path(const char *hook, const char *plan)
{
    const char *slash = strrchr(plan, '/');
    if (hook[0] == '/' || !strchr(hook, '/') || !slash)
        return mem_str(hook);
    return mem_printf("%.*s/%s", (int)(slash - plan), plan, hook);
}

/* --- factors ---------------------------------------------------------------------------------- */

long planfile_factor(const struct planfile *p, const char *name)
{
    for (size_t i = 0; i < p->n_factors; i++)
        if (strcmp(p->factors[i].name, name) == 0)
            return (long)i;
    return -1;
}

static int add_factor(struct planfile *p, const char *name, struct err *err)
{
    struct buf variable = BUF_INIT;
    buf_adds(&variable, "TOOLSTORM_FACTOR_");
    for (const char *c = name; *c; c++)
        buf_addc(&variable, isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_');
    p->factors = mem_grow(p->factors, &p->factors_cap, p->n_factors, sizeof *p->factors);
    struct factor *f = &p->factors[p->n_factors++];
    *f = (struct factor){.name = mem_str(name), .variable = buf_take(&variable)};
    if (p->n_factors > PLANFILE_MAX_FACTORS)
        return err_set(err, STATUS_USAGE, "more than %d factors", PLANFILE_MAX_FACTORS);
    for (size_t i = 0; i + 1 < p->n_factors; i++)
        if (strcmp(p->factors[i].variable, f->variable) == 0)
            return err_set(err, STATUS_USAGE, "factors '%s' and '%s' have one variable, %s",
                           p->factors[i].name, name, f->variable);
    return 0;
}

/* The level's number; adds it if it is new and `add` says so. -1 = unknown. */
static long find_level(struct factor *f, const struct json *v, bool add)
{
    char *text = level_text(v);
    size_t i = 0;
    while (i < f->n_levels && strcmp(f->levels[i], text) != 0)
        i++;
    if (i < f->n_levels || !add) {
        free(text);
        return i < f->n_levels ? (long)i : -1;
    }
    f->levels = mem_grow(f->levels, &f->cap, f->n_levels, sizeof *f->levels);
    f->levels[f->n_levels++] = text;
    return (long)i;
}

static int read_factors(struct planfile *p, const struct json *root, struct err *err)
{
    for (const struct json *f = json_first(json_get(root, "factors")); f; f = json_next(f)) {
        if (add_factor(p, json_key(f), err) != 0)
            return -1;
        struct factor *last = &p->factors[p->n_factors - 1];
        for (const struct json *v = json_first(f); v; v = json_next(v)) {
            size_t before = last->n_levels;
            find_level(last, v, true);
            if (last->n_levels == before)
                return err_set(err, STATUS_USAGE, "factor '%s' has a level twice", json_key(f));
        }
    }
    if (p->n_factors > 0)
        return 0;
    const struct json *cells = json_get(root, "cells");
    for (const struct json *c = json_first(cells); c; c = json_next(c))
        for (const struct json *v = json_first(c); v; v = json_next(v)) {
            if (planfile_factor(p, json_key(v)) < 0 && add_factor(p, json_key(v), err) != 0)
                return -1;
            find_level(&p->factors[planfile_factor(p, json_key(v))], v, true);
        }
    return p->n_factors > 0
               ? 0
               : err_set(err, STATUS_USAGE, "'cells' is no list, and there are no factors");
}

/* --- cells ------------------------------------------------------------------------------------ */

/* Sets the levels that the object names. */
static int read_levels(struct planfile *p, const struct json *object, const char *where,
                       size_t *levels, struct err *err)
{
    for (const struct json *v = json_first(object); v; v = json_next(v)) {
        long f = planfile_factor(p, json_key(v));
        if (f < 0)
            return err_set(err, STATUS_USAGE, "'%s' names '%s', which is no factor", where,
                           json_key(v));
        long level = find_level(&p->factors[f], v, false);
        if (level < 0) {
            char *text = level_text(v);
            err_set(err, STATUS_USAGE, "'%s': '%s' is no level of '%s'", where, text, json_key(v));
            free(text);
            return -1;
        }
        levels[f] = (size_t)level;
    }
    return 0;
}

static int list_cells(struct planfile *p, const struct json *list, const size_t *baseline,
                      struct err *err)
{
    size_t levels[PLANFILE_MAX_FACTORS];
    for (const struct json *c = json_first(list); c; c = json_next(c)) {
        memcpy(levels, baseline, sizeof levels);
        if (read_levels(p, c, "cells", levels, err) != 0)
            return -1;
        if (cells_find(p, levels) >= 0)
            return err_set(err, STATUS_USAGE, "'cells' has one configuration twice");
        cells_add(p, levels);
    }
    return 0;
}

static int exclude_cells(struct planfile *p, const struct json *root, struct err *err)
{
    for (const struct json *x = json_first(json_get(root, "exclude")); x; x = json_next(x)) {
        size_t levels[PLANFILE_MAX_FACTORS];
        for (size_t i = 0; i < PLANFILE_MAX_FACTORS; i++)
            levels[i] = CELLS_ANY;
        if (read_levels(p, x, "exclude", levels, err) != 0)
            return -1;
        cells_drop(p, levels);
    }
    return 0;
}

static int read_cells(struct planfile *p, const struct json *root, struct err *err)
{
    const struct json *cells = json_get(root, "cells");
    bool is_list = json_type(cells) == JSON_ARRAY;
    size_t baseline[PLANFILE_MAX_FACTORS] = {0};
    if (is_list && read_levels(p, json_first(cells), "cells", baseline, err) != 0)
        return -1;
    if (read_levels(p, json_get(root, "baseline"), "baseline", baseline, err) != 0)
        return -1;
    cells_add(p, baseline);
    const char *which = json_text(cells);
    int rc = 0;
    if (is_list) {
        /* The baseline keeps its place in the list if it has one. */
        p->n_cells = 0;
        rc = list_cells(p, cells, baseline, err);
        if (rc == 0 && cells_find(p, baseline) < 0)
            cells_add(p, baseline);
    } else if (which && strcmp(which, "one-at-a-time") == 0) {
        cells_add_single_changes(p, baseline);
    } else {
        rc = cells_add_all(p, err);
    }
    if (rc != 0 || exclude_cells(p, root, err) != 0)
        return -1;
    long at = cells_find(p, baseline);
    if (at < 0)
        return err_set(err, STATUS_USAGE, "'exclude' leaves the baseline out");
    p->baseline = (size_t)at;
    return 0;
}

/* --- options of run --------------------------------------------------------------------------- */

static void add_word(struct planfile *p, char *word)
{
    p->run_words = mem_grow(p->run_words, &p->run_words_cap, p->n_run_words, sizeof *p->run_words);
    p->run_words[p->n_run_words++] = word;
}

static void add_option(struct planfile *p, const char *name, const struct json *v)
{
    if (json_type(v) == JSON_BOOL) {
        add_word(p, mem_printf("--%s%s", json_bool(v, false) ? "" : "no-", name));
        return;
    }
    char *text = level_text(v);
    add_word(p, mem_printf("--%s=%s", name, text));
    free(text);
}

static void read_run(struct planfile *p, const struct json *root, const char *const *more,
                     size_t n_more)
{
    for (const struct json *v = json_first(json_get(root, "run")); v; v = json_next(v)) {
        if (json_type(v) != JSON_ARRAY) {
            add_option(p, json_key(v), v);
            continue;
        }
        for (const struct json *one = json_first(v); one; one = json_next(one))
            add_option(p, json_key(v), one);
    }
    for (size_t i = 0; i < n_more; i++)
        add_word(p, mem_str(more[i]));
}

/* --- the text that is kept -------------------------------------------------------------------- */

/* The plan's own settings and the words that joined them. A header's value, and what a URL holds
 * besides place and path, may be secret: whoever reads the database should not learn it. */
static void write_word(struct jsonw *w, const char *word, bool is_header)
{
    const char *eq = strchr(word, '=');
    struct buf b = BUF_INIT;
    if (is_header || strncmp(word, "--header=", 9) == 0) {
        const char *value = eq && !is_header ? eq + 1 : word;
        buf_add(&b, word, (size_t)(value - word) + strcspn(value, ":"));
        buf_adds(&b, ": ***");
    } else if (strstr(word, "://")) {
        const char *host = strstr(word, "://") + 3, *at = strchr(host, '@');
        buf_add(&b, word, (size_t)(host - word));
        host = at && strcspn(host, "/") > (size_t)(at - host) ? at + 1 : host;
        buf_add(&b, host, strcspn(host, "?#"));
    } else {
        buf_adds(&b, word);
    }
    jsonw_text(w, buf_str(&b));
    buf_release(&b);
}

static char *stored_text(const struct planfile *p, const struct json *root)
{
    struct buf b = BUF_INIT;
    struct jsonw w = {.out = &b};
    jsonw_object(&w);
    for (const struct json *v = json_first(root); v; v = json_next(v)) {
        if (strcmp(json_key(v), "run") == 0)
            continue;
        jsonw_key(&w, json_key(v));
        if (strcmp(json_key(v), "endpoint") == 0)
            write_word(&w, json_text(v), false);
        else
            jsonw_value(&w, v);
    }
    jsonw_key(&w, "run");
    jsonw_array(&w);
    for (size_t i = 0; i < p->n_run_words; i++) {
        bool is_header = i > 0 && (strcmp(p->run_words[i - 1], "--header") == 0 ||
                                   strcmp(p->run_words[i - 1], "-H") == 0);
        write_word(&w, p->run_words[i], is_header);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return buf_take(&b);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int check_schema(const struct json *root, struct err *err)
{
    const struct embedded *file = embed_find("schemas/sweep.schema.json");
    struct json *rules = file ? json_parse((struct span){file->data, file->len}, err) : NULL;
    struct schema *schema = rules ? schema_new(rules, err) : NULL;
    int rc = schema ? schema_check(schema, root, err)
                    : err_set(err, STATUS_TOOL, "the built-in plan schema can't be used");
    schema_free(schema);
    json_free(rules);
    return rc;
}

static void read_scalars(struct planfile *p, const struct json *root, const char *path)
{
    const char *name = json_text(json_get(root, "name")), *hook = json_text(json_get(root, "hook"));
    const char *failure = json_text(json_get(root, "on_hook_failure"));
    const struct json *isolate = json_get(root, "isolate");
    p->name = name ? mem_str(name) : stem(path);
    p->endpoint = mem_str(json_text(json_get(root, "endpoint")));
    p->hook = hook ? hook_path(hook, path) : NULL;
    p->blocks = json_long(json_get(root, "blocks"), 4);
    p->order_seed = (uint64_t)json_long(json_get(root, "order_seed"), 1);
    p->apply_us = seconds_us(root, "apply", 900);
    p->collect_us = seconds_us(root, "collect", 60);
    p->stop_us = seconds_us(root, "stop", 300);
    p->ready_us = seconds_us(root, "ready", 1800);
    p->go_on_after_failure = failure && strcmp(failure, "go-on") == 0;
    p->ready_tool_call = json_bool(json_get(root, "ready_tool_call"), true);
    p->margin = json_double(json_get(root, "margin"), 0.05);
    p->alpha = json_double(json_get(root, "alpha"), 0.05);
    p->p0 = json_double(json_get(isolate, "p0"), 0.01);
    p->step_cap = json_long(json_get(isolate, "cap"), 400);
}

static int read_root(struct planfile *p, const struct json *root, const char *path, struct err *err)
{
    if (check_schema(root, err) != 0)
        return -1;
    read_scalars(p, root, path);
    if (read_factors(p, root, err) != 0 || read_cells(p, root, err) != 0)
        return -1;
    return 0;
}

int planfile_read(struct planfile *p, const char *path, const char *const *more, size_t n_more,
                  struct err *err)
{
    struct buf text = BUF_INIT;
    struct json *root = NULL;
    int rc = -1;
    if (file_read(path, PLANFILE_MAX_BYTES, &text, err) != 0)
        goto out;
    root = json_parse(buf_span(&text), err);
    rc = root ? read_root(p, root, path, err) : -1;
    if (rc != 0) {
        err_prefix(err, "'%s'", path);
        goto out;
    }
    read_run(p, root, more, n_more);
    p->text = stored_text(p, root);
out:
    json_free(root);
    buf_release(&text);
    return rc;
}

void planfile_release(struct planfile *p)
{
    for (size_t i = 0; i < p->n_factors; i++) {
        for (size_t k = 0; k < p->factors[i].n_levels; k++)
            free(p->factors[i].levels[k]);
        free(p->factors[i].levels);
        free(p->factors[i].name);
        free(p->factors[i].variable);
    }
    for (size_t i = 0; i < p->n_run_words; i++)
        free(p->run_words[i]);
    free(p->factors);
    free(p->run_words);
    free(p->cells);
    free(p->name);
    free(p->endpoint);
    free(p->hook);
    free(p->text);
    *p = (struct planfile){0};
}

const size_t *planfile_cell(const struct planfile *p, size_t cell)
{
    assert(cell < p->n_cells);
    return p->cells + cell * p->n_factors;
}

void planfile_cell_name(const struct planfile *p, const size_t *levels, struct buf *out)
{
    for (size_t i = 0; i < p->n_factors; i++)
        buf_addf(out, "%s%s=%s", i ? "," : "", p->factors[i].name, p->factors[i].levels[levels[i]]);
}
