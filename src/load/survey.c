/* survey.c - a dozen questions as a table: what is asked, and what answer shows the feature. It
 * judges no damage; a reply is looked at only for what the endpoint understood. */
#include "survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "endpoint.h"
#include "json.h"
#include "mem.h"
#include "probe.h"
#include "redact.h"
#include "reply.h"
#include "secrets.h"
#include "trial.h"

#define DETAIL_BYTES 120
#define REPEATS      3 /* texts compared */

#define LOOK_UP                                                                                    \
    "{\"type\":\"function\",\"function\":{\"name\":\"look_up\",\"description\":\"Looks a key up "  \
    "in the register and returns its value.\",\"parameters\":{\"type\":\"object\",\"properties\":" \
    "{\"key\":{\"type\":\"string\"}},\"required\":[\"key\"]}}}"
#define TAKE_NOTE                                                                                  \
    "{\"type\":\"function\",\"function\":{\"name\":\"take_note\",\"description\":\"Writes a note " \
    "down.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}," \
    "\"required\":[\"text\"]}}}"

static const char one_tool[] = "[" LOOK_UP "]", two_tools[] = "[" LOOK_UP "," TAKE_NOTE "]";

static const char ask_text[] = "Write two sentences about rivers.";
static const char ask_call[] = "Look up the key K7QPM in the register with the tool look_up.";
static const char ask_calls[] = "Look up the keys K7QPM, D2XRW and H9TCN in the register. Call the "
                                "tool look_up three times in this one reply, once for each key.";

/* Which reply shows that the feature is there. */
enum sign_of {
    BY_TEXT,
    BY_CALL,    /* one call of look_up */
    BY_FORCED,  /* any call; none: the setting is ignored */
    BY_SILENCE, /* no call; any: the setting is ignored */
    BY_NOTE,    /* a call of take_note; any other reply: the setting is ignored */
    BY_SEVERAL  /* more calls than one */
};

static const struct question {
    enum feature feature;
    enum sign_of sign;
    bool stream;
    const char *text, *tools, *choice;
} questions[] = {
    {FEATURE_completion, BY_TEXT, false, ask_text, NULL, NULL},
    {FEATURE_repeats, BY_TEXT, false, ask_text, NULL, NULL},
    {FEATURE_repeats, BY_TEXT, false, ask_text, NULL, NULL},
    {FEATURE_stream, BY_TEXT, true, ask_text, NULL, NULL},
    {FEATURE_tools, BY_CALL, false, ask_call, one_tool, NULL},
    {FEATURE_tools_in_stream, BY_CALL, true, ask_call, one_tool, NULL},
    {FEATURE_parallel_calls, BY_SEVERAL, false, ask_calls, one_tool, NULL},
    {FEATURE_choice_auto, BY_CALL, false, ask_call, one_tool, "auto"},
    {FEATURE_choice_required, BY_FORCED, false, ask_text, one_tool, "required"},
    {FEATURE_choice_none, BY_SILENCE, false, ask_call, one_tool, "none"},
    {FEATURE_choice_named, BY_NOTE, false, ask_call, two_tools, "take_note"},
};
#define N_QUESTIONS (sizeof questions / sizeof questions[0])

/* What is remembered from one question to the next. */
struct asking {
    struct survey *survey;
    const struct survey_request *request;
    char *texts[REPEATS]; /* answers to ask_text at temperature 0 */
    size_t n_texts;
    struct redactor redactor;
};

const char *feature_name(enum feature f)
{
    static const char *const names[] = {
#define FEATURE(name, about) #name,
#include "survey.def"
#undef FEATURE
    };
    return names[f];
}

const char *feature_about(enum feature f)
{
    static const char *const abouts[] = {
#define FEATURE(name, about) about,
#include "survey.def"
#undef FEATURE
    };
    return abouts[f];
}

const char *answer_name(enum answer a)
{
    static const char *const names[N_ANSWERS] = {[ANSWER_UNCLEAR] = "unclear",
                                                 [ANSWER_YES] = "yes",
                                                 [ANSWER_NO] = "no",
                                                 [ANSWER_IGNORED] = "ignored",
                                                 [ANSWER_REFUSED] = "refused"};
    return names[a];
}

