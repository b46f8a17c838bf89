/* rule.c - data files to compiled rules. Knows the form of the files and the few words in them that
 * stand for something else (@TOOL@, @BAR@); what the rules mean is the business of markup.c. */
#include "rule.h"

#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "fold.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "needle.h"
#include "pattern.h"
#include "schema.h"

/* A match starts at most so many bytes before a needle, unless the rule says otherwise. */
#define BACK 64

/* With so many bytes of tools' names no rule grows beyond what PCRE2 takes (64 KB, compiled). */
#define NAMES_SAFE 1000

static const char *const role_words[N_RULE_ROLES] = {"open",  "close",     "inner", "special",
                                                     "think", "think_end", "naked", "error"};

const char *rule_role_word(enum rule_role role)
{
    return role_words[role];
}

static int find_role(const char *word)
{
    for (int i = 0; i < N_RULE_ROLES; i++)
        if (strcmp(role_words[i], word) == 0)
            return i;
    return -1;
}

static unsigned channels_of(const struct json *rule, enum rule_role role)
{
    static const enum channel all[] = {CHANNEL_content, CHANNEL_reasoning, CHANNEL_name,
                                       CHANNEL_args, CHANNEL_error};
    const struct json *list = json_get(rule, "channels");
    unsigned set = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool named = false;
        for (const struct json *c = json_first(list); c; c = json_next(c))
            named = named || strcmp(json_text(c), channel_name(all[i])) == 0;
        bool usual = role == RULE_ERROR                         ? all[i] == CHANNEL_error
                     : role == RULE_NAKED || role == RULE_THINK ? all[i] == CHANNEL_content
                     : role == RULE_THINK_END
                         ? all[i] == CHANNEL_content || all[i] == CHANNEL_reasoning
                         : true;
        if (list ? named : usual)
            set |= 1u << all[i];
    }
    return set;
}

static void add_rule(struct rules *r, const struct json *v, bool proven)
{
    r->rules = mem_grow(r->rules, &r->cap, r->n, sizeof *r->rules);
    struct rule *rule = &r->rules[r->n];
    enum rule_role role = (enum rule_role)find_role(json_text(json_get(v, "role")));
    *rule = (struct rule){
        .id = mem_str(json_text(json_get(v, "id"))),
        .role = role,
        .channels = channels_of(v, role),
        .orphan = json_bool(json_get(v, "orphan"), false),
        .everywhere = json_bool(json_get(v, "everywhere"), false),
        .suspect = json_bool(json_get(v, "suspect"), false),
        .back = (size_t)json_long(json_get(v, "back"), BACK),
        .regex = mem_str(json_text(json_get(v, "match"))),
        .proven = proven,
    };
    rule->per_tools = strstr(rule->regex, "@TOOL@") != NULL;
    const struct json *near = json_get(v, "near");
    for (const struct json *n = json_first(near); n; n = json_next(n)) {
        const char *text = json_text(n);
        if (strcmp(text, "@start") == 0)
            rule->at_start = true;
        else if (strcmp(text, "@end") == 0)
            rule->at_end = true;
        else if (strcmp(text, "@tool") == 0)
            rule->at_tool = true;
        else
            needles_add(r->needles, span_of(text), (int)r->n);
    }
    r->n++;
}

static void add_text(char ***list, size_t *n, size_t *cap, const char *text)
{
    struct fold f;
    fold_init(&f, span_of(text), 0, false);
    char *folded = mem_copy(f.text.data, f.text.len);
    fold_release(&f);
    *list = mem_grow(*list, cap, *n, sizeof(char *));
    (*list)[(*n)++] = folded;
}

/* `s` is the form of rules that are not proven; NULL: they are. */
static int load_object(struct rules *r, const struct json *v, const struct schema *s,
                       const char *name, struct err *err)
{
    if (s && schema_check(s, v, err) < 0)
        return err_prefix(err, "%s", name);
    const struct json *list = json_get(v, "tokens");
    for (const struct json *t = json_first(list); t; t = json_next(t))
        add_text(&r->tokens, &r->n_tokens, &r->tokens_cap, json_text(t));
    list = json_get(v, "words");
    for (const struct json *w = json_first(list); w; w = json_next(w))
        add_text(&r->words, &r->n_words, &r->words_cap, json_text(w));
    list = json_get(v, "rules");
    for (const struct json *rule = json_first(list); rule; rule = json_next(rule))
        add_rule(r, rule, !s);
    return 0;
}

