/* store_fixture.h - a folder for databases, and rows to put into them. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <stdlib.h>

#include "buf.h"
#include "check.h"
#include "store.h"

static char folder[] = "/tmp/toolstorm-store-XXXXXX";

/* Two results are valid at a time. */
static inline const char *file_in(const char *name)
{
    static char paths[2][256];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const struct pair settings[] = {{"sessions", "40"}, {"temperature", "0.7"}};
static const struct pair tags[] = {{"graph", "on"}, {"graph", "off"}, {"idxk", "bf16"}};

static inline struct run_row run_row(void)
{
    return (struct run_row){
        .started_us = 1796032800000000,
        .label = "baseline",
        .scenario = "chain",
        .scenario_text = "{}",
        .model = "m",
        .base_url = "http://127.0.0.1:1",
        .dialect = "openai-chat",
        .version = "0.1.0",
        .command = "toolstorm run",
        .seed = 7,
        .sessions = 40,
        .concurrency = 10,
        .rounds = 3,
        .temperature = NAN,
        .stream = true,
        .judge_version = 1,
        .on_damage = "stop",
        .tool_choice = "auto",
        .settings = settings,
        .n_settings = 2,
        .tags = tags,
        .n_tags = 3,
    };
}

static inline struct round_row round_row(int round)
{
    return (struct round_row){
        .round = round,
        .class = "ok",
        .reason = "ok.maxrounds",
        .scheduled_us = 100,
        .sent_us = 110,
        .first_byte_us = 200,
        .first_token_us = -1,
        .last_token_us = -1,
        .done_us = 900,
        .prompt_tokens = -1,
        .completion_tokens = 55,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .finish = "tool_calls",
        .status = 200,
        .quirks = "no_done crlf",
        .end_detail = "",
    };
}

static inline int add_session(struct store *s, long run, long number, struct err *err)
{
    struct round_row rounds[] = {round_row(1), round_row(2)};
    const struct session_row row = {
        .session = number,
        .start_order = number,
        .class = number % 10 == 3 ? "leak" : "ok",
        .reason = number % 10 == 3 ? "leak.markup" : "ok.done",
        .first_bad_round = number % 10 == 3 ? 2 : 0,
        .rounds_played = 2,
        .canary = "K7QPM-2XD9R",
        .start_us = number,
        .end_us = number + 5,
        .rounds = rounds,
        .n_rounds = 2,
    };
    return store_session(s, run, &row, err);
}

/* The single value of a query, as text. */
static inline const char *value(struct store *s, const char *sql)
{
    static char text[2048];
    struct err err = {0};
    struct query *q = store_query(s, sql, &err);
    if (!q || query_step(q, &err) != 1)
        snprintf(text, sizeof text, "failed: %s", err.text);
    else
        snprintf(text, sizeof text, "%s", query_is_null(q, 0) ? "NULL" : query_text(q, 0));
    query_free(q);
    return text;
}

static inline void remove_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_INT(system(command), 0);
}

#endif