/* The first answer stands. `detail` becomes the survey's. */
static void found(struct survey *s, enum feature f, enum answer answer, char *detail)
{
    struct survey_finding *old = &s->findings[f];
    if (old->answer != ANSWER_UNCLEAR || old->detail) {
        free(detail);
        return;
    }
    *old = (struct survey_finding){answer, detail};
}

/* The start of a text, for a detail. The caller's. */
static char *start_of(const char *before, struct span text)
{
    size_t n = text.len < DETAIL_BYTES ? text.len : DETAIL_BYTES;
    while (n < text.len && n > 0 && ((unsigned char)text.data[n] & 0xC0) == 0x80)
        n--;
    return mem_printf("%s%.*s%s", before, (int)n, text.len ? text.data : "",
                      n < text.len ? "..." : "");
}

static char *say_calls(const struct reply *r)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < r->n_calls && text.len < DETAIL_BYTES; i++)
        buf_addf(&text, "%s%s %s", i ? ", " : "", buf_str(&r->calls[i].name),
                 buf_str(&r->calls[i].args));
    char *detail = start_of("", buf_span(&text));
    buf_release(&text);
    return detail;
}

static char *say_text(const struct reply *r)
{
    if (r->content.len)
        return start_of("text came: ", buf_span(&r->content));
    return mem_str(r->reasoning.len ? "nothing but reasoning came" : "nothing visible came");
}

static bool is_call(const struct reply *r, const char *name)
{
    return r->n_calls == 1 && strcmp(buf_str(&r->calls[0].name), name) == 0;
}

static bool is_object(const struct buf *args)
{
    return json_check(buf_span(args)) < 0 && buf_str(args)[strspn(buf_str(args), " \t\r\n")] == '{';
}

static void learn_call(struct survey *s, enum feature f, const struct reply *r)
{
    if (!r->n_calls)
        found(s, f, ANSWER_NO, say_text(r));
    else if (!is_call(r, "look_up"))
        found(s, f, ANSWER_UNCLEAR, say_calls(r));
    else if (!is_object(&r->calls[0].args))
        found(s, f, ANSWER_NO,
              start_of("arguments are not one JSON object: ", buf_span(&r->calls[0].args)));
    else
        found(s, f, ANSWER_YES, say_calls(r));
}

static void learn_text(struct survey *s, enum feature f, const struct reply *r)
{
    if (f == FEATURE_completion)
        found(s, f, ANSWER_YES, start_of("", buf_span(&r->content)));
    else if (f == FEATURE_stream && r->quirks & QUIRK_BIT(json_for_sse))
        found(s, f, ANSWER_IGNORED, mem_str("one JSON body came"));
    else if (f == FEATURE_stream)
        found(s, f, ANSWER_YES, mem_printf("%ld events with text", r->n_token_events));
}

static void learn(struct survey *s, const struct question *q, const struct reply *r)
{
    enum feature f = q->feature;
    char *seen = r->n_calls ? say_calls(r) : say_text(r);
    switch (q->sign) {
    case BY_TEXT: learn_text(s, f, r); break;
    case BY_CALL: learn_call(s, f, r); break;
    case BY_FORCED: found(s, f, r->n_calls ? ANSWER_YES : ANSWER_IGNORED, mem_str(seen)); break;
    case BY_SILENCE: found(s, f, r->n_calls ? ANSWER_IGNORED : ANSWER_YES, mem_str(seen)); break;
    case BY_NOTE:
        found(s, f, is_call(r, "take_note") ? ANSWER_YES : ANSWER_IGNORED, mem_str(seen));
        break;
    case BY_SEVERAL:
        /* that this model made one does not show that others could not */
        found(s, f, r->n_calls > 1 ? ANSWER_YES : ANSWER_UNCLEAR, mem_str(seen));
        break;
    }
    free(seen);
}

