/* paircase.c - lines of a log and saved bodies to the reply and the expectation of a case. It knows
 * where logs tend to keep things; what a request demands is pair_request.c's, what bytes mean the
 * decoder's. */
#include "paircase.h"

#include <stdlib.h>
#include <string.h>

#include "case_asked.h"
#include "json.h"
#include "mem.h"
#include "pair_request.h"
#include "utf8.h"

/* Dots of a path that are followed. */
#define MAX_DOTS 16

/* Where things are if nobody says where. The first place that holds something wins. */
static const char *const request_places[] = {"request.body",
                                             "request.postData.text",
                                             "proxy_server_request.body",
                                             "request_body",
                                             "request",
                                             NULL};
static const char *const response_places[] = {"response.body", "response.content.text",
                                              "response_body", "response", NULL};
static const char *const status_places[] = {
    "response.status_code", "response.status", "response_status", "status_code", "status", NULL};
static const char *const stream_places[] = {"stream", "request.stream", NULL};
static const char *const id_places[] = {"id", "custom_id", "request_id", "trace_id", NULL};

/* A value, its bytes as they stand, and the path that led there. */
struct found {
    const struct json *v;
    struct span raw;
    const char *path;
};

static bool holds_something(const struct found *f)
{
    return !case_asked_absent(f->v);
}

static struct found walk(const struct json *object, struct span raw, const char *path, int depth)
{
    struct found f = {.v = json_get(object, path), .path = path};
    if (f.v) {
        f.raw = json_raw_get(raw, path);
        return f;
    }
    for (const char *dot = strchr(path, '.'); dot && depth < MAX_DOTS; dot = strchr(dot + 1, '.')) {
        char *key = mem_copy(path, (size_t)(dot - path));
        const struct json *inner = json_get(object, key);
        if (json_type(inner) == JSON_OBJECT)
            f = walk(inner, json_raw_get(raw, key), dot + 1, depth + 1);
        free(key);
        if (f.v)
            break;
    }
    f.path = path;
    return f;
}

/* What is at the place that was named, or at the first of the usual ones that holds something. */
static struct found find(const struct json *line, struct span raw, const char *named,
                         const char *const *places)
{
    struct found f = {.path = named ? named : places[0]};
    if (named)
        return walk(line, raw, named, 0);
    for (; *places; places++) {
        f = walk(line, raw, *places, 0);
        if (holds_something(&f))
            return f;
    }
    return f;
}

bool paircase_is(const struct json *line, const struct pair_fields *f)
{
    struct found request = find(line, span_of(""), f->request, request_places);
    struct found response = find(line, span_of(""), f->response, response_places);
    /* Cases may carry the request along, for people to read. */
    if (json_get(line, "asked") || json_get(line, "expect") || json_get(line, "reply"))
        return false;
    if (holds_something(&request))
        return true;
    /* A case has a text there, and an id. */
    return holds_something(&response) && (f->response || json_type(response.v) != JSON_STRING ||
                                          json_type(json_get(line, "id")) != JSON_STRING);
}

/* --- the request --- */

/* A line while it is read. */
struct pair {
    const struct json *line;
    struct span raw;
    const struct pair_options *o;
    struct casefile *c;
    struct buf asked; /* what the request says, each member behind a comma */
    int streamed;     /* what the request says of `stream`; -1 = nothing */
};

static int take_request(struct pair *p, const struct json *request, struct err *err)
{
    const struct json *stream = json_get(request, "stream");
    if (json_type(request) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "must be an object, or one as text");
    if (json_type(stream) == JSON_BOOL)
        p->streamed = json_bool(stream, false);
    return pair_request_read(request, &p->asked, &p->c->prompt, err);
}

static int read_request(struct pair *p, struct err *err)
{
    const char *named = p->o->fields.request;
    struct found f = find(p->line, p->raw, named, request_places);
    struct buf text = BUF_INIT;
    struct json *own = NULL;
    int rc = 0;
    if (json_type(f.v) == JSON_STRING) {
        utf8_add_loose(&text, json_span(f.v));
        own = json_parse(buf_span(&text), err);
        rc = own ? take_request(p, own, err) : -1;
    } else if (holds_something(&f)) {
        rc = take_request(p, f.v, err);
    } else if (named) {
        rc = err_set(err, STATUS_USAGE, "no request is there");
    }
    if (rc < 0)
        err_prefix(err, "'%s'", f.path);
    json_free(own);
    buf_release(&text);
    return rc;
}

/* The case's `asked`, from what the caller says and what the request says. */
static int settle_asked(struct casefile *c, struct span first, const struct buf *then,
                        struct err *err)
{
    struct buf text = BUF_INIT;
    buf_adds(&text, "{\"asked\":{");
    buf_add(&text, first.data, first.len);
    if (then->len)
        buf_adds(&text, buf_str(then) + (first.len ? 0 : 1));
    buf_adds(&text, "}}");
    c->source = json_parse(buf_span(&text), err);
    int rc = c->source ? case_asked_read(c, buf_span(&text), err) : -1;
    buf_release(&text);
    return rc;
}

/* --- the response --- */

