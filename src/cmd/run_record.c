/* run_record.c - writes the run's row. The one place where options become stored text, and so the
 * one place that has to keep secrets out of it. */
#include "run_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "judge.h"
#include "load.h"
#include "mem.h"
#include "run_options.h"
#include "run_setup.h"
#include "scenario.h"
#include "store.h"
#include "text.h"

/* Owned keys and values, in the form that the store takes. */
struct pair_list {
    struct pair *pairs;
    char **memory;
    size_t n, pairs_cap, n_memory, memory_cap;
};

static const char *hold(struct pair_list *l, char *text)
{
    l->memory = mem_grow(l->memory, &l->memory_cap, l->n_memory, sizeof *l->memory);
    return l->memory[l->n_memory++] = text;
}

static void add_pair(struct pair_list *l, char *key, char *value)
{
    l->pairs = mem_grow(l->pairs, &l->pairs_cap, l->n, sizeof *l->pairs);
    l->pairs[l->n].key = hold(l, key);
    l->pairs[l->n++].value = hold(l, value);
}

static void release_pairs(struct pair_list *l)
{
    for (size_t i = 0; i < l->n_memory; i++)
        free(l->memory[i]);
    free(l->memory);
    free(l->pairs);
}

/* Takes "user:password@" and the query, where gateways put keys, out of a URL in place. */
static void strip_url(char *url)
{
    url[strcspn(url, "?#")] = '\0';
    char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t authority = strcspn(host, "/");
    for (size_t i = authority; i-- > 0;)
        if (host[i] == '@') {
            memmove(host, host + i + 1, strlen(host + i + 1) + 1);
            return;
        }
}

static bool is_url_option(const char *name)
{
    return strcmp(name, "base-url") == 0 || strcmp(name, "proxy") == 0;
}

static char *clean_value(const struct run_setup *s, const char *name, const char *value)
{
    char *text = mem_str(value);
    if (is_url_option(name))
        strip_url(text);
    endpoint_redact(&s->endpoint, text);
    return text;
}

struct setting_sink {
    const struct run_setup *setup;
    struct pair_list *list;
};

static void add_setting(void *arg, const char *name, const char *value)
{
    struct setting_sink *sink = arg;
    if (strcmp(name, "header") == 0 || strcmp(name, "tag") == 0)
        return;
    add_pair(sink->list, mem_str(name), clean_value(sink->setup, name, value));
}

static void add_header_names(const struct run_setup *s, struct pair_list *list)
{
    for (size_t i = 0; i < s->options->endpoint.headers.n; i++) {
        const char *h = s->options->endpoint.headers.items[i];
        char *name = mem_copy(h, strcspn(h, ":"));
        add_pair(list, mem_str("header"), name);
    }
}

static void add_tags(const struct run_options *o, struct pair_list *list)
{
    for (size_t i = 0; i < o->tags.n; i++) {
        const char *text = o->tags.items[i], *eq = strchr(text, '=');
        add_pair(list, mem_copy(text, (size_t)(eq - text)), mem_str(eq + 1));
    }
}

static void add_word(struct buf *out, const char *word)
{
    buf_addc(out, ' ');
    text_shell_word(out, word);
}

char *run_record_command(const struct run_setup *s, int argc, char **argv)
{
    struct buf out = BUF_INIT;
    buf_adds(&out, "toolstorm run");
    for (int i = 0; i < argc; i++) {
        const char *eq = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
        char *name = eq ? mem_copy(argv[i], (size_t)(eq - argv[i])) : mem_str(argv[i]);
        const char *value = eq ? eq + 1 : i + 1 < argc ? argv[i + 1] : "";
        bool is_url = name[0] == '-' && name[1] == '-' && is_url_option(name + 2);
        bool is_header = strcmp(name, "--header") == 0 || strcmp(name, "-H") == 0;
        if (!is_url && !is_header) {
            char *word = clean_value(s, "", argv[i]);
            add_word(&out, word);
            free(word);
        } else {
            char *clean = is_url ? clean_value(s, name + 2, value)
                                 : mem_printf("%.*s: ***", (int)strcspn(value, ":"), value);
            add_word(&out, name);
            add_word(&out, clean);
            free(clean);
            i += eq ? 0 : 1;
        }
        free(name);
    }
    return buf_take(&out);
}

static void add_settings(const struct run_setup *s, struct pair_list *list)
{
    opt_each(run_option_table, s->options, add_setting, &(struct setting_sink){s, list});
    add_header_names(s, list);
}

long run_record_begin(struct store *store, const struct run_setup *s, const char *command,
                      struct err *err)
{
    const struct run_options *o = s->options;
    struct pair_list settings = {0}, tags = {0};
    add_settings(s, &settings);
    add_tags(o, &tags);
    char *base = clean_value(s, "base-url", s->endpoint.base);
    struct run_row row = {
        .label = o->label,
        .scenario = scenario_name(s->scenario),
        .scenario_text = scenario_text(s->scenario),
        .model = s->model,
        .base_url = base,
        .dialect = s->endpoint.dialect->name,
        .version = TOOLSTORM_VERSION,
        .command = command,
        .server_json = buf_str(&s->server_facts),
        .seed = o->seed,
        .sessions = load_sessions(&s->settings),
        .concurrency = o->concurrency,
        .rounds = o->rounds ? o->rounds : scenario_default_rounds(s->scenario),
        .context_tokens = o->context,
        .max_tokens = o->max_tokens,
        .threads = s->settings.threads,
        .temperature = o->temperature < 0 ? NAN : o->temperature,
        .stream = o->stream,
        .simulated = s->sim != NULL,
        .judge_version = JUDGE_VERSION,
        .on_damage = o->on_damage,
        .tool_choice = o->tool_choice,
        .settings = settings.pairs,
        .n_settings = settings.n,
        .tags = tags.pairs,
        .n_tags = tags.n,
    };
    long run = store_run_begin(store, &row, err);
    free(base);
    release_pairs(&settings);
    release_pairs(&tags);
    return run;
}