static void learn_usage(struct survey *s, const struct reply *r)
{
    enum feature f = r->stream ? FEATURE_usage_in_stream : FEATURE_usage;
    if (r->usage.prompt_tokens >= 0 && r->usage.completion_tokens >= 0)
        found(s, f, ANSWER_YES,
              mem_printf("%ld in, %ld out", r->usage.prompt_tokens, r->usage.completion_tokens));
    else
        found(s, f, ANSWER_NO, NULL);
}

/* The value of a response header; NULL if it did not come. The caller's. */
static char *header_value(const struct buf *headers, const char *name)
{
    char *mark = mem_printf("\n%s:", name);
    const char *text = buf_str(headers);
    char *value = NULL;
    for (const char *line = strchr(text, '\n'); line && !value; line = strchr(line + 1, '\n')) {
        size_t n = 0;
        while (mark[n] && (line[n] | 0x20) == (mark[n] | 0x20))
            n++;
        if (!mark[n])
            value = mem_copy(line + n + strspn(line + n, " "),
                             strcspn(line + n + strspn(line + n, " "), "\r\n"));
    }
    free(mark);
    return value;
}

/* What any reply that is one tells. */
static void learn_always(struct asking *a, const struct question *q, const struct reply *r)
{
    struct survey *s = a->survey;
    const struct dialect *d = a->request->endpoint->dialect;
    s->quirks |= r->quirks;
    learn_usage(s, r);
    if (r->reasoning.len)
        found(
            s, FEATURE_reasoning, ANSWER_YES,
            mem_printf("in `%s`", d->reasoning_fields[!!(r->quirks & QUIRK_BIT(reasoning_field))]));
    if (!s->said)
        s->said = header_value(&r->headers, "server");
    if (q->text == ask_text && !q->tools && !r->stream && a->n_texts < REPEATS)
        a->texts[a->n_texts++] = mem_str(buf_str(&r->content));
}

static void learn_failure(struct survey *s, const struct endpoint *ep, enum feature f,
                          const struct reply *r)
{
    struct err why = {0};
    bool refused = r->status >= 400 || r->error_text.len;
    if (!refused && trial_explain(ep, r, &why) == 0)
        return;
    struct span words = r->error_text.len ? buf_span(&r->error_text) : buf_span(&r->raw);
    char *said = refused ? trial_server_words(ep, words) : NULL;
    if (refused)
        found(s, f, ANSWER_REFUSED,
              r->status >= 400 ? mem_printf("HTTP %d: %s", r->status, said) : mem_str(said));
    else
        found(s, f, ANSWER_UNCLEAR, mem_str(why.text));
    free(said);
}

static void write_question(const struct asking *a, const struct question *q, struct buf *body)
{
    struct chat_request c = {.model = a->survey->model,
                             .tools = span_of(q->tools),
                             .tool_choice = q->choice,
                             .stream = q->stream,
                             .temperature = 0,
                             .max_tokens = a->request->max_tokens,
                             .seed = -1};
    trial_body(a->request->endpoint, &c, q->text, body);
}

static int ask(struct asking *a, const struct question *q, struct err *err)
{
    const struct survey_request *request = a->request;
    struct survey *s = a->survey;
    struct buf body = BUF_INIT;
    struct reply r;
    write_question(a, q, &body);
    struct trial t = {.body = buf_span(&body), .stream = q->stream, .stop = request->stop};
    int rc = trial_send(request->endpoint, &t, &r, err);
    redact_message(&a->redactor, &r);
    s->n_requests++;
    bool capped = strcmp(r.finish, "length") == 0;
    bool useful = r.status < 400 && r.has_choice && r.end == END_CLEAN && !r.error_text.len;
    if (rc == 0 && r.end == END_CANCELLED)
        rc = err_set(err, STATUS_ENDPOINT, "stopped while asking for '%s'",
                     feature_name(q->feature));
    else if (rc == 0 && q->feature == FEATURE_completion)
        rc = trial_explain(request->endpoint, &r, err);
    if (rc == 0 && !useful)
        learn_failure(s, request->endpoint, q->feature, &r);
    if (rc == 0 && useful && capped && q->tools && !r.n_calls)
        found(s, q->feature, ANSWER_UNCLEAR, mem_str("the reply ran into max_tokens"));
    if (rc == 0 && useful) {
        learn(s, q, &r);
        learn_always(a, q, &r);
    }
    reply_release(&r);
    buf_release(&body);
    return rc;
}

