/* schema_compile.c - a schema's JSON to nodes: keywords read once, expressions compiled, references
 * followed. Knows nothing of the values that will be checked. */
#include "schema_node.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "pattern.h"
#include "rng.h"

/* Nesting of subschemas and references while compiling; a tool's schema has under ten. */
#define MAX_DEPTH 200

/* Subschemas of one schema. */
#define MAX_NODES 100000

static const struct {
    const char *name;
    unsigned bit;
} type_names[] = {
    {"null", 1u << JSON_NULL},     {"boolean", 1u << JSON_BOOL}, {"number", 1u << JSON_NUMBER},
    {"string", 1u << JSON_STRING}, {"array", 1u << JSON_ARRAY},  {"object", 1u << JSON_OBJECT},
    {"integer", TYPE_INTEGER},
};

struct compiler {
    struct schema *s;
    struct err *err;
    int depth;
    struct buf path; /* where in the schema, for errors */
};

static struct node *compile(struct compiler *c, const struct json *source, const char *step);

static void add_type(struct node *n, const char *name)
{
    for (size_t i = 0; name && i < sizeof type_names / sizeof *type_names; i++) {
        if (strcmp(type_names[i].name, name) != 0)
            continue;
        n->types |= type_names[i].bit;
        size_t used = strlen(n->wanted);
        snprintf(n->wanted + used, sizeof n->wanted - used, "%s%s", used ? " or " : "", name);
    }
}

static void read_types(struct node *n, const struct json *type)
{
    if (json_type(type) == JSON_STRING)
        add_type(n, json_text(type));
    else
        for (const struct json *t = json_first(type); t; t = json_next(t))
            add_type(n, json_text(t));
}

static double number(const struct json *object, const char *key)
{
    return json_double(json_get(object, key), NAN);
}

static void read_numbers(struct node *n, const struct json *o)
{
    n->minimum = number(o, "minimum");
    n->maximum = number(o, "maximum");
    n->above = number(o, "exclusiveMinimum");
    n->below = number(o, "exclusiveMaximum");
    /* The draft-4 spelling, which tool definitions still use: a flag beside the limit. */
    if (json_bool(json_get(o, "exclusiveMinimum"), false))
        n->above = n->minimum;
    if (json_bool(json_get(o, "exclusiveMaximum"), false))
        n->below = n->maximum;
    n->multiple = number(o, "multipleOf");
    n->min_length = number(o, "minLength");
    n->max_length = number(o, "maxLength");
    n->min_items = number(o, "minItems");
    n->max_items = number(o, "maxItems");
    n->min_members = number(o, "minProperties");
    n->max_members = number(o, "maxProperties");
    n->min_contains = json_double(json_get(o, "minContains"), 1);
    n->max_contains = number(o, "maxContains");
    n->unique = json_bool(json_get(o, "uniqueItems"), false);
}

static struct keyed *keyed_add(struct keyed_list *list, const char *key)
{
    list->items = mem_grow(list->items, &list->cap, list->n, sizeof *list->items);
    struct keyed *k = &list->items[list->n++];
    *k = (struct keyed){.key = key};
    return k;
}

static void node_add(struct node_list *list, struct node *n)
{
    list->items = mem_grow(list->items, &list->cap, list->n, sizeof *list->items);
    list->items[list->n++] = n;
}

static struct pattern *compile_pattern(struct compiler *c, const char *regex)
{
    struct pattern *p = pattern_new(regex, PATTERN_UTF | PATTERN_WHOLE_TEXT, c->err);
    if (!p)
        err_prefix(c->err, "schema '#%s'", buf_str(&c->path));
    return p;
}

static int compile_keyed(struct compiler *c, const struct json *schema, const char *keyword,
                         struct keyed_list *list)
{
    const struct json *object = json_get(schema, keyword);
    if (json_type(object) != JSON_OBJECT)
        return 0;
    size_t before = c->path.len;
    buf_addf(&c->path, "/%s", keyword);
    bool patterns = strcmp(keyword, "patternProperties") == 0;
    for (const struct json *m = json_first(object); m; m = json_next(m)) {
        struct pattern *p = NULL;
        if (patterns && !(p = compile_pattern(c, json_key(m))))
            return -1;
        struct keyed *k = keyed_add(list, json_key(m));
        k->pattern = p;
        k->node = compile(c, m, json_key(m));
        if (!k->node)
            return -1;
    }
    c->path.data[c->path.len = before] = '\0';
    return 0;
}

