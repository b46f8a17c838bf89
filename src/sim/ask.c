/* ask.c - reads who asks from the header and how from the body's top level. It slices the body
 * and builds no tree, because a body may hold a megabyte of context. It knows nothing of answers.
 */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "sim.h"

static bool read_number(const char *text, long min, long *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < min)
        return false;
    *out = n;
    return true;
}

static bool read_round(const char *text, int *out)
{
    long n;
    if (!read_number(text, 0, &n) || n > 1000000)
        return false;
    *out = (int)n;
    return true;
}

static bool read_name(const char *text, char out[ASK_MAX_NAME])
{
    size_t len = strlen(text);
    if (len >= ASK_MAX_NAME)
        return false;
    memcpy(out, text, len + 1);
    return true;
}

static bool read_member(struct ask *a, const char *key, const char *value)
{
    if (strcmp(key, "scenario") == 0)
        return read_name(value, a->scenario);
    if (strcmp(key, "boot") == 0)
        return read_name(value, a->boot);
    if (strcmp(key, "seed") == 0) {
        char *end;
        a->seed = strtoull(value, &end, 10);
        return end != value && !*end;
    }
    if (strcmp(key, "session") == 0)
        return read_number(value, 1, &a->session);
    if (strcmp(key, "sessions") == 0)
        return read_number(value, 0, &a->sessions);
    if (strcmp(key, "round") == 0)
        return read_round(value, &a->round);
    if (strcmp(key, "rounds") == 0)
        return read_round(value, &a->rounds);
    if (strcmp(key, "context") == 0)
        return read_number(value, 0, &a->context);
    if (strcmp(key, "replay") == 0)
        a->replay = strcmp(value, "1") == 0;
    return true; /* a later client may say more */
}

static int read_header(struct ask *a, const char *header, struct err *err)
{
    char text[1024], *rest = text;
    size_t len = strlen(header);
    if (len >= sizeof text)
        return err_set(err, STATUS_USAGE, SIM_SESSION_HEADER ": longer than %zu bytes",
                       sizeof text - 1);
    memcpy(text, header, len + 1);
    for (char *part; (part = strtok_r(rest, ";", &rest));) {
        part += strspn(part, " ");
        char *equals = strchr(part, '=');
        if (equals)
            *equals = '\0';
        if (!equals || !read_member(a, part, equals + 1))
            return err_set(err, STATUS_USAGE, SIM_SESSION_HEADER ": bad member '%s'", part);
    }
    if (!a->scenario[0] || a->session < 1 || a->round < 1)
        return err_set(err, STATUS_USAGE,
                       SIM_SESSION_HEADER ": scenario, session and round are needed");
    a->named = true;
    return 0;
}

static long raw_long(struct span body, const char *key)
{
    struct span raw = json_raw_get(body, key);
    char text[24] = "";
    if (raw.len == 0 || raw.len >= sizeof text)
        return 0;
    memcpy(text, raw.data, raw.len);
    long n = strtol(text, NULL, 10);
    return n > 0 ? n : 0;
}

static void read_model(struct ask *a, struct span body)
{
    struct json *v = json_parse(json_raw_get(body, "model"), NULL);
    struct span name = json_span(v);
    size_t len = name.len < ASK_MAX_NAME ? name.len : ASK_MAX_NAME - 1;
    if (len)
        memcpy(a->model, name.data, len);
    a->model[len] = '\0';
    json_free(v);
}

int ask_read(struct ask *a, const char *header, struct span body, struct err *err)
{
    *a = (struct ask){0};
    long bad = json_check(body);
    if (bad >= 0)
        return err_set(err, STATUS_USAGE, "the request body is not JSON (offset %ld)", bad);
    struct span messages = json_raw_get(body, "messages");
    if (messages.len == 0 || messages.data[0] != '[')
        return err_set(err, STATUS_USAGE, "'messages' is a required property");
    read_model(a, body);
    a->stream = span_is(json_raw_get(body, "stream"), "true");
    a->no_calls = span_is(json_raw_get(body, "tool_choice"), "\"none\"");
    struct span options = json_raw_get(body, "stream_options");
    a->include_usage = span_is(json_raw_get(options, "include_usage"), "true");
    a->max_tokens = raw_long(body, "max_completion_tokens");
    if (a->max_tokens == 0)
        a->max_tokens = raw_long(body, "max_tokens");
    a->prompt_tokens = (long)(body.len / 4) + 1;
    return header ? read_header(a, header, err) : 0;
}
