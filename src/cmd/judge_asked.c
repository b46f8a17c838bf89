/* judge_asked.c - options to members of a case's `asked`, checked as a case's would be. */
#include "judge_asked.h"

#include <string.h>

#include "buf.h"
#include "casefile.h"
#include "file.h"
#include "json.h"

#define TOOLS_BYTES (16u << 20)

static void begin(struct buf *out)
{
    buf_adds(out, out->len ? "," : "");
}

static int add_tools(const char *path, struct buf *out, struct err *err)
{
    struct buf text = BUF_INIT;
    if (file_read(path, TOOLS_BYTES, &text, err) != 0) {
        buf_release(&text);
        return -1;
    }
    struct json *v = json_parse(buf_span(&text), err);
    const struct json *tools = json_type(v) == JSON_OBJECT ? json_get(v, "tools") : v;
    struct span raw = tools == v ? buf_span(&text) : json_raw_get(buf_span(&text), "tools");
    int rc = v ? 0 : -1;
    if (v && json_type(tools) != JSON_ARRAY)
        rc = err_set(err, STATUS_USAGE, "neither an array of tools nor a request that has one");
    if (rc == 0) {
        begin(out);
        buf_adds(out, "\"tools\":");
        buf_add(out, raw.data, raw.len);
    } else {
        err_prefix(err, "'--tools %s'", path);
    }
    json_free(v);
    buf_release(&text);
    return rc;
}

/* The members of an object's text, without its braces. */
static int add_members(const char *json, struct buf *out, struct err *err)
{
    struct json *v = json_parse(span_of(json), err);
    if (!v)
        return err_prefix(err, "'--asked'");
    bool is_object = json_type(v) == JSON_OBJECT, any = json_count(v) > 0;
    json_free(v);
    if (!is_object)
        return err_set(err, STATUS_USAGE, "'--asked': expected a JSON object");
    const char *from = strchr(json, '{') + 1, *to = strrchr(json, '}');
    if (any) {
        begin(out);
        buf_add(out, from, (size_t)(to - from));
    }
    return 0;
}

/* A case with these members is read, so that a wrong one is told at once. */
static int check(const struct buf *members, struct err *err)
{
    struct buf text = BUF_INIT;
    struct casefile c;
    buf_addf(&text, "{\"id\":\"\",\"response\":\"\",\"asked\":{%s}}", buf_str(members));
    int rc = casefile_read(buf_span(&text), 0, &c, err);
    if (rc == 0)
        casefile_release(&c);
    else
        err_prefix(err, "--tools, --tool-choice, --asked");
    buf_release(&text);
    return rc;
}

int judge_asked_write(const struct judge_asked *a, struct buf *out, struct err *err)
{
    if (a->tools && add_tools(a->tools, out, err) != 0)
        return -1;
    if (a->choice) {
        begin(out);
        buf_adds(out, "\"tool_choice\":");
        json_quote(out, span_of(a->choice));
    }
    if (a->expected) {
        begin(out);
        buf_adds(out, "\"tool_expected\":true");
    }
    if (a->json && add_members(a->json, out, err) != 0)
        return -1;
    return check(out, err);
}
