/* trial.c - a loop of its own for one exchange, and what an answer that is none says in words. It
 * asks nothing by itself. */
#include "trial.h"

#include <stdlib.h>

#include "dialect.h"
#include "endpoint.h"
#include "http.h"
#include "json.h"
#include "message.h"
#include "reply.h"

#define MESSAGE_BYTES 300    /* of a server's error text in one of ours */
#define LOOK_US       100000 /* how often `stop` is asked */

static void on_done(void *arg, struct reply *r)
{
    (void)r;
    *(bool *)arg = true;
}

int trial_send(const struct endpoint *ep, const struct trial *t, struct reply *r, struct err *err)
{
    reply_init(r);
    r->stream = t->stream;
    struct http *h = http_new(ep, 1, err);
    if (!h)
        return -1;
    bool done = false, stopping = false;
    struct exchange *x =
        http_post(h, (struct http_body){.own = t->body}, t->header, r, on_done, &done);
    while (!done) {
        if (!stopping && t->stop && t->stop()) {
            stopping = true;
            http_cancel(x);
        }
        http_run(h, LOOK_US);
    }
    http_free(h);
    return 0;
}

void trial_body(const struct endpoint *ep, struct chat_request *q, const char *text,
                struct buf *out)
{
    struct message said = {.role = ROLE_USER};
    struct buf history = BUF_INIT;
    buf_adds(&said.content, text);
    ep->dialect->message(&said, &history);
    q->messages = buf_span(&history);
    ep->dialect->request(q, out);
    q->messages = (struct span){"", 0};
    message_release(&said);
    buf_release(&history);
}

char *trial_server_words(const struct endpoint *ep, struct span body)
{
    struct json *v = json_parse(body, NULL);
    const struct json *error = json_get(v, "error") ? json_get(v, "error") : v;
    const char *text = json_text(error);
    if (!text)
        text = json_text(json_get(error, "message"));
    if (!text)
        text = json_text(json_get(v, "detail"));
    struct buf b = BUF_INIT;
    struct span from = text ? span_of(text) : body;
    for (size_t i = 0; i < from.len && b.len < MESSAGE_BYTES; i++) {
        unsigned char c = (unsigned char)from.data[i];
        if (c >= 0x20 && c != 0x7F)
            buf_addc(&b, (char)c);
        else if (b.len && b.data[b.len - 1] != ' ')
            buf_addc(&b, ' ');
    }
    json_free(v);
    char *words = buf_take(&b);
    endpoint_redact(ep, words);
    return words;
}

static int refused(const struct endpoint *ep, const struct reply *r, struct err *err)
{
    char *words = trial_server_words(ep, buf_span(&r->raw));
    bool moved = r->status >= 300 && r->status < 400;
    bool unknown = moved || r->status == 404 || r->status == 405;
    const char *said = words[0] ? words : moved && r->end_detail[0] ? r->end_detail : "(no text)";
    err_set(err, STATUS_ENDPOINT, "endpoint '%s' answers HTTP %d: %s%s", ep->host, r->status, said,
            unknown ? "; are the base URL and the model right?" : "");
    free(words);
    return -1;
}

int trial_explain(const struct endpoint *ep, const struct reply *r, struct err *err)
{
    if (r->end == END_CONNECT || r->end == END_TLS)
        return err_set(err, STATUS_ENDPOINT, "cannot reach endpoint '%s': %s", ep->host,
                       r->end_detail);
    if (r->status >= 300)
        return refused(ep, r, err);
    if (r->body_unreadable)
        return err_set(err, STATUS_ENDPOINT,
                       "endpoint '%s' answers with %s, not with a chat completion; is the base URL "
                       "right?",
                       ep->host, r->content_type[0] ? r->content_type : "something else");
    if (r->end != END_CLEAN)
        return err_set(err, STATUS_ENDPOINT, "endpoint '%s' did not answer a tiny request: %s",
                       ep->host, r->end_detail);
    if (!r->has_choice)
        return refused(ep, r, err);
    return 0;
}
