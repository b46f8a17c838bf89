/* schema.c - does a JSON value obey a compiled schema, and if not, where.
 *
 * One function per group of keywords. Knows nothing of regular expressions or references beyond
 * their compiled form, and never fails on a schema it does not understand: what it can't decide
 * within its limits counts as obeyed. */
#include "schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "pattern.h"
#include "schema_node.h"

/* Subschemas entered within each other, references included. */
#define MAX_DEPTH 700

/* Subschemas entered in all for one value: bounds schemas that branch without end. */
#define MAX_STEPS 5000000L

/* Where in the value we are, innermost first. */
struct place {
    const struct place *outer;
    const char *key; /* NULL: element `index` */
    size_t index;
};

struct checker {
    struct err *err;
    int depth;
    long steps;
};

/* Which members or elements of one value some subschema has looked at; only kept if the schema
 * asks ("unevaluated..."). */
struct marks {
    unsigned char *seen; /* NULL: not kept */
    size_t n;
};

static int check(struct checker *c, const struct node *n, const struct json *v,
                 const struct place *at, struct marks *marks);

static void add_place(struct buf *out, const struct place *at)
{
    if (!at)
        return;
    add_place(out, at->outer);
    if (at->key)
        buf_addf(out, "%s%s", out->len ? "." : "", at->key);
    else
        buf_addf(out, "[%zu]", at->index);
}

static int broken(struct checker *c, const struct place *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int broken(struct checker *c, const struct place *at, const char *format, ...)
{
    if (!c->err)
        return -1;
    struct buf path = {.cap = 300}, text = {.cap = 600};
    add_place(&path, at);
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    if (path.len)
        err_set(c->err, STATUS_USAGE, "'%s' %s", buf_str(&path), buf_str(&text));
    else
        err_set(c->err, STATUS_USAGE, "the value %s", buf_str(&text));
    buf_release(&path);
    buf_release(&text);
    return -1;
}

/* Whether `n` holds, without a word about why not. Marks are kept only if it does. */
static bool holds(struct checker *c, const struct node *n, const struct json *v,
                  struct marks *marks)
{
    struct err *err = c->err;
    struct marks own = {NULL, marks->n};
    if (marks->seen)
        own.seen = mem_zero(marks->n + 1, 1);
    c->err = NULL;
    bool ok = check(c, n, v, NULL, &own) == 0;
    c->err = err;
    for (size_t i = 0; ok && own.seen && i < own.n; i++)
        marks->seen[i] |= own.seen[i];
    free(own.seen);
    return ok;
}

static int check_type(struct checker *c, const struct node *n, const struct json *v,
                      const struct place *at)
{
    enum json_type t = json_type(v);
    if (!n->types || n->types & 1u << t)
        return 0;
    double d = json_double(v, NAN);
    if (n->types & TYPE_INTEGER && t == JSON_NUMBER && floor(d) == d)
        return 0;
    return broken(c, at, "must be %s", n->wanted);
}

static int check_choice(struct checker *c, const struct node *n, const struct json *v,
                        const struct place *at)
{
    if (n->constant && !json_equal(v, n->constant)) {
        struct buf want = {.cap = 200};
        json_print(n->constant, &want);
        int result = broken(c, at, "must be %s", buf_str(&want));
        buf_release(&want);
        return result;
    }
    if (!n->enumeration)
        return 0;
    for (const struct json *e = json_first(n->enumeration); e; e = json_next(e))
        if (json_equal(v, e))
            return 0;
    struct buf want = {.cap = 200};
    json_print(n->enumeration, &want);
    int result = broken(c, at, "must be one of %s", buf_str(&want));
    buf_release(&want);
    return result;
}

static bool is_multiple(double value, double unit)
{
    double quotient = value / unit;
    if (!isfinite(quotient))
        return fmod(value, unit) == 0;
    return fabs(quotient - round(quotient)) <= 1e-9 * fmax(1, fabs(quotient)) &&
           (fabs(quotient) < 1e15 || fabs(unit) < 1 || fmod(value, unit) == 0);
}

static int check_number(struct checker *c, const struct node *n, const struct json *v,
                        const struct place *at)
{
    double d = json_double(v, NAN);
    if (d < n->minimum)
        return broken(c, at, "must be at least %.15g", n->minimum);
    if (d > n->maximum)
        return broken(c, at, "must be at most %.15g", n->maximum);
    if (d <= n->above)
        return broken(c, at, "must be above %.15g", n->above);
    if (d >= n->below)
        return broken(c, at, "must be below %.15g", n->below);
    if (n->multiple > 0 && !is_multiple(d, n->multiple))
        return broken(c, at, "must be a multiple of %.15g", n->multiple);
    return 0;
}

/* Code points; the loose form of NULs and lone surrogates counts one each. */
static double text_length(struct span s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.data[i] & 0xC0) != 0x80;
    return (double)n;
}