/* --- is it the same run? ------------------------------------------------------------------------
 */

static bool is_local(const char *option)
{
    const char *const *known = run_local_options;
    while (*known && strcmp(*known, option) != 0)
        known++;
    return *known != NULL;
}

/* The value that the store keeps: the last one. */
static const char *find(const struct pair_list *l, const char *key)
{
    for (size_t i = l->n; i-- > 0;)
        if (strcmp(l->pairs[i].key, key) == 0)
            return l->pairs[i].value;
    return NULL;
}

static int read_pairs(struct store *store, long run, const char *sql, struct pair_list *list,
                      struct err *err)
{
    struct query *q = store_query(store, sql, err);
    int rc = q ? 0 : -1;
    if (q)
        query_bind_long(q, "run", run);
    while (q && (rc = query_step(q, err)) == 1)
        add_pair(list, mem_str(query_text(q, 0)), mem_str(query_text(q, 1)));
    query_free(q);
    return rc;
}

static int refuse(long run, const char *key, const char *then, const char *now, struct err *err)
{
    static const char advice[] = "give the options that it was begun with, or begin anew without "
                                 "--resume";
    struct buf text = BUF_INIT;
    if (now)
        buf_addf(&text, "'--%s %s': run %ld was begun ", key, now, run);
    else
        buf_addf(&text, "run %ld was begun ", run);
    if (then)
        buf_addf(&text, "with '--%s %s'", key, then);
    else
        buf_adds(&text, "without it");
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\n')
            text.data[i] = ' ';
    err_set(err, STATUS_USAGE, "%.800s: %s", buf_str(&text), advice);
    buf_release(&text);
    return -1;
}

/* `option`: what a key is an option of, if it is none itself. */
static int compare_pairs(long run, const struct pair_list *then, const struct pair_list *now,
                         const char *option, struct err *err)
{
    const struct pair_list *lists[] = {now, then};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++) {
            const char *key = lists[k]->pairs[i].key;
            const char *a = find(then, key), *b = find(now, key);
            if ((!option && is_local(key)) || (a && b && strcmp(a, b) == 0))
                continue;
            char *was = a && option ? mem_printf("%s=%s", key, a) : mem_str(a);
            char *is = b && option ? mem_printf("%s=%s", key, b) : mem_str(b);
            refuse(run, option ? option : key, was, is, err);
            free(was);
            free(is);
            return -1;
        }
    return 0;
}

/* What no option says, but decides what is played and judged all the same. */
static int compare_inputs(struct store *store, long run, const struct run_setup *s, struct err *err)
{
    struct query *q = store_query(store,
                                  "SELECT scenario_text, model, version, judge_version FROM runs "
                                  "WHERE run = :run",
                                  err);
    if (!q)
        return -1;
    query_bind_long(q, "run", run);
    int rc = query_step(q, err);
    if (rc == 1 && strcmp(query_text(q, 0), scenario_text(s->scenario)) != 0)
        rc = err_set(err, STATUS_USAGE,
                     "the scenario '%s' has changed since run %ld was begun: begin anew without "
                     "--resume",
                     s->options->scenario, run);
    else if (rc == 1 && strcmp(query_text(q, 1), s->model) != 0)
        rc = err_set(err, STATUS_USAGE,
                     "the endpoint's model is '%s', and run %ld was begun with '%s': begin anew "
                     "without --resume",
                     s->model, run, query_text(q, 1));
    else if (rc == 1 && (strcmp(query_text(q, 2), TOOLSTORM_VERSION) != 0 ||
                         query_long(q, 3) != JUDGE_VERSION))
        rc = err_set(err, STATUS_USAGE,
                     "run %ld was begun by toolstorm %s, whose judge may differ: begin anew "
                     "without --resume",
                     run, query_text(q, 2));
    query_free(q);
    return rc < 0 ? -1 : 0;
}

int run_record_check(struct store *store, long run, const struct run_setup *s, struct err *err)
{
    struct pair_list then = {0}, now = {0}, tags_then = {0}, tags_now = {0};
    add_settings(s, &now);
    add_tags(s->options, &tags_now);
    int rc =
        read_pairs(store, run, "SELECT key, value FROM run_settings WHERE run = :run", &then, err);
    if (rc == 0)
        rc = read_pairs(store, run, "SELECT key, value FROM run_tags WHERE run = :run", &tags_then,
                        err);
    if (rc == 0)
        rc = compare_pairs(run, &then, &now, NULL, err);
    if (rc == 0)
        rc = compare_pairs(run, &tags_then, &tags_now, "tag", err);
    if (rc == 0)
        rc = compare_inputs(store, run, s, err);
    release_pairs(&then);
    release_pairs(&now);
    release_pairs(&tags_then);
    release_pairs(&tags_now);
    return rc;
}
