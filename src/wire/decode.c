/* decode.c - what kind of body came, one event or body of it at a time, under the caps. It knows
 * that an event's data is JSON or [DONE]; what the JSON means is the dialect's. */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accum.h"
#include "decode_ops.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "reply.h"
#include "sse.h"

#define HEAD_BYTES 4096 /* of a stream's start, kept to be shown if it turns out to be none */

enum body_kind { BODY_UNKNOWN, BODY_STREAM, BODY_JSON };

struct decoder {
    const struct dialect *dialect;
    struct wire_caps caps;
    struct reply *r;
    struct accum accum;
    struct sse sse;
    struct buf body; /* JSON, or an error's body of any kind */
    struct buf head;
    enum body_kind kind;
    bool failed_status; /* the HTTP status is no success */
    bool stopped;       /* a cap was passed: nothing more is read */
    bool type_is_sse, type_is_json, has_type;
    int bom_bytes; /* bytes of a byte order mark seen so far at the start */
    bool blank_seen;
    size_t n_bytes;
    int64_t now_us;
};

static void take_event(void *arg, const struct sse_event *e);

struct decoder *decoder_new(const struct dialect *dialect, const struct wire_caps *caps,
                            struct reply *r)
{
    struct decoder *d = mem_zero(1, sizeof *d);
    d->dialect = dialect;
    d->caps = *caps;
    d->r = r;
    accum_init(&d->accum, dialect, r);
    sse_init(&d->sse, caps->line, take_event, d);
    d->head.cap = HEAD_BYTES;
    return d;
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    accum_release(&d->accum);
    sse_release(&d->sse);
    buf_release(&d->body);
    buf_release(&d->head);
    free(d);
}

