/* generic.c - honest answers for any OpenAI client. It reads the request's tree; it knows neither
 * scenarios nor sessions. */
#include "generic.h"

#include <string.h>

#include "buf.h"
#include "expect.h"
#include "json.h"
#include "reply.h"

#define MAX_DEPTH   16 /* of a made value; deeper is an empty object */
#define MAX_ELEMENT 64 /* elements or characters that a schema's minimum can ask for */

static void add_value(const struct json *schema, struct buf *out, int depth);

static long bounded(const struct json *schema, const char *key, long absent)
{
    long n = json_long(json_get(schema, key), absent);
    return n < 0 ? 0 : n > MAX_ELEMENT ? MAX_ELEMENT : n;
}

static void add_object(const struct json *schema, struct buf *out, int depth)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *required = json_get(schema, "required");
    buf_addc(out, '{');
    for (const struct json *name = json_first(required); name; name = json_next(name)) {
        if (!json_text(name))
            continue;
        if (name != json_first(required))
            buf_addc(out, ',');
        json_quote(out, json_span(name));
        buf_addc(out, ':');
        add_value(json_get(properties, json_text(name)), out, depth + 1);
    }
    buf_addc(out, '}');
}

static void add_array(const struct json *schema, struct buf *out, int depth)
{
    buf_addc(out, '[');
    for (long i = 0, n = bounded(schema, "minItems", 1); i < n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        add_value(json_get(schema, "items"), out, depth + 1);
    }
    buf_addc(out, ']');
}

static void add_string(const struct json *schema, struct buf *out)
{
    static const char text[] = "sample";
    long min = bounded(schema, "minLength", 0), max = bounded(schema, "maxLength", MAX_ELEMENT);
    long len = (long)sizeof text - 1;
    buf_addc(out, '"');
    for (long i = 0; i < min || (i < len && i < max); i++)
        buf_addc(out, text[i % len]);
    buf_addc(out, '"');
}

static void add_number(const struct json *schema, struct buf *out)
{
    double n = json_double(json_get(schema, "minimum"), 1);
    if (json_get(schema, "exclusiveMinimum"))
        n = json_double(json_get(schema, "exclusiveMinimum"), 0) + 1;
    double most = json_double(json_get(schema, "maximum"), n);
    struct jsonw w = {.out = out};
    jsonw_double(&w, most < n ? most : n);
}

static const char *type_of(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");
    const char *name = json_text(type);
    if (!name)
        name = json_text(json_first(type));
    if (name)
        return name;
    return json_get(schema, "properties") ? "object" : "string";
}

static void add_typed(const struct json *schema, struct buf *out, int depth)
{
    const char *type = type_of(schema);
    if (strcmp(type, "object") == 0)
        add_object(schema, out, depth);
    else if (strcmp(type, "array") == 0)
        add_array(schema, out, depth);
    else if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        add_number(schema, out);
    else if (strcmp(type, "boolean") == 0)
        buf_adds(out, "true");
    else if (strcmp(type, "null") == 0)
        buf_adds(out, "null");
    else
        add_string(schema, out);
}

static void add_value(const struct json *schema, struct buf *out, int depth)
{
    const struct json *given = json_get(schema, "const");
    if (!given)
        given = json_first(json_get(schema, "enum"));
    const struct json *branch = json_first(json_get(schema, "anyOf"));
    if (!branch)
        branch = json_first(json_get(schema, "oneOf"));
    if (depth > MAX_DEPTH)
        buf_adds(out, "{}");
    else if (given)
        json_print(given, out);
    else if (branch)
        add_value(branch, out, depth + 1);
    else
        add_typed(schema, out, depth);
}

void generic_value(const struct json *schema, struct buf *out)
{
    if (schema)
        add_value(schema, out, 0);
    else
        buf_adds(out, "{}");
}

/* The function object of the tool that tool_choice names, else of the first one offered; NULL if
 * no call may come. */
static const struct json *choose_tool(const struct json *body)
{
    const struct json *tools = json_get(body, "tools"), *choice = json_get(body, "tool_choice");
    const char *word = json_text(choice);
    if (word && strcmp(word, "none") == 0)
        return NULL;
    const char *name = json_text(json_get(json_get(choice, "function"), "name"));
    for (const struct json *t = json_first(tools); t; t = json_next(t)) {
        const struct json *function = json_get(t, "function");
        const char *own = json_text(json_get(function, "name"));
        if (own && (!name || strcmp(own, name) == 0))
            return function;
    }
    return NULL;
}

static const char *last_role(const struct json *body)
{
    const struct json *messages = json_get(body, "messages");
    size_t n = json_count(messages);
    const char *role = n ? json_text(json_get(json_at(messages, n - 1), "role")) : NULL;
    return role ? role : "user";
}

void generic_reply(struct span body, uint64_t ordinal, struct reply *r)
{
    struct json *tree = json_parse(body, NULL);
    const struct json *tool = choose_tool(tree);
    const char *role = last_role(tree);
    if (tool && strcmp(role, "tool") != 0 && strcmp(role, "assistant") != 0) {
        struct tool_call *c = reply_add_call(r);
        buf_addf(&c->id, "call_%012llx", (unsigned long long)ordinal);
        buf_adds(&c->name, json_text(json_get(tool, "name")));
        generic_value(json_get(tool, "parameters"), &c->args);
    } else if (strcmp(role, "tool") == 0) {
        buf_adds(&r->content, "The tool has answered, and that settles the question.");
    } else {
        buf_adds(&r->content, "Hello, this is the simulated endpoint.");
    }
    json_free(tree);
}

void generic_expect(const struct reply *r, struct expect *e)
{
    *e = (struct expect){.call_due = r->n_calls > 0, .calls_allowed = r->n_calls > 0};
}