static int check_text(struct checker *c, const struct node *n, const struct json *v,
                      const struct place *at)
{
    struct span s = json_span(v);
    if (!isnan(n->min_length) || !isnan(n->max_length)) {
        double length = text_length(s);
        if (length < n->min_length)
            return broken(c, at, "must have at least %.15g characters", n->min_length);
        if (length > n->max_length)
            return broken(c, at, "must have at most %.15g characters", n->max_length);
    }
    struct pattern_hit hit;
    if (n->pattern && pattern_find(n->pattern, s, 0, &hit) == PATTERN_NO)
        return broken(c, at, "must match '%s'", n->pattern_text);
    return 0;
}

static int check_contains(struct checker *c, const struct node *n, const struct json *v,
                          const struct place *at, struct marks *marks)
{
    double found = 0;
    size_t i = 0;
    for (const struct json *e = json_first(v); e; e = json_next(e), i++) {
        struct marks inner = {NULL, 0};
        if (!holds(c, n->contains, e, &inner))
            continue;
        found++;
        if (marks->seen)
            marks->seen[i] = 1;
    }
    if (found < n->min_contains)
        return broken(c, at, "must contain at least %.15g matching elements", n->min_contains);
    if (found > n->max_contains)
        return broken(c, at, "must contain at most %.15g matching elements", n->max_contains);
    return 0;
}

/* A subschema for a member or element, whose own marks nobody asks for out here. */
static int check_part(struct checker *c, const struct node *n, const struct json *v,
                      const struct place *at)
{
    struct marks marks = {NULL, 0};
    return check(c, n, v, at, &marks);
}

static int check_array(struct checker *c, const struct node *n, const struct json *v,
                       const struct place *at, struct marks *marks)
{
    double count = (double)json_count(v);
    if (count < n->min_items)
        return broken(c, at, "must have at least %.15g elements", n->min_items);
    if (count > n->max_items)
        return broken(c, at, "must have at most %.15g elements", n->max_items);
    size_t i = 0;
    for (const struct json *e = json_first(v); e; e = json_next(e), i++) {
        const struct node *part = i < n->prefix.n ? n->prefix.items[i] : n->items;
        struct place here = {at, NULL, i};
        if (!part)
            break;
        if (check_part(c, part, e, &here) < 0)
            return -1;
        if (marks->seen)
            marks->seen[i] = 1;
    }
    if (n->unique && schema_repeats(v))
        return broken(c, at, "must have no element twice");
    return n->contains ? check_contains(c, n, v, at, marks) : 0;
}

