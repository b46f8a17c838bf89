// layers: base
/* test_schema.c - the schema checker against files of cases: our own, and the official suite where
 * it lies beside the checkout. */
#include "schema.h"

#include <stdlib.h>

#include "check.h"
#include "file.h"
#include "json.h"
#include "mem.h"

static long skipped_groups, suite_tests;

/* Why a group of the suite can't be asked of us, or NULL. */
static const char *reason_to_skip(struct span schema_text)
{
    static const struct {
        const char *text, *why;
    } reasons[] = {
        {"$dynamicRef", "needs $dynamicRef"},
        {"https://json-schema.org/draft/2020-12/schema\"}", "refers to the metaschema"},
        {"\"$ref\":\"http", "refers to a remote document"},
        {"$id", "resolves by $id"},
        {"\"$vocabulary\"", "needs a vocabulary"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (span_find(schema_text, span_of(reasons[i].text), 0) >= 0)
            return reasons[i].why;
    return NULL;
}

static void run_tests(const char *file, const struct json *group, const struct schema *s)
{
    const char *about = json_text(json_get(group, "description"));
    const struct json *tests = json_get(group, "tests");
    for (const struct json *t = json_first(tests); t; t = json_next(t)) {
        struct err err = {0};
        bool want = json_bool(json_get(t, "valid"), false);
        bool got = schema_check(s, json_get(t, "data"), &err) == 0;
        CHECK(got == want);
        if (got != want)
            fprintf(stderr, "  %s: %s: %s (%s)\n", file, about,
                    json_text(json_get(t, "description")), err.text);
        const char *error = json_text(json_get(t, "error"));
        if (error)
            CHECK_STR(err.text, error);
        suite_tests++;
    }
}

static void run_group(const char *file, const struct json *group, bool may_skip)
{
    const struct json *schema = json_get(group, "schema");
    struct buf text = BUF_INIT;
    json_print(schema, &text);
    const char *why = may_skip ? reason_to_skip(buf_span(&text)) : NULL;
    if (why) {
        skipped_groups++;
        printf("skipped: %s: %s: %s\n", file, json_text(json_get(group, "description")), why);
    } else {
        struct err err = {0};
        struct schema *s = schema_new(schema, &err);
        CHECK_STR(err.text, "");
        if (s)
            run_tests(file, group, s);
        else
            fprintf(stderr, "  %s: %s\n", file, json_text(json_get(group, "description")));
        schema_free(s);
    }
    buf_release(&text);
}

/* False if there is no such file. */
static bool run_file(const char *path, bool may_skip)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    if (file_read(path, 1 << 24, &text, &err) < 0)
        return false;
    struct json *groups = json_parse(buf_span(&text), &err);
    CHECK_STR(err.text, "");
    for (const struct json *g = json_first(groups); g; g = json_next(g))
        run_group(strrchr(path, '/') + 1, g, may_skip);
    json_free(groups);
    buf_release(&text);
    return true;
}

static void test_suite(void)
{
    static const char *const files[] = {"additionalProperties",
                                        "allOf",
                                        "anyOf",
                                        "boolean_schema",
                                        "const",
                                        "contains",
                                        "default",
                                        "defs",
                                        "dependentSchemas",
                                        "exclusiveMaximum",
                                        "format",
                                        "if-then-else",
                                        "infinite-loop-detection",
                                        "items",
                                        "maxLength",
                                        "maxProperties",
                                        "maximum",
                                        "minItems",
                                        "minLength",
                                        "minimum",
                                        "not",
                                        "pattern",
                                        "patternProperties",
                                        "properties",
                                        "ref",
                                        "required",
                                        "type"};
    long seen = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = mem_printf("%s/../shared/json-schema-suite/%s.json", SOURCE_DIR, files[i]);
        seen += run_file(path, true);
        free(path);
    }
    printf("suite: %ld files, %ld tests, %ld groups skipped\n", seen, suite_tests, skipped_groups);
}

static void refuse(const char *schema_text, const char *error)
{
    struct err err = {0};
    struct json *schema = json_parse(span_of(schema_text), &err);
    CHECK_STR(err.text, "");
    struct schema *s = schema_new(schema, &err);
    CHECK(!s);
    CHECK_INT(err.status, STATUS_USAGE);
    CHECK_STR(err.text, error);
    schema_free(s);
    json_free(schema);
}

static void test_bad_schemas(void)
{
    refuse("{\"properties\":{\"a\":{\"pattern\":\"(\"}}}",
           "schema '#/properties/a': bad regular expression '(' at offset 1: missing closing "
           "parenthesis");
    refuse("{\"items\":{\"$ref\":\"#/$defs/gone\"}}",
           "schema '#/items': $ref '#/$defs/gone' leads to nothing in this document");
    refuse("{\"$ref\":\"other.json\"}",
           "schema '#': $ref 'other.json' leads to nothing in this document");
}

/* A schema that calls itself without going down in the value, and one that branches without end,
 * come back within their limits. */
static void test_bounds(void)
{
    static const char *const texts[] = {
        "{\"$ref\":\"#\"}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
        "{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err err = {0};
        struct json *schema = json_parse(span_of(texts[i]), &err);
        struct schema *s = schema_new(schema, &err);
        CHECK(s != NULL);
        CHECK_INT(schema_check(s, schema, NULL), 0);
        schema_free(s);
        json_free(schema);
    }
}

/* 60,000 different elements, then the first once more. */
static void test_long_unique(void)
{
    struct err err = {0};
    struct buf text = BUF_INIT;
    buf_adds(&text, "[");
    for (int i = 0; i < 60000; i++)
        buf_addf(&text, "{\"n\":%d,\"s\":\"x%d\"},", i, i % 7);
    size_t len = text.len;
    buf_adds(&text, "null]");
    struct json *rule = json_parse(span_of("{\"uniqueItems\":true}"), &err);
    struct schema *s = schema_new(rule, &err);
    struct json *v = json_parse(buf_span(&text), &err);
    CHECK_INT(schema_check(s, v, NULL), 0);
    json_free(v);
    text.len = len;
    buf_adds(&text, "{\"s\":\"x0\",\"n\":0.0}]");
    v = json_parse(buf_span(&text), &err);
    CHECK_INT(schema_check(s, v, &err), -1);
    CHECK_STR(err.text, "the value must have no element twice");
    json_free(v);
    schema_free(s);
    json_free(rule);
    buf_release(&text);
}

int main(void)
{
    CHECK(run_file(SOURCE_DIR "/tests/data/schema-cases.json", false));
    test_suite();
    test_bad_schemas();
    test_bounds();
    test_long_unique();
    return check_end();
}
