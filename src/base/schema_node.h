/* schema_node.h - a compiled schema, shared by the two halves of schema.c and by nothing else. */
#ifndef SCHEMA_NODE_H
#define SCHEMA_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct json;
struct node;
struct pattern;

/* A key with what hangs on it: a subschema, a regular expression, or a list of needed keys. */
struct keyed {
    const char *key;
    struct pattern *pattern; /* patternProperties only */
    struct node *node;
    const struct json *needed; /* dependentRequired only */
};

struct keyed_list {
    struct keyed *items;
    size_t n, cap;
};

struct node_list {
    struct node **items;
    size_t n, cap;
};

enum { SCHEMA_FALSE, SCHEMA_TRUE, SCHEMA_OBJECT };

struct node {
    const struct json *source;
    int kind;
    unsigned types;   /* bit per enum json_type, and TYPE_INTEGER; 0 = any */
    char wanted[100]; /* the types in words */
    const struct json *enumeration, *constant, *required;
    double minimum, maximum, above, below, multiple; /* NaN = not there */
    double min_length, max_length, min_items, max_items, min_members, max_members;
    double min_contains, max_contains;
    bool unique;
    struct pattern *pattern;
    const char *pattern_text;
    struct keyed_list members, member_patterns, dependent, needed;
    struct node *other_members, *member_names, *items, *contains;
    struct node *unevaluated_members, *unevaluated_items;
    struct node_list prefix, all, any, one;
    struct node *negated, *condition, *then, *otherwise, *ref;
};

#define TYPE_INTEGER (1u << 16)

struct schema {
    const struct json *root;
    struct node **nodes;
    size_t n_nodes, cap;
    struct node **table; /* by source, open addressing; a power of two in size */
    size_t table_size;
    struct node *top;
};

/* Fills s->nodes and s->top from s->root. */
int schema_compile(struct schema *s, struct err *err);

/* True if two elements are equal. */
bool schema_repeats(const struct json *array);

#endif
