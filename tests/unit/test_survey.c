// layers: load sim store judge wire scenario chat stats base
/* Surveys: how servers are recognised, what is said of the simulated endpoint, and its form. */
#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "dialect.h"
#include "embed.h"
#include "endpoint.h"
#include "http.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "sim.h"
#include "survey.h"

/* --- what servers say of themselves --- */

static void test_facts(void)
{
    static const struct {
        const char *facts, *model, *server, *version;
        long max_context;
        size_t n_models;
    } rows[] = {
        {"{\"/models\":{\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\",\"max_model_len\":32768}]},"
         "\"/version\":{\"version\":\"0.9.1\"}}",
         "m", "vLLM", "0.9.1", 32768, 1},
        {"{\"/models\":{\"data\":[{\"id\":\"a\",\"owned_by\":\"sglang\",\"max_model_len\":1},"
         "{\"id\":\"m\",\"owned_by\":\"sglang\",\"max_model_len\":4096}]},"
         "\"/get_server_info\":{\"version\":\"0.5\",\"context_length\":9}}",
         "m", "SGLang", "0.5", 4096, 2},
        {"{\"/models\":{\"data\":[{\"id\":\"m\",\"owned_by\":\"llamacpp\",\"meta\":"
         "{\"n_ctx_train\":131072}}]},\"/props\":{\"build_info\":\"b5000\","
         "\"default_generation_settings\":{\"n_ctx\":8192}}}",
         "m", "llama.cpp", "b5000", 8192, 1},
        {"{\"/models\":{\"data\":[{\"id\":\"m\",\"owned_by\":\"library\"}]},"
         "\"/api/version\":{\"version\":\"0.6\"}}",
         "m", "Ollama", "0.6", 0, 1},
        {"{\"/info\":{\"version\":\"3.1\",\"max_total_tokens\":2048}}", "m",
         "Text Generation Inference", "3.1", 2048, 0},
        /* what does not fit is not believed */
        {"{}", "m", NULL, NULL, 0, 0},
        {"{\"/models\":[1,2],\"/version\":\"x\",\"/props\":{\"build_info\":null}}", "m", NULL, NULL,
         0, 0},
        {"{\"/models\":{\"data\":[{\"id\":7,\"max_model_len\":-5},{\"id\":\"b\"}]}}", "m", NULL,
         NULL, 0, 1},
        {"{\"/models\":{\"data\":[{\"id\":\"m\",\"max_model_len\":\"long\","
         "\"context_length\":200000}]}}",
         "m", NULL, NULL, 200000, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct survey s = {.model = mem_str(rows[i].model)};
        struct buf facts = BUF_INIT;
        buf_adds(&facts, rows[i].facts);
        CHECK_INT(survey_read_facts(&s, &facts, NULL), 0);
        CHECK_STR(s.server ? s.server : "-", rows[i].server ? rows[i].server : "-");
        CHECK_STR(s.version ? s.version : "-", rows[i].version ? rows[i].version : "-");
        CHECK_INT(s.max_context, rows[i].max_context);
        CHECK_INT(s.n_models, rows[i].n_models);
        survey_release(&s);
        buf_release(&facts);
    }
}

/* --- a whole survey --- */

static void check_form(const struct survey *s)
{
    const struct embedded *file = embed_find("schemas/probe.schema.json");
    struct err err = {0};
    struct json *root = json_parse((struct span){file->data, file->len}, &err);
    struct schema *schema = schema_new(root, &err);
    struct buf out = BUF_INIT;
    struct jsonw w = {.out = &out};
    survey_write(s, &w);
    CHECK(json_check(buf_span(&out)) < 0);
    struct json *v = json_parse(buf_span(&out), &err);
    CHECK(schema && v);
    CHECK_INT(schema_check(schema, v, &err), 0);
    CHECK_STR(err.text, "");
    CHECK_INT(json_count(json_get(v, "features")), N_FEATURES);
    json_free(v);
    schema_free(schema);
    json_free(root);
    buf_release(&out);
}

static long asked;

static void count(void *arg, const char *what)
{
    (void)arg;
    asked += what[0] != '\0';
}

static void test_sim(bool think)
{
    struct sim_options so = {.think = think};
    struct err err = {0};
    struct sim *sim = sim_start(&so, &err);
    CHECK(sim != NULL);
    struct endpoint ep;
    CHECK_INT(endpoint_init(&ep, dialect_default(), sim_url(sim), &err), 0);
    struct survey s = {0};
    struct survey_request q = {.endpoint = &ep, .max_tokens = 512, .tell = count};
    asked = 0;
    CHECK_INT(survey_make(&s, &q, &err), 0);
    CHECK_STR(err.text, "");
    CHECK_STR(s.server, "toolstorm sim");
    CHECK_STR(s.version, TOOLSTORM_VERSION);
    CHECK_STR(s.model, "sim-1");
    CHECK_INT(s.n_requests, asked);
    for (int f = 0; f < N_FEATURES; f++) {
        enum answer want = f == FEATURE_parallel_calls        ? ANSWER_UNCLEAR
                           : f == FEATURE_reasoning && !think ? ANSWER_NO
                                                              : ANSWER_YES;
        CHECK_STR(answer_name(s.findings[f].answer), answer_name(want));
    }
    CHECK(s.quirks & QUIRK_BIT(usage_only_chunk));
    check_form(&s);
    survey_release(&s);
    endpoint_release(&ep);
    sim_stop(sim);
}

static bool always(void)
{
    return true;
}

/* Stopped at once, a survey ends with an error and leaves nothing behind. */
static void test_stop(void)
{
    struct sim_options so = {.ttft_us = 60000000};
    struct err err = {0};
    struct sim *sim = sim_start(&so, &err);
    struct endpoint ep;
    CHECK_INT(endpoint_init(&ep, dialect_default(), sim_url(sim), &err), 0);
    struct survey s = {0};
    struct survey_request q = {.endpoint = &ep, .max_tokens = 512, .stop = always};
    CHECK_INT(survey_make(&s, &q, &err), -1);
    CHECK_INT(err.status, STATUS_ENDPOINT);
    CHECK_STR(err.text, "stopped while asking for 'completion'");
    survey_release(&s);
    endpoint_release(&ep);
    sim_stop(sim);
}

int main(void)
{
    CHECK_INT(http_global_init(NULL), 0);
    test_facts();
    test_sim(false);
    test_sim(true);
    test_stop();
    http_global_end();
    return check_end();
}
