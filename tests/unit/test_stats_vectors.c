// layers: stats base
/* Every statistic against vectors that another method computed: {fn, in, out, tol, source}. */
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

#include "buf.h"
#include "byname.h"
#include "file.h"
#include "json.h"

#define FILE_CAP (64u << 20)

static bool number_matches(const struct json *got, const struct json *want, double tol)
{
    if (json_type(want) == JSON_NULL || json_type(got) != JSON_NUMBER)
        return json_type(want) == json_type(got);
    double w = json_double(want, NAN), g = json_double(got, NAN);
    if (w == 0)
        return fabs(g) <= 1e-14;
    return fabs(g - w) <= tol * fabs(w);
}

static bool matches(const struct json *got, const struct json *want, double tol);

static bool members_match(const struct json *got, const struct json *want, double tol)
{
    bool object = json_type(want) == JSON_OBJECT;
    if (json_type(got) != json_type(want) || json_count(got) != json_count(want))
        return false;
    size_t i = 0;
    for (const struct json *w = json_first(want); w; w = json_next(w), i++) {
        if (!matches(object ? json_get(got, json_key(w)) : json_at(got, i), w, tol))
            return false;
    }
    return true;
}

static bool matches(const struct json *got, const struct json *want, double tol)
{
    enum json_type type = json_type(want);
    if (type == JSON_ARRAY || type == JSON_OBJECT)
        return members_match(got, want, tol);
    if (type == JSON_STRING)
        return json_equal(got, want);
    return number_matches(got, want, tol);
}

static void check_vector(const struct json *vector)
{
    const char *fn = json_text(json_get(vector, "fn"));
    struct buf in = BUF_INIT, want = BUF_INIT;
    struct err err = {0};
    json_print(json_get(vector, "in"), &in);
    json_print(json_get(vector, "out"), &want);
    char *result = byname_call(fn ? fn : "", buf_str(&in), &err);
    struct json *got = result ? json_parse(span_of(result), &err) : NULL;
    bool ok = matches(got, json_get(vector, "out"), json_double(json_get(vector, "tol"), 0));
    if (!ok)
        fprintf(stderr, "%s %.300s: got %s, want %s%s%s\n", fn ? fn : "?", buf_str(&in),
                result ? result : "nothing", buf_str(&want), err.text[0] ? ": " : "", err.text);
    CHECK(ok);
    json_free(got);
    free(result);
    buf_release(&in);
    buf_release(&want);
}

static void check_file(const char *path)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct json *vectors = NULL;
    if (file_read(path, FILE_CAP, &text, &err) == 0)
        vectors = json_parse(buf_span(&text), &err);
    CHECK_STR(err.text, "");
    CHECK(json_count(vectors) > 0);
    for (const struct json *v = json_first(vectors); v; v = json_next(v))
        check_vector(v);
    printf("%zu vectors of %s\n", json_count(vectors), path);
    json_free(vectors);
    buf_release(&text);
}

int main(void)
{
    const char *given = getenv("TOOLSTORM_STATS_VECTORS");
    const char *beside = SOURCE_DIR "/../shared/stats/vectors.json";
    FILE *there = fopen(given ? given : beside, "r");
    if (there)
        fclose(there);
    if (given || there)
        check_file(given ? given : beside);
    else
        printf("skipped: no %s\n", beside);
    check_file(SOURCE_DIR "/tests/data/stats-vectors.json");
    return check_end();
}