static int compile_list(struct compiler *c, const struct json *array, struct node_list *list)
{
    if (json_type(array) != JSON_ARRAY)
        return 0;
    for (const struct json *m = json_first(array); m; m = json_next(m)) {
        struct node *n = compile(c, m, "*");
        if (!n)
            return -1;
        node_add(list, n);
    }
    return 0;
}

static int compile_child(struct compiler *c, const struct json *object, const char *key,
                         struct node **child)
{
    const struct json *source = json_get(object, key);
    enum json_type t = json_type(source);
    if (t != JSON_OBJECT && t != JSON_BOOL)
        return 0;
    *child = compile(c, source, key);
    return *child ? 0 : -1;
}

static void decode_step(const char *from, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        if (from[i] == '%' && i + 2 < len && strspn(from + i + 1, "0123456789abcdefABCDEF") >= 2) {
            char hex[3] = {from[i + 1], from[i + 2], '\0'};
            byte = (unsigned)strtoul(hex, NULL, 16);
            buf_addc(out, (char)byte);
            i += 2;
        } else {
            buf_addc(out, from[i]);
        }
    }
    /* ~1 and ~0 are resolved after the percent signs, in that order. */
    size_t to = 0;
    for (size_t i = 0; i < out->len; i++) {
        char ch = out->data[i];
        if (ch == '~' && i + 1 < out->len && (out->data[i + 1] == '0' || out->data[i + 1] == '1'))
            ch = out->data[++i] == '1' ? '/' : '~';
        out->data[to++] = ch;
    }
    if (out->data)
        out->data[to] = '\0';
    out->len = to;
}

static const struct json *follow_pointer(const struct json *root, const char *pointer)
{
    const struct json *v = root;
    while (v && *pointer == '/') {
        const char *end = strchr(++pointer, '/');
        size_t len = end ? (size_t)(end - pointer) : strlen(pointer);
        struct buf step = BUF_INIT;
        decode_step(pointer, len, &step);
        v = json_type(v) == JSON_ARRAY ? json_at(v, strtoul(buf_str(&step), NULL, 10))
                                       : json_get(v, buf_str(&step));
        buf_release(&step);
        pointer += len;
    }
    return *pointer ? NULL : v;
}

static const struct json *find_anchor(const struct json *v, const char *name, int depth)
{
    const char *anchor = json_text(json_get(v, "$anchor"));
    if (anchor && strcmp(anchor, name) == 0)
        return v;
    if (depth > MAX_DEPTH)
        return NULL;
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const struct json *found = find_anchor(m, name, depth + 1);
        if (found)
            return found;
    }
    return NULL;
}

static int compile_ref(struct compiler *c, struct node *n)
{
    const char *ref = json_text(json_get(n->source, "$ref"));
    if (!ref)
        return 0;
    const struct json *target = NULL;
    if (ref[0] == '#')
        target = ref[1] && ref[1] != '/' ? find_anchor(c->s->root, ref + 1, 0)
                                         : follow_pointer(c->s->root, ref + 1);
    if (!target)
        return err_set(c->err, STATUS_USAGE,
                       "schema '#%s': $ref '%s' leads to nothing in this document",
                       buf_str(&c->path), ref);
    n->ref = compile(c, target, ref);
    return n->ref ? 0 : -1;
}

static int compile_pattern_keyword(struct compiler *c, struct node *n)
{
    n->pattern_text = json_text(json_get(n->source, "pattern"));
    if (!n->pattern_text)
        return 0;
    n->pattern = compile_pattern(c, n->pattern_text);
    return n->pattern ? 0 : -1;
}

/* "items" as a list is the older spelling of prefixItems. */
static int compile_items(struct compiler *c, struct node *n)
{
    const struct json *o = n->source, *items = json_get(o, "items");
    if (compile_list(c, json_get(o, "prefixItems"), &n->prefix) < 0)
        return -1;
    if (json_type(items) != JSON_ARRAY)
        return compile_child(c, o, "items", &n->items);
    if (!n->prefix.n && compile_list(c, items, &n->prefix) < 0)
        return -1;
    return compile_child(c, o, "additionalItems", &n->items);
}

static void read_dependent_required(struct node *n)
{
    const struct json *object = json_get(n->source, "dependentRequired");
    if (json_type(object) != JSON_OBJECT)
        return;
    for (const struct json *m = json_first(object); m; m = json_next(m))
        keyed_add(&n->needed, json_key(m))->needed = m;
}