static bool holds(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && (text[i] | 0x20) == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

void decoder_start(struct decoder *d, int status, const char *content_type)
{
    d->r->status = status;
    d->failed_status = status >= 300;
    d->has_type = content_type && content_type[0];
    if (!d->has_type)
        return;
    snprintf(d->r->content_type, sizeof d->r->content_type, "%s", content_type);
    d->type_is_sse = holds(content_type, "event-stream");
    d->type_is_json = holds(content_type, "json");
}

static void stamp(struct decoder *d)
{
    struct reply *r = d->r;
    d->accum.token = false;
    r->n_token_events++;
    if (!d->now_us)
        return;
    if (!r->first_token_us)
        r->first_token_us = d->now_us;
    else if (d->now_us - r->last_token_us > r->max_gap_us)
        r->max_gap_us = d->now_us - r->last_token_us;
    r->last_token_us = d->now_us;
}

/* Arrays of events are read like the events. */
static bool read_value(struct decoder *d, const struct json *v)
{
    if (json_type(v) == JSON_OBJECT)
        return d->dialect->decode->read(&d->accum, v);
    bool any = false;
    if (json_type(v) == JSON_ARRAY)
        for (const struct json *e = json_first(v); e; e = json_next(e))
            if (json_type(e) == JSON_OBJECT)
                any = d->dialect->decode->read(&d->accum, e) || any;
    return any;
}

static struct span trim(struct span s)
{
    while (s.len && s.data[0] && strchr(" \t\r\n", s.data[0]))
        s = (struct span){s.data + 1, s.len - 1};
    while (s.len && s.data[s.len - 1] && strchr(" \t\r\n", s.data[s.len - 1]))
        s.len--;
    return s;
}

/* An event that says by its type that it is an error. */
static void take_error(struct decoder *d, struct span data)
{
    struct reply *r = d->r;
    size_t before = r->error_text.len;
    struct json *v = json_parse(data, NULL);
    if (json_type(v) == JSON_OBJECT)
        d->dialect->decode->read(&d->accum, v);
    if (r->error_text.len == before && v)
        accum_error(&d->accum, v);
    else if (r->error_text.len == before)
        accum_error_text(&d->accum, data.len ? data : span_of("(an empty error)"));
    json_free(v);
    r->error_in_stream = true;
}

static void take_json(struct decoder *d, const struct sse_event *e, struct span data)
{
    struct reply *r = d->r;
    const struct decode_ops *ops = d->dialect->decode;
    if (!e->unfinished && ops->read_fast && ops->read_fast(&d->accum, data))
        return;
    size_t errors_before = r->error_text.len;
    struct json *v = json_parse(data, NULL);
    if (json_type(v) != JSON_OBJECT && json_type(v) != JSON_ARRAY) {
        /* half an event is what any stop of ours leaves behind: not the server's doing */
        if (!e->unfinished || r->end == END_CLEAN || r->end == END_CUT)
            r->framing_broken = true;
    } else {
        read_value(d, v);
        if (e->unfinished)
            r->quirks |= QUIRK_BIT(no_last_blank);
    }
    if (r->error_text.len > errors_before)
        r->error_in_stream = true;
    json_free(v);
}

/* A line that starts like an object and has no field name: only an error in it is believed. */
static void take_stray(struct decoder *d, struct span line)
{
    struct json *v = json_parse(line, NULL);
    if (json_type(v) == JSON_OBJECT && !json_get(v, "choices")) {
        size_t before = d->r->error_text.len;
        d->dialect->decode->read(&d->accum, v);
        if (d->r->error_text.len > before)
            d->r->error_in_stream = true;
    } else {
        d->r->framing_broken = true;
    }
    json_free(v);
}

static void take_event(void *arg, const struct sse_event *e)
{
    struct decoder *d = arg;
    struct reply *r = d->r;
    d->accum.event++;
    if (e->stray) {
        take_stray(d, e->data);
        return;
    }
    if (span_is(e->type, "error")) {
        take_error(d, e->data);
        return;
    }
    struct span data = trim(e->data);
    if (!data.len || data.data[0] == ':') {
        r->quirks |= QUIRK_BIT(comment_as_data);
        return;
    }
    if (span_is(data, "[DONE]")) {
        r->done = true;
        if (e->unfinished)
            r->quirks |= QUIRK_BIT(no_last_blank);
        return;
    }
    if (r->done)
        r->quirks |= QUIRK_BIT(after_done);
    take_json(d, e, data);
    if (d->accum.token)
        stamp(d);
}

static int too_large(struct decoder *d, const char *what, size_t cap)
{
    struct reply *r = d->r;
    d->stopped = true;
    r->end = END_TOO_LARGE;
    snprintf(r->end_detail, sizeof r->end_detail, "%s cap %zu", what, cap);
    return -1;
}

/* The kind of body shows in its first byte that is neither white space nor part of a byte order
 * mark. What the server announces counts only where that byte leaves it open. */
static enum body_kind kind_of(const struct decoder *d, char first)
{
    if (first == '{' || first == '[' || first == '<' || d->failed_status)
        return BODY_JSON;
    if (d->type_is_sse || d->r->stream || (first && strchr("deir:", first)))
        return BODY_STREAM;
    return BODY_JSON;
}

/* Skips what may stand before a body; sets the kind when it shows. Returns the bytes used up. */
static size_t sniff(struct decoder *d, const char *data, size_t len)
{
    static const char bom[] = "\xEF\xBB\xBF";
    for (size_t at = 0; at < len; at++) {
        char c = data[at];
        if (d->bom_bytes < 3 && !d->blank_seen && c == bom[d->bom_bytes]) {
            d->bom_bytes++;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            d->blank_seen = true;
            continue;
        }
        d->kind = kind_of(d, c);
        return at;
    }
    return len;
}

static int feed_kind(struct decoder *d, const char *data, size_t len)
{
    if (d->kind == BODY_UNKNOWN) {
        size_t n = sniff(d, data, len);
        if (d->kind == BODY_UNKNOWN)
            return 0;
        data += n;
        len -= n;
    }
    if (d->kind == BODY_STREAM) {
        if (!d->sse.n_fields)
            buf_add(&d->head, data, len);
        if (sse_feed(&d->sse, data, len) < 0)
            return too_large(d, "line", d->caps.line);
        if (d->sse.n_fields) /* it is an event stream: its start need not be shown */
            buf_release(&d->head);
        return d->accum.too_many ? too_large(d, "tool call", ACCUM_MAX_CALLS) : 0;
    }
    size_t room = d->caps.line - d->body.len;
    buf_add(&d->body, data, len < room ? len : room);
    return len > room ? too_large(d, "body", d->caps.line) : 0;
}

int decoder_feed(struct decoder *d, const char *data, size_t len, int64_t now_us)
{
    if (d->stopped)
        return -1;
    d->now_us = now_us;
    size_t room = d->caps.reply - d->n_bytes;
    size_t n = len < room ? len : room;
    d->n_bytes += n;
    int rc = feed_kind(d, data, n);
    if (rc == 0 && n < len)
        rc = too_large(d, "reply", d->caps.reply);
    return rc;
}

/* The body of an error status: JSON, an event stream with an error in it, or any text. */
static void end_failed(struct decoder *d)
{
    struct reply *r = d->r;
    struct span body = trim(buf_span(&d->body));
    struct json *v = json_parse(body, NULL);
    if (json_type(v) == JSON_OBJECT)
        d->dialect->decode->read(&d->accum, v);
    if (!v && (span_starts(body, "data:") || span_starts(body, "event:"))) {
        sse_feed(&d->sse, body.data, body.len);
        sse_end(&d->sse);
        r->framing_broken = r->error_in_stream = false;
    }
    if (!r->error_text.len && v)
        accum_error(&d->accum, v);
    else if (!r->error_text.len)
        accum_error_text(&d->accum, body);
    json_free(v);
}

static void end_json(struct decoder *d)
{
    struct reply *r = d->r;
    struct span body = trim(buf_span(&d->body));
    struct json *v = json_parse(body, NULL);
    d->accum.whole = true;
    d->accum.event++;
    bool known = v && read_value(d, v);
    if (!known && v)
        accum_error(&d->accum, v);
    else if (!known && r->end == END_CLEAN)
        accum_error_text(&d->accum,
                         body.len < HEAD_BYTES ? body : (struct span){body.data, HEAD_BYTES});
    r->body_unreadable = !known && (v || r->end == END_CLEAN);
    r->done = known && !r->error_text.len;
    if (d->accum.token)
        stamp(d);
    json_free(v);
}

static void end_stream(struct decoder *d)
{
    struct reply *r = d->r;
    if (sse_end(&d->sse) < 0)
        too_large(d, "line", d->caps.line);
    if (!d->sse.n_fields && d->sse.n_stray) {
        r->body_unreadable = true;
        if (!r->error_text.len)
            accum_error_text(&d->accum, buf_span(&d->head));
    }
    if (r->finish[0] && !r->done)
        r->quirks |= QUIRK_BIT(no_done);
}

static void note_kind(struct decoder *d)
{
    struct reply *r = d->r;
    bool stream = d->kind == BODY_STREAM && d->sse.n_fields;
    bool json = d->kind == BODY_JSON && d->body.len && d->body.data[0] != '<';
    if (d->failed_status || (!stream && !json))
        return;
    if (d->bom_bytes == 3)
        r->quirks |= QUIRK_BIT(bom);
    if (d->blank_seen)
        r->quirks |= stream ? QUIRK_BIT(empty_event) : QUIRK_BIT(blank_before_body);
    if (stream && !r->stream)
        r->quirks |= QUIRK_BIT(sse_for_json);
    if (json && r->stream)
        r->quirks |= QUIRK_BIT(json_for_sse);
    if (d->has_type && !(stream ? d->type_is_sse : d->type_is_json))
        r->quirks |= QUIRK_BIT(odd_content_type);
}

void decoder_end(struct decoder *d)
{
    if (!d->stopped) {
        if (d->failed_status)
            end_failed(d);
        else if (d->kind == BODY_STREAM)
            end_stream(d);
        else if (d->kind == BODY_JSON)
            end_json(d);
        else
            d->r->body_unreadable = d->r->end == END_CLEAN;
    }
    note_kind(d);
    d->r->quirks |= d->sse.quirks;
    d->stopped = true;
    accum_end(&d->accum);
}