static int load_text(struct rules *r, struct span text, const struct schema *s, const char *name,
                     struct err *err)
{
    struct json *v = json_parse(text, err);
    if (!v)
        return err_prefix(err, "%s", name);
    int rc = 0;
    if (json_type(v) == JSON_ARRAY)
        for (const struct json *e = json_first(v); e && rc == 0; e = json_next(e))
            rc = load_object(r, e, s, name, err);
    else
        rc = load_object(r, v, s, name, err);
    json_free(v);
    return rc;
}

static int load_proven(struct rules *r, struct err *err)
{
    for (const struct embedded *e = NULL; (e = embed_next("schemas/markup/", e)) != NULL;)
        if (load_text(r, (struct span){e->data, e->len}, NULL, e->path, err) < 0)
            return -1;
    return 0;
}

static int load_more(struct rules *r, const char *more, struct err *err)
{
    const struct embedded *form = embed_find("schemas/markup.schema.json");
    struct json *root = form ? json_parse((struct span){form->data, form->len}, err) : NULL;
    struct schema *s = root ? schema_new(root, err) : NULL;
    int rc = s ? load_text(r, span_of(more), s, "further rules", err)
               : err_set(err, STATUS_TOOL, "the schema of markup rules is not in the program");
    schema_free(s);
    json_free(root);
    return rc;
}

static int longest_first(const void *a, const void *b)
{
    size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return x != y ? (x < y) - (x > y) : strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each once: several files may name one token. */
static void sort_tokens(struct rules *r)
{
    size_t kept = 0;
    if (r->n_tokens)
        qsort(r->tokens, r->n_tokens, sizeof(char *), longest_first);
    for (size_t i = 0; i < r->n_tokens; i++) {
        if (kept && strcmp(r->tokens[kept - 1], r->tokens[i]) == 0)
            free(r->tokens[i]);
        else
            r->tokens[kept++] = r->tokens[i];
    }
    r->n_tokens = kept;
}

static void free_texts(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void add_quoted(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\\^$.|?*+()[]{}#-", text.data[i]))
            buf_addc(out, '\\');
        buf_addc(out, text.data[i]);
    }
}

/* "(?:a|b)" of the names, longest first; without any: what never matches. */
static void alternation(const char *const *names, size_t n, struct buf *out)
{
    buf_adds(out, n ? "(?:" : "(?!)");
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, i ? "|" : "");
        add_quoted(out, span_of(names[i]));
    }
    buf_adds(out, n ? ")" : "");
}

/* The words between the bars of all known bar tokens. */
static char *bar_alternation(const struct rules *r)
{
    struct buf out = BUF_INIT;
    char **names = mem_zero(r->n_tokens + 1, sizeof(char *));
    size_t n = 0;
    for (size_t i = 0; i < r->n_tokens; i++) {
        const char *t = r->tokens[i];
        size_t skip = strspn(t, "</|"), len = strlen(t);
        while (len > skip && strchr(">|", t[len - 1]))
            len--;
        if (t[0] == '<' && strchr(t, '|') && len - skip >= 3 && !memchr(t + skip, '|', len - skip))
            names[n++] = mem_copy(t + skip, len - skip);
    }
    if (n)
        qsort(names, n, sizeof(char *), longest_first);
    alternation((const char *const *)names, n, &out);
    free_texts(names, n);
    return buf_take(&out);
}

static void list_places(struct rules *r)
{
    r->at_tool = mem_zero(r->n + 1, sizeof *r->at_tool);
    r->at_ends = mem_zero(r->n + 1, sizeof *r->at_ends);
    for (size_t i = 0; i < r->n; i++) {
        if (r->rules[i].at_tool)
            r->at_tool[r->n_at_tool++] = i;
        if (r->rules[i].at_start || r->rules[i].at_end)
            r->at_ends[r->n_at_ends++] = i;
    }
}