static int compile_parts(struct compiler *c, struct node *n)
{
    const struct json *o = n->source;
    const struct {
        const char *key;
        struct node **child;
    } children[] = {
        {"additionalProperties", &n->other_members},
        {"propertyNames", &n->member_names},
        {"contains", &n->contains},
        {"unevaluatedProperties", &n->unevaluated_members},
        {"unevaluatedItems", &n->unevaluated_items},
        {"not", &n->negated},
        {"if", &n->condition},
        {"then", &n->then},
        {"else", &n->otherwise},
    };
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (compile_child(c, o, children[i].key, children[i].child) < 0)
            return -1;
    if (compile_keyed(c, o, "properties", &n->members) < 0 ||
        compile_keyed(c, o, "patternProperties", &n->member_patterns) < 0 ||
        compile_keyed(c, o, "dependentSchemas", &n->dependent) < 0)
        return -1;
    if (compile_list(c, json_get(o, "allOf"), &n->all) < 0 ||
        compile_list(c, json_get(o, "anyOf"), &n->any) < 0 ||
        compile_list(c, json_get(o, "oneOf"), &n->one) < 0)
        return -1;
    if (compile_items(c, n) < 0 || compile_pattern_keyword(c, n) < 0)
        return -1;
    return compile_ref(c, n);
}

/* The slot of `source` in the table: its node, or the free place where that belongs. */
static struct node **find_slot(struct schema *s, const struct json *source)
{
    size_t at = (size_t)rng_mix((uint64_t)(uintptr_t)source);
    for (;; at++) {
        struct node **slot = &s->table[at & (s->table_size - 1)];
        if (!*slot || (*slot)->source == source)
            return slot;
    }
}

static void grow_table(struct schema *s)
{
    free(s->table);
    s->table_size = s->table_size ? s->table_size * 2 : 64;
    s->table = mem_zero(s->table_size, sizeof(struct node *));
    for (size_t i = 0; i < s->n_nodes; i++)
        *find_slot(s, s->nodes[i]->source) = s->nodes[i];
}

static struct node *new_node(struct schema *s, const struct json *source)
{
    struct node *n = mem_zero(1, sizeof *n);
    n->source = source;
    s->nodes = mem_grow(s->nodes, &s->cap, s->n_nodes, sizeof(struct node *));
    s->nodes[s->n_nodes++] = n;
    *find_slot(s, source) = n;
    return n;
}

static struct node *compile_node(struct compiler *c, const struct json *source)
{
    struct schema *s = c->s;
    if (s->n_nodes * 2 >= s->table_size)
        grow_table(s);
    struct node *n = *find_slot(s, source); /* met before: a reference, perhaps to itself */
    if (n)
        return n;
    if (s->n_nodes >= MAX_NODES || c->depth > MAX_DEPTH) {
        err_set(c->err, STATUS_USAGE, "schema '#%s' is too large or too deep", buf_str(&c->path));
        return NULL;
    }
    n = new_node(s, source);
    if (json_type(source) != JSON_OBJECT) {
        n->kind = json_bool(source, true) ? SCHEMA_TRUE : SCHEMA_FALSE;
        return n;
    }
    n->kind = SCHEMA_OBJECT;
    read_types(n, json_get(source, "type"));
    read_numbers(n, source);
    const struct json *list = json_get(source, "enum");
    n->enumeration = json_type(list) == JSON_ARRAY ? list : NULL;
    n->constant = json_get(source, "const");
    list = json_get(source, "required");
    n->required = json_type(list) == JSON_ARRAY ? list : NULL;
    read_dependent_required(n);
    return compile_parts(c, n) < 0 ? NULL : n;
}

static struct node *compile(struct compiler *c, const struct json *source, const char *step)
{
    size_t before = c->path.len;
    buf_addf(&c->path, "/%s", step);
    c->depth++;
    struct node *n = compile_node(c, source);
    c->depth--;
    if (n && c->path.data)
        c->path.data[c->path.len = before] = '\0';
    return n;
}

int schema_compile(struct schema *s, struct err *err)
{
    struct compiler c = {.s = s, .err = err, .path = {.cap = 2000}};
    s->top = compile_node(&c, s->root);
    buf_release(&c.path);
    return s->top ? 0 : -1;
}