/* The first byte that is neither white space nor part of a byte order mark; 0 = there is none. */
static char first_byte(struct span body)
{
    size_t at = body.len >= 3 && memcmp(body.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < body.len && strchr(" \t\r\n", body.data[at]))
        at++;
    return at < body.len ? body.data[at] : 0;
}

static bool is_stream(struct span body)
{
    static const char *const fields[] = {"data:", "event:", "id:", "retry:", ":"};
    char first = first_byte(body);
    const char *at = first ? memchr(body.data, first, body.len) : NULL;
    for (size_t i = 0; at && i < sizeof fields / sizeof fields[0]; i++)
        if (span_starts((struct span){at, body.len - (size_t)(at - body.data)}, fields[i]))
            return true;
    return false;
}

/* A list of a stream's events, parsed or as they came, becomes the stream that it was. */
static void add_events(const struct json *list, struct buf *out)
{
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        if (json_type(e) == JSON_STRING) {
            utf8_add_loose(out, json_span(e));
            continue;
        }
        buf_adds(out, "data: ");
        json_print(e, out);
        buf_adds(out, "\n\n");
    }
    if (json_type(json_first(list)) == JSON_OBJECT)
        buf_adds(out, "data: [DONE]\n\n");
}

static void take_body(const struct found *f, struct buf *out)
{
    enum json_type type = json_type(f->v);
    if (type == JSON_STRING)
        utf8_add_loose(out, json_span(f->v));
    else if (type == JSON_ARRAY)
        add_events(f->v, out);
    else if (type == JSON_OBJECT && f->raw.len)
        buf_add(out, f->raw.data, f->raw.len);
    else if (type != JSON_ABSENT && type != JSON_NULL)
        json_print(f->v, out);
}

/* -1 = not said. */
static int status_of(const struct pair *p)
{
    for (size_t i = 0; status_places[i]; i++) {
        const char *const place[] = {status_places[i], NULL};
        struct found f = find(p->line, span_of(""), p->o->fields.status, place);
        const char *text = json_text(f.v);
        long n = text ? strtol(text, NULL, 10) : json_long(f.v, 0);
        if (n >= 100 && n <= 599)
            return (int)n;
    }
    return -1;
}

/* What was asked for, where that is known, or else what came. A whole body of a streamed request
 * was most often put together by whoever wrote the log: it says nothing of the stream. */
static bool stream_of(const struct pair *p, struct span body)
{
    struct found f = find(p->line, span_of(""), p->o->fields.stream, stream_places);
    char first = first_byte(body);
    if (first == '{' || first == '[')
        return false;
    if (json_type(f.v) == JSON_BOOL)
        return json_bool(f.v, false);
    return p->streamed < 0 ? is_stream(body) : p->streamed;
}

static int read_response(const struct pair *p, struct err *err)
{
    struct reply *r = &p->c->reply;
    struct found f = find(p->line, p->raw, p->o->fields.response, response_places);
    int status = status_of(p);
    if (!holds_something(&f) && status < 300)
        return err_set(err, STATUS_USAGE, "'%s': no response is there", f.path);
    take_body(&f, &r->raw);
    r->stream = stream_of(p, buf_span(&r->raw));
    casefile_decode(p->c, p->o->chunk, status < 0 ? p->o->status : status, NULL);
    return 0;
}

/* --- a line, a body --- */

static char *id_of(const struct json *line)
{
    struct found f = find(line, span_of(""), NULL, id_places);
    if (json_type(f.v) == JSON_STRING)
        return mem_str(json_text(f.v));
    return json_type(f.v) == JSON_NUMBER ? mem_printf("%ld", json_long(f.v, 0)) : NULL;
}

static int read_pair(struct pair *p, struct err *err)
{
    if (json_type(p->line) != JSON_OBJECT)
        return err_set(err, STATUS_USAGE, "no request and no response: it is no object");
    p->c->id = id_of(p->line);
    int rc = read_request(p, err);
    if (rc == 0)
        rc = settle_asked(p->c, p->o->asked, &p->asked, err);
    return rc == 0 ? read_response(p, err) : -1;
}

int paircase_read(struct span line, const struct pair_options *o, struct casefile *c,
                  struct err *err)
{
    *c = (struct casefile){0};
    reply_init(&c->reply);
    struct json *tree = json_parse(line, err);
    struct pair p = {.line = tree, .raw = line, .o = o, .c = c, .streamed = -1};
    int rc = tree ? read_pair(&p, err) : -1;
    buf_release(&p.asked);
    json_free(tree);
    if (rc < 0)
        casefile_release(c);
    return rc;
}

int paircase_body(struct span body, enum body_form form, const struct pair_options *o,
                  struct casefile *c, struct err *err)
{
    *c = (struct casefile){0};
    reply_init(&c->reply);
    const struct buf nothing = BUF_INIT;
    if (settle_asked(c, o->asked, &nothing, err) < 0) {
        casefile_release(c);
        return -1;
    }
    buf_add(&c->reply.raw, body.data, body.len);
    c->reply.stream = form == BODY_AS_SEEN ? is_stream(body) : form == BODY_STREAMED;
    casefile_decode(c, o->chunk, o->status, NULL);
    return 0;
}