/* One member against properties, patternProperties and additionalProperties. */
static int check_member(struct checker *c, const struct node *n, const struct json *m,
                        const struct place *at, unsigned char *seen)
{
    const char *key = json_key(m);
    struct place here = {at, key, 0};
    bool known = false;
    for (size_t i = 0; i < n->members.n; i++) {
        if (strcmp(n->members.items[i].key, key) != 0)
            continue;
        known = true;
        if (check_part(c, n->members.items[i].node, m, &here) < 0)
            return -1;
    }
    struct pattern_hit hit;
    for (size_t i = 0; i < n->member_patterns.n; i++) {
        const struct keyed *k = &n->member_patterns.items[i];
        if (pattern_find(k->pattern, span_of(key), 0, &hit) != PATTERN_YES)
            continue;
        known = true;
        if (check_part(c, k->node, m, &here) < 0)
            return -1;
    }
    if (!known && n->other_members) {
        if (n->other_members->kind == SCHEMA_FALSE)
            return broken(c, &here, "is not allowed here");
        known = true;
        if (check_part(c, n->other_members, m, &here) < 0)
            return -1;
    }
    if (known && seen)
        *seen = 1;
    return 0;
}

static int check_name(struct checker *c, const struct node *n, const struct json *m,
                      const struct place *at)
{
    struct buf text = BUF_INIT;
    json_quote(&text, span_of(json_key(m)));
    struct json *name = json_parse(buf_span(&text), NULL);
    buf_release(&text);
    struct marks none = {NULL, 0};
    bool ok = !name || holds(c, n->member_names, name, &none);
    json_free(name);
    return ok ? 0 : broken(c, at, "has a member of a wrong name, '%s'", json_key(m));
}

static int check_needed(struct checker *c, const struct node *n, const struct json *v,
                        const struct place *at, struct marks *marks)
{
    for (const struct json *k = json_first(n->required); k; k = json_next(k))
        if (json_text(k) && !json_get(v, json_text(k)))
            return broken(c, at, "lacks '%s'", json_text(k));
    for (size_t i = 0; i < n->needed.n; i++) {
        if (!json_get(v, n->needed.items[i].key))
            continue;
        for (const struct json *k = json_first(n->needed.items[i].needed); k; k = json_next(k))
            if (json_text(k) && !json_get(v, json_text(k)))
                return broken(c, at, "has '%s' but lacks '%s'", n->needed.items[i].key,
                              json_text(k));
    }
    for (size_t i = 0; i < n->dependent.n; i++)
        if (json_get(v, n->dependent.items[i].key) &&
            check(c, n->dependent.items[i].node, v, at, marks) < 0)
            return -1;
    return 0;
}

static int check_object(struct checker *c, const struct node *n, const struct json *v,
                        const struct place *at, struct marks *marks)
{
    if (check_needed(c, n, v, at, marks) < 0)
        return -1;
    if (!isnan(n->min_members) || !isnan(n->max_members)) {
        double count = (double)json_count(v);
        if (count < n->min_members)
            return broken(c, at, "must have at least %.15g members", n->min_members);
        if (count > n->max_members)
            return broken(c, at, "must have at most %.15g members", n->max_members);
    }
    size_t i = 0;
    for (const struct json *m = json_first(v); m; m = json_next(m), i++) {
        if (n->member_names && check_name(c, n, m, at) < 0)
            return -1;
        if (check_member(c, n, m, at, marks->seen ? &marks->seen[i] : NULL) < 0)
            return -1;
    }
    return 0;
}

static int check_any(struct checker *c, const struct node *n, const struct json *v,
                     const struct place *at, struct marks *marks)
{
    bool any = !n->any.n;
    for (size_t i = 0; i < n->any.n && (!any || marks->seen); i++)
        any = holds(c, n->any.items[i], v, marks) || any;
    if (!any)
        return broken(c, at, "fits none of the %zu allowed forms", n->any.n);
    size_t fits = 0;
    for (size_t i = 0; i < n->one.n; i++)
        fits += holds(c, n->one.items[i], v, marks);
    if (n->one.n && fits != 1)
        return broken(c, at, "fits %zu of %zu forms, must fit one", fits, n->one.n);
    return 0;
}

