// layers: judge chat base
// corpus: schemas/markup/*.json
/* Any text as a file of markup rules: refused in one line, or a judge that judges with it. */
#include <stdlib.h>

#include "buf.h"
#include "err.h"
#include "expect.h"
#include "fuzz.h"
#include "judge.h"
#include "mem.h"
#include "message.h"
#include "reply.h"

/* A file of rules is small; the built-in ones are read again for each input. */
#define MOST_BYTES 20000

static void judge_with(const struct judge *j)
{
    static char name[] = "get_gauge", definition[] = "{}";
    struct tool tool = {.name = name, .definition = definition};
    struct toolset *tools = toolset_new(j, &tool, 1, NULL);
    if (!tools)
        return;
    struct expect e = {.tools = &tool, .n_tools = 1, .calls_allowed = true};
    struct verdict v = {0};
    struct reply r;
    reply_init(&r);
    r.done = r.has_choice = true;
    r.status = 200;
    buf_adds(&r.content, "see <call|get_gauge>[{\"name\": \"get_gauge\"}] </call> [GET_GAUGE] ok");
    judge_reply(j, tools, &e, &r, &v);
    for (size_t i = 0; i < v.n_signs; i++)
        if (v.signs[i].offset + v.signs[i].len > r.content.len + r.reasoning.len)
            abort();
    verdict_release(&v);
    reply_release(&r);
    toolset_free(tools);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_BYTES || !size || (data[0] != '{' && data[0] != '['))
        return 0;
    char *text = mem_copy((const char *)data, size);
    struct err err = {0};
    struct judge *j = judge_new(&(struct judge_options){.rules_json = text}, &err);
    if (j)
        judge_with(j);
    else if (err.status == STATUS_PASS || !err.text[0])
        abort();
    judge_free(j);
    free(text);
    return 0;
}
