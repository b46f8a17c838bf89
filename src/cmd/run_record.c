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

long run_record_begin(struct store *store, const struct run_setup *s, const char *command,
                      struct err *err)
{
    const struct run_options *o = s->options;
    struct pair_list settings = {0}, tags = {0};
    opt_each(run_option_table, o, add_setting, &(struct setting_sink){s, &settings});
    add_header_names(s, &settings);
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