static int check_combined(struct checker *c, const struct node *n, const struct json *v,
                          const struct place *at, struct marks *marks)
{
    if (n->ref && check(c, n->ref, v, at, marks) < 0)
        return -1;
    for (size_t i = 0; i < n->all.n; i++)
        if (check(c, n->all.items[i], v, at, marks) < 0)
            return -1;
    if (check_any(c, n, v, at, marks) < 0)
        return -1;
    struct marks none = {NULL, marks->n};
    if (n->negated && holds(c, n->negated, v, &none))
        return broken(c, at, "has a form that is excluded");
    if (n->condition) {
        const struct node *then = holds(c, n->condition, v, marks) ? n->then : n->otherwise;
        if (then && check(c, then, v, at, marks) < 0)
            return -1;
    }
    return 0;
}

static int check_unevaluated(struct checker *c, const struct node *n, const struct json *v,
                             const struct place *at, struct marks *marks)
{
    bool object = json_type(v) == JSON_OBJECT;
    const struct node *rest = object ? n->unevaluated_members : n->unevaluated_items;
    if (!rest || (!object && json_type(v) != JSON_ARRAY))
        return 0;
    size_t i = 0;
    for (const struct json *m = json_first(v); m; m = json_next(m), i++) {
        struct place here = {at, object ? json_key(m) : NULL, i};
        if (marks->seen[i])
            continue;
        if (rest->kind == SCHEMA_FALSE)
            return broken(c, &here, "is not allowed here");
        if (check_part(c, rest, m, &here) < 0)
            return -1;
        marks->seen[i] = 1;
    }
    return 0;
}

static int check_node(struct checker *c, const struct node *n, const struct json *v,
                      const struct place *at, struct marks *marks)
{
    if (check_type(c, n, v, at) < 0 || check_choice(c, n, v, at) < 0)
        return -1;
    enum json_type t = json_type(v);
    int result = t == JSON_NUMBER   ? check_number(c, n, v, at)
                 : t == JSON_STRING ? check_text(c, n, v, at)
                 : t == JSON_ARRAY  ? check_array(c, n, v, at, marks)
                 : t == JSON_OBJECT ? check_object(c, n, v, at, marks)
                                    : 0;
    return result < 0 ? -1 : check_combined(c, n, v, at, marks);
}

static int check(struct checker *c, const struct node *n, const struct json *v,
                 const struct place *at, struct marks *marks)
{
    if (n->kind != SCHEMA_OBJECT)
        return n->kind == SCHEMA_TRUE ? 0 : broken(c, at, "is not allowed here");
    if (c->depth >= MAX_DEPTH || ++c->steps > MAX_STEPS)
        return 0;
    c->depth++;
    struct marks own = *marks;
    bool asks = n->unevaluated_members || n->unevaluated_items;
    if (asks) {
        own.n = json_count(v);
        own.seen = mem_zero(own.n + 1, 1);
    }
    int result = check_node(c, n, v, at, &own);
    if (asks) {
        if (result == 0)
            result = check_unevaluated(c, n, v, at, &own);
        for (size_t i = 0; result == 0 && marks->seen && i < own.n; i++)
            marks->seen[i] |= own.seen[i];
        free(own.seen);
    }
    c->depth--;
    return result;
}

int schema_check(const struct schema *s, const struct json *value, struct err *err)
{
    struct checker c = {.err = err};
    struct marks none = {NULL, 0};
    return check(&c, s->top, value, NULL, &none);
}

struct schema *schema_new(const struct json *root, struct err *err)
{
    struct schema *s = mem_zero(1, sizeof *s);
    s->root = root;
    if (schema_compile(s, err) < 0) {
        schema_free(s);
        return NULL;
    }
    return s;
}

static void free_keyed(struct keyed_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        pattern_free(list->items[i].pattern);
    free(list->items);
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_nodes; i++) {
        struct node *n = s->nodes[i];
        pattern_free(n->pattern);
        free_keyed(&n->members);
        free_keyed(&n->member_patterns);
        free_keyed(&n->dependent);
        free_keyed(&n->needed);
        free(n->prefix.items);
        free(n->all.items);
        free(n->any.items);
        free(n->one.items);
        free(n);
    }
    free(s->nodes);
    free(s->table);
    free(s);
}