int rules_load(struct rules *r, const char *more, struct err *err)
{
    *r = (struct rules){.needles = needles_new(), .token_needles = needles_new()};
    if (load_proven(r, err) < 0 || (more && load_more(r, more, err) < 0))
        return -1;
    needles_build(r->needles);
    list_places(r);
    sort_tokens(r);
    for (size_t i = 0; i < r->n_tokens; i++)
        needles_add(r->token_needles, span_of(r->tokens[i]), (int)i);
    needles_build(r->token_needles);
    r->bars = bar_alternation(r);
    return 0;
}

void rules_release(struct rules *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->rules[i].id);
        free(r->rules[i].regex);
    }
    free(r->rules);
    needles_free(r->needles);
    needles_free(r->token_needles);
    free_texts(r->tokens, r->n_tokens);
    free_texts(r->words, r->n_words);
    free(r->bars);
    free(r->at_tool);
    free(r->at_ends);
    *r = (struct rules){0};
}

static void tool_alternation(const struct tool *tools, size_t n, struct buf *out)
{
    char **names = mem_zero(n + 1, sizeof(char *));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (tools[i].name && tools[i].name[0])
            names[kept++] = tools[i].name;
    if (kept)
        qsort(names, kept, sizeof(char *), longest_first);
    alternation((const char *const *)names, kept, out);
    free(names);
}

static void expand(const char *regex, const char *tools, const char *bars, struct buf *out)
{
    for (size_t n; *regex; regex += n) {
        n = strcspn(regex, "@");
        buf_add(out, regex, n);
        regex += n;
        bool tool = strncmp(regex, "@TOOL@", 6) == 0, bar = strncmp(regex, "@BAR@", 5) == 0;
        n = tool ? 6 : bar ? 5 : *regex != 0;
        if (tool || bar)
            buf_adds(out, tool ? tools : bars);
        else
            buf_add(out, regex, n);
    }
}

static struct pattern *new_pattern(const struct rule *rule, const char *names, const char *bars,
                                   struct err *err)
{
    struct buf regex = BUF_INIT;
    expand(rule->regex, names, bars, &regex);
    bool safe = rule->proven && (!rule->per_tools || strlen(names) <= NAMES_SAFE);
    struct pattern *p = safe ? pattern_later(buf_str(&regex), PATTERN_NEAR)
                             : pattern_new(buf_str(&regex), PATTERN_NEAR, err);
    buf_release(&regex);
    if (!p)
        err_prefix(err, "markup rule '%s'", rule->id);
    return p;
}

int rule_set_init(struct rule_set *s, const struct rules *r, const struct rule_set *base,
                  const struct tool *tools, size_t n, struct err *err)
{
    struct buf names = BUF_INIT;
    *s = (struct rule_set){
        .rules = r, .base = base, .patterns = mem_zero(r->n + 1, sizeof(struct pattern *))};
    tool_alternation(tools, n, &names);
    int rc = 0;
    for (size_t i = 0; i < r->n && rc == 0; i++) {
        bool lent = base && !r->rules[i].per_tools;
        s->patterns[i] =
            lent ? base->patterns[i] : new_pattern(&r->rules[i], buf_str(&names), r->bars, err);
        rc = s->patterns[i] ? 0 : -1;
    }
    s->tool_names = n ? needles_new() : NULL;
    for (size_t i = 0; i < n; i++)
        if (tools[i].name)
            needles_add(s->tool_names, span_of(tools[i].name), (int)i);
    if (s->tool_names)
        needles_build(s->tool_names);
    buf_release(&names);
    return rc;
}

void rule_set_release(struct rule_set *s)
{
    for (size_t i = 0; s->patterns && i < s->rules->n; i++)
        if (!s->base || s->rules->rules[i].per_tools)
            pattern_free(s->patterns[i]);
    free(s->patterns);
    needles_free(s->tool_names);
    *s = (struct rule_set){0};
}
