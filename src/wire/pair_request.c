/* pair_request.c - what a chat request that somebody else wrote says of the reply that is due. It
 * is lenient where logs differ, and takes nothing for demanded that the request does not demand. */
#include "pair_request.h"

#include <stdbool.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

static const char *name_in(const struct json *v)
{
    return json_text(json_get(v, "name"));
}

/* The name that a call of this tool would carry, whatever kind of tool it is; or NULL. */
static const char *tool_name(const struct json *tool)
{
    const char *name = name_in(json_get(tool, "function"));
    const char *type = json_text(json_get(tool, "type"));
    name = name ? name : name_in(tool);
    return name || !type ? name : name_in(json_get(tool, type));
}

static void add_tool(const struct json *tool, struct buf *out)
{
    const struct json *function = json_get(tool, "function");
    const struct json *parameters = json_get(function ? function : tool, "parameters");
    const char *name = tool_name(tool);
    if (!name)
        return;
    buf_adds(out, out->len && out->data[out->len - 1] != '[' ? "," : "");
    buf_adds(out, "{\"type\":\"function\",\"function\":{\"name\":");
    json_quote(out, span_of(name));
    if (json_type(parameters) == JSON_OBJECT) {
        buf_adds(out, ",\"parameters\":");
        json_print(parameters, out);
    }
    buf_adds(out, "}}");
}

/* Returns whether any call can be made. */
static bool add_tools(const struct json *request, struct buf *asked)
{
    static const char *const fields[] = {"tools", "functions"};
    struct buf list = BUF_INIT;
    buf_addc(&list, '[');
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct json *tools = json_get(request, fields[i]);
        if (json_type(tools) != JSON_ARRAY)
            continue;
        for (const struct json *tool = json_first(tools); tool; tool = json_next(tool))
            add_tool(tool, &list);
    }
    bool any = list.len > 1;
    buf_addf(asked, ",\"tools\":%s]", buf_str(&list));
    buf_release(&list);
    return any;
}

static void demand_call(const char *name, struct buf *asked)
{
    buf_adds(asked, ",\"tool_expected\":true,\"tool_choice\":");
    json_quote(asked, span_of(name ? "named" : "required"));
    if (!name)
        return;
    buf_adds(asked, ",\"expect_calls\":[");
    json_quote(asked, span_of(name));
    buf_addc(asked, ']');
}

static void add_choice(const struct json *request, struct buf *asked)
{
    const struct json *choice = json_get(request, "tool_choice");
    if (!choice)
        choice = json_get(request, "function_call");
    const char *name = name_in(json_get(choice, "function"));
    const char *word = json_text(choice);
    name = name ? name : name_in(choice);
    word = word ? word : json_text(json_get(choice, "type"));
    if (name)
        demand_call(name, asked);
    else if (word && (strcmp(word, "required") == 0 || strcmp(word, "any") == 0))
        demand_call(NULL, asked);
    else if (word && strcmp(word, "none") == 0)
        buf_adds(asked, ",\"tool_choice\":\"none\"");
}

static void add_limit(const struct json *request, struct buf *asked)
{
    long limit = json_long(json_get(request, "max_completion_tokens"), 0);
    if (limit <= 0)
        limit = json_long(json_get(request, "max_tokens"), 0);
    if (limit > 0)
        buf_addf(asked, ",\"max_tokens\":%ld", limit);
}

static void add_content(const struct json *content, struct buf *prompt)
{
    if (json_type(content) == JSON_STRING) {
        utf8_add_loose(prompt, json_span(content));
        buf_adds(prompt, "\n\n");
    }
    if (json_type(content) == JSON_ARRAY)
        for (const struct json *part = json_first(content); part; part = json_next(part))
            add_content(json_type(part) == JSON_STRING ? part : json_get(part, "text"), prompt);
}

static void add_prompt(const struct json *messages, struct buf *prompt)
{
    prompt->cap = PAIR_MAX_PROMPT;
    for (const struct json *m = json_first(messages); m && !prompt->full; m = json_next(m)) {
        const char *role = json_text(json_get(m, "role"));
        if (!role || strcmp(role, "assistant") != 0)
            add_content(json_get(m, "content"), prompt);
    }
}

int pair_request_read(const struct json *request, struct buf *asked, struct buf *prompt,
                      struct err *err)
{
    const struct json *messages = json_get(request, "messages");
    if (json_type(messages) != JSON_ARRAY)
        return err_set(err, STATUS_USAGE, "no chat request: it has no list of messages");
    /* Without tools on offer every call is one too many. */
    if (add_tools(request, asked))
        add_choice(request, asked);
    else
        buf_adds(asked, ",\"tool_choice\":\"none\"");
    add_limit(request, asked);
    add_prompt(messages, prompt);
    return 0;
}