static void compare_texts(struct asking *a)
{
    size_t same = 0;
    for (size_t i = 0; i < a->n_texts; i++)
        same += strcmp(a->texts[i], a->texts[0]) == 0;
    char *detail = mem_printf("%zu of %zu alike; under load it may be otherwise", same, a->n_texts);
    if (a->n_texts < REPEATS)
        found(a->survey, FEATURE_repeats, ANSWER_UNCLEAR, detail);
    else
        found(a->survey, FEATURE_repeats, same == a->n_texts ? ANSWER_YES : ANSWER_NO, detail);
}

static int ask_all(struct asking *a, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < N_QUESTIONS && rc == 0; i++) {
        if (a->request->tell)
            a->request->tell(a->request->arg, feature_about(questions[i].feature));
        rc = ask(a, &questions[i], err);
    }
    if (rc == 0) {
        compare_texts(a);
        found(a->survey, FEATURE_reasoning, ANSWER_NO, NULL);
    }
    for (size_t i = 0; i < a->n_texts; i++)
        free(a->texts[i]);
    return rc;
}

int survey_make(struct survey *s, const struct survey_request *q, struct err *err)
{
    struct buf facts = BUF_INIT;
    s->host = mem_str(q->endpoint->host);
    s->model = mem_str(q->model);
    int rc = probe_facts(q->endpoint, &facts, &s->model, err);
    if (rc == 0)
        rc = survey_read_facts(s, &facts, err);
    struct asking a = {.survey = s, .request = q};
    secrets_init(&a.redactor, q->endpoint);
    if (rc == 0)
        rc = ask_all(&a, err);
    secrets_release(&a.redactor);
    buf_release(&facts);
    return rc;
}

void survey_release(struct survey *s)
{
    for (size_t i = 0; i < s->n_models; i++)
        free(s->models[i]);
    for (size_t i = 0; i < N_FEATURES; i++)
        free(s->findings[i].detail);
    free(s->models);
    free(s->host);
    free(s->model);
    free(s->server);
    free(s->version);
    free(s->said);
    *s = (struct survey){0};
}

static void write_text(struct jsonw *w, const char *key, const char *text)
{
    jsonw_key(w, key);
    if (text)
        jsonw_span(w, span_of(text));
    else
        jsonw_null(w);
}

static void write_findings(const struct survey *s, struct jsonw *w)
{
    jsonw_key(w, "features");
    jsonw_object(w);
    for (int f = 0; f < N_FEATURES; f++) {
        jsonw_key(w, feature_name((enum feature)f));
        jsonw_object(w);
        write_text(w, "answer", answer_name(s->findings[f].answer));
        write_text(w, "detail", s->findings[f].detail);
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
}

void survey_write(const struct survey *s, struct jsonw *w)
{
    jsonw_object(w);
    write_text(w, "endpoint", s->host);
    write_text(w, "server", s->server);
    write_text(w, "version", s->version);
    write_text(w, "server_header", s->said);
    write_text(w, "model", s->model);
    jsonw_key(w, "models");
    jsonw_array(w);
    for (size_t i = 0; i < s->n_models; i++)
        jsonw_span(w, span_of(s->models[i]));
    jsonw_end_array(w);
    jsonw_key(w, "max_context");
    if (s->max_context)
        jsonw_long(w, s->max_context);
    else
        jsonw_null(w);
    write_findings(s, w);
    jsonw_key(w, "quirks");
    jsonw_array(w);
    for (int q = 0; q < N_QUIRKS; q++)
        if (s->quirks >> q & 1)
            jsonw_text(w, quirk_name((enum quirk)q));
    jsonw_end_array(w);
    jsonw_key(w, "requests");
    jsonw_long(w, s->n_requests);
    jsonw_end_object(w);
}
