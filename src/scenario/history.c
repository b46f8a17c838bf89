/* history.c - finds the conversation in a capture and puts it in front of a scenario. What the
 * scenario asks afterwards has known answers; what was captured has none. */
#include "history.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define MAX_MESSAGES 10000

struct capture {
    struct span messages, tools; /* raw arrays in the captured text */
    size_t n;                    /* messages */
    size_t kept;                 /* of them, without calls that have no result at the end */
};

/* The body inside a line of a log, or the line itself. */
static struct span body_of(struct span value)
{
    struct span inner = json_raw_get(value, "request");
    struct span body = json_raw_get(inner, "body");
    if (body.len && body.data[0] == '{')
        return body;
    return inner.len && inner.data[0] == '{' ? inner : value;
}

static bool is_value(struct span text)
{
    return json_check(text) < 0;
}

/* What one JSON value says; false if it holds no messages. */
static bool read_value(struct span value, struct capture *c)
{
    size_t blank = 0;
    while (blank < value.len && strchr(" \t\r\n", value.data[blank]))
        blank++;
    value = (struct span){value.data + blank, value.len - blank};
    if (!value.len || !is_value(value))
        return false;
    if (value.data[0] == '[') {
        *c = (struct capture){.messages = value};
    } else {
        struct span body = body_of(value);
        *c = (struct capture){json_raw_get(body, "messages"), json_raw_get(body, "tools"), 0, 0};
    }
    if (!c->messages.len || c->messages.data[0] != '[')
        return false;
    struct json *list = json_parse(c->messages, NULL);
    c->n = json_count(list);
    json_free(list);
    return c->n > 0;
}

/* Of several lines the longest conversation: logs repeat it with every request. */
static bool find(struct span text, struct capture *best)
{
    if (read_value(text, best))
        return true;
    *best = (struct capture){.n = 0};
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        struct capture one = {.n = 0};
        if (read_value((struct span){text.data + at, len}, &one) && one.n > best->n)
            *best = one;
        at += len + 1;
    }
    return best->n > 0;
}

static bool is_role(const char *role)
{
    static const char *const known[] = {"system",    "developer", "user",
                                        "assistant", "tool",      "function"};
    for (size_t i = 0; role && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(role, known[i]) == 0)
            return true;
    return false;
}

/* Checks the messages and counts those that may be sent. */
static int check(struct capture *c, struct err *err)
{
    struct json *list = json_parse(c->messages, err);
    size_t i = 0, open = 0, unanswered = 0;
    int rc = list ? 0 : -1;
    if (c->n > MAX_MESSAGES)
        rc = err_set(err, STATUS_USAGE, "%zu messages; at most %d can be used", c->n, MAX_MESSAGES);
    for (const struct json *m = json_first(list); rc == 0 && m; m = json_next(m), i++) {
        const char *role = json_text(json_get(m, "role"));
        if (!is_role(role))
            rc = err_set(err, STATUS_USAGE,
                         "'messages[%zu].role' must be system, developer, user, assistant, tool or "
                         "function",
                         i);
        else if (strcmp(role, "tool") == 0)
            unanswered -= unanswered > 0;
        else
            unanswered = json_count(json_get(m, "tool_calls"));
        if (rc == 0 && strcmp(role, "assistant") == 0)
            open = i;
    }
    c->kept = unanswered ? open : c->n;
    if (rc == 0 && c->kept == 0)
        rc = err_set(err, STATUS_USAGE, "nothing but calls without a result");
    json_free(list);
    return rc;
}

static void add_messages(const struct capture *c, struct jsonw *w)
{
    jsonw_key(w, "history");
    jsonw_array(w);
    for (size_t i = 0; i < c->kept; i++)
        jsonw_raw(w, json_raw_at(c->messages, i));
    jsonw_end_array(w);
}

static bool offers(const struct json *tools, const char *name)
{
    for (const struct json *t = json_first(tools); t; t = json_next(t)) {
        const char *other = json_text(json_get(json_get(t, "function"), "name"));
        if (name && other && strcmp(name, other) == 0)
            return true;
    }
    return false;
}

/* The captured tools, then the scenario's; of two with one name the scenario's, whose calls have a
 * known result. */
static void add_tools(const struct capture *c, struct span own, struct jsonw *w)
{
    struct json *mine = own.len ? json_parse(own, NULL) : NULL;
    struct json *theirs = c->tools.len ? json_parse(c->tools, NULL) : NULL;
    size_t n = json_count(theirs);
    jsonw_key(w, "tools");
    jsonw_array(w);
    for (size_t i = 0; i < n; i++)
        if (!offers(mine, json_text(json_get(json_get(json_at(theirs, i), "function"), "name"))))
            jsonw_raw(w, json_raw_at(c->tools, i));
    for (size_t i = 0; i < json_count(mine); i++)
        jsonw_raw(w, json_raw_at(own, i));
    jsonw_end_array(w);
    json_free(mine);
    json_free(theirs);
}

static void write(struct span scenario, const struct capture *c, struct buf *out)
{
    struct json *tree = json_parse(scenario, NULL);
    struct jsonw w = {.out = out};
    jsonw_object(&w);
    for (const struct json *m = json_first(tree); m; m = json_next(m)) {
        const char *key = json_key(m);
        if (strcmp(key, "tools") == 0 || strcmp(key, "history") == 0)
            continue;
        jsonw_key(&w, key);
        if (strcmp(key, "name") == 0) {
            struct buf name = BUF_INIT;
            buf_addf(&name, "%.50s.history", json_text(m));
            jsonw_text(&w, buf_str(&name));
            buf_release(&name);
        } else {
            jsonw_raw(&w, json_raw_get(scenario, key));
        }
    }
    add_messages(c, &w);
    add_tools(c, json_raw_get(scenario, "tools"), &w);
    jsonw_end_object(&w);
    json_free(tree);
}

int history_begin(struct span scenario, struct span captured, struct buf *out, struct err *err)
{
    struct capture c = {.n = 0};
    if (!find(captured, &c))
        return err_set(err, STATUS_USAGE,
                       "no messages: expected a request body, an array of messages, or lines of a "
                       "log that hold one");
    if (check(&c, err) != 0)
        return -1;
    write(scenario, &c, out);
    return 0;
}
