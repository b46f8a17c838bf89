/* tables.c - which tables there are and which columns they have. To add a column, add a row here:
 * new files get it with CREATE TABLE, older ones with ALTER TABLE when they are opened for writing.
 * Nothing here talks to SQLite. */
#include "tables.h"

#include <stdint.h>

#include "buf.h"
#include "rejudgings.h"
#include "store.h"
#include "sweeps.h"

#define KEY(name, kind, field)                                                                     \
    {                                                                                              \
        name, kind, FROM_KEY, offsetof(struct row_key, field)                                      \
    }
#define END(name, kind, field)                                                                     \
    {                                                                                              \
        name, kind, FROM_END, offsetof(struct run_end, field)                                      \
    }
#define ROW(type, name, kind, field)                                                               \
    {                                                                                              \
        name, kind, FROM_ROW, offsetof(struct type, field)                                         \
    }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct column runs[] = {
    KEY("run", COL_LONG, run),
    KEY("uid", COL_TEXT, uid),
    KEY("started", COL_TEXT, started),
    ROW(run_row, "started_us", COL_TIME, started_us),
    ROW(run_row, "label", COL_TEXT, label),
    ROW(run_row, "scenario", COL_TEXT, scenario),
    ROW(run_row, "model", COL_TEXT, model),
    ROW(run_row, "base_url", COL_TEXT, base_url),
    ROW(run_row, "dialect", COL_TEXT, dialect),
    ROW(run_row, "version", COL_TEXT, version),
    ROW(run_row, "judge_version", COL_INT, judge_version),
    ROW(run_row, "seed", COL_LONG, seed),
    ROW(run_row, "sessions", COL_LONG, sessions),
    ROW(run_row, "concurrency", COL_LONG, concurrency),
    ROW(run_row, "rounds", COL_LONG, rounds),
    ROW(run_row, "context_tokens", COL_LONG, context_tokens),
    ROW(run_row, "max_tokens", COL_LONG, max_tokens),
    ROW(run_row, "threads", COL_LONG, threads),
    ROW(run_row, "temperature", COL_DOUBLE, temperature),
    ROW(run_row, "stream", COL_BOOL, stream),
    ROW(run_row, "simulated", COL_BOOL, simulated),
    ROW(run_row, "on_damage", COL_TEXT, on_damage),
    ROW(run_row, "tool_choice", COL_TEXT, tool_choice),
    END("status", COL_TEXT, status),
    END("peak_in_flight", COL_COUNT, peak_in_flight),
    END("wall_us", COL_TIME, wall_us),
    END("cpu_us", COL_TIME, cpu_us),
    END("late_p99_us", COL_TIME, late_p99_us),
    ROW(run_row, "command", COL_TEXT, command),
    ROW(run_row, "server_json", COL_TEXT, server_json),
    ROW(run_row, "scenario_text", COL_TEXT, scenario_text),
};

/* What the rows of a run that was joined from shards say of each. */
static const struct column shards[] = {
    KEY("run", COL_LONG, run),
    KEY("uid", COL_TEXT, uid),
    KEY("shard", COL_LONG, shard),
    KEY("shards", COL_LONG, shards),
    KEY("started", COL_TEXT, started),
    ROW(run_row, "started_us", COL_TIME, started_us),
    ROW(run_row, "base_url", COL_TEXT, base_url),
    ROW(run_row, "sessions", COL_LONG, sessions),
    ROW(run_row, "concurrency", COL_LONG, concurrency),
    ROW(run_row, "threads", COL_LONG, threads),
    END("status", COL_TEXT, status),
    END("peak_in_flight", COL_COUNT, peak_in_flight),
    END("wall_us", COL_TIME, wall_us),
    END("cpu_us", COL_TIME, cpu_us),
    END("late_p99_us", COL_TIME, late_p99_us),
    ROW(run_row, "command", COL_TEXT, command),
    ROW(run_row, "server_json", COL_TEXT, server_json),
};

static const struct column sessions[] = {
    KEY("run", COL_LONG, run),
    ROW(session_row, "session", COL_LONG, session),
    ROW(session_row, "class", COL_TEXT, class),
    ROW(session_row, "reason", COL_TEXT, reason),
    ROW(session_row, "first_bad_round", COL_INT, first_bad_round),
    ROW(session_row, "rounds_played", COL_INT, rounds_played),
    ROW(session_row, "ramp", COL_BOOL, ramp),
    ROW(session_row, "warmup", COL_BOOL, warmup),
    ROW(session_row, "start_order", COL_LONG, start_order),
    ROW(session_row, "start_us", COL_MOMENT, start_us),
    ROW(session_row, "end_us", COL_MOMENT, end_us),
    ROW(session_row, "canary", COL_TEXT, canary),
};

/* What reports scan stands first: SQLite reads a row from its start. */
static const struct column rounds[] = {
    KEY("run", COL_LONG, run),
    KEY("session", COL_LONG, session),
    ROW(round_row, "round", COL_INT, round),
    ROW(round_row, "class", COL_TEXT, class),
    ROW(round_row, "reason", COL_TEXT, reason),
    ROW(round_row, "scheduled_us", COL_MOMENT, scheduled_us),
    ROW(round_row, "sent_us", COL_MOMENT, sent_us),
    ROW(round_row, "first_byte_us", COL_MOMENT, first_byte_us),
    ROW(round_row, "first_token_us", COL_MOMENT, first_token_us),
    ROW(round_row, "last_token_us", COL_MOMENT, last_token_us),
    ROW(round_row, "done_us", COL_MOMENT, done_us),
    ROW(round_row, "token_events", COL_LONG, token_events),
    ROW(round_row, "prompt_tokens", COL_COUNT, prompt_tokens),
    ROW(round_row, "completion_tokens", COL_COUNT, completion_tokens),
    ROW(round_row, "cached_tokens", COL_COUNT, cached_tokens),
    ROW(round_row, "reasoning_tokens", COL_COUNT, reasoning_tokens),
    ROW(round_row, "in_flight_start", COL_INT, in_flight_start),
    ROW(round_row, "in_flight_max", COL_INT, in_flight_max),
    ROW(round_row, "finish", COL_TEXT, finish),
    ROW(round_row, "quirks", COL_TEXT, quirks),
    ROW(round_row, "budget", COL_BOOL, budget),
    ROW(round_row, "status", COL_INT, status),
    ROW(round_row, "reused", COL_BOOL, reused),
    ROW(round_row, "retries", COL_INT, retries),
    ROW(round_row, "overload_retries", COL_INT, overload_retries),
    ROW(round_row, "max_gap_us", COL_TIME, max_gap_us),
    ROW(round_row, "max_late_us", COL_TIME, max_late_us),
    ROW(round_row, "request_bytes", COL_LONG, request_bytes),
    ROW(round_row, "response_bytes", COL_LONG, response_bytes),
    ROW(round_row, "end_detail", COL_TEXT, end_detail),
    ROW(round_row, "error_text", COL_TEXT, error_text),
};

static const struct column findings[] = {
    KEY("run", COL_LONG, run),
    KEY("session", COL_LONG, session),
    KEY("number", COL_INT, number),
    ROW(finding_row, "round", COL_INT, round),
    ROW(finding_row, "class", COL_TEXT, class),
    ROW(finding_row, "reason", COL_TEXT, reason),
    ROW(finding_row, "level", COL_TEXT, level),
    ROW(finding_row, "channel", COL_TEXT, channel),
    ROW(finding_row, "call", COL_COUNT, call),
    ROW(finding_row, "offset", COL_LONG, offset),
    ROW(finding_row, "length", COL_LONG, length),
    ROW(finding_row, "rule", COL_TEXT, rule),
    ROW(finding_row, "note", COL_TEXT, note),
    ROW(finding_row, "owner_session", COL_LONG, owner_session),
    ROW(finding_row, "owner_round", COL_LONG, owner_round),
    ROW(finding_row, "excerpt", COL_BLOB, excerpt),
    ROW(finding_row, "excerpt_offset", COL_LONG, excerpt_offset),
};

static const struct column evidence[] = {
    KEY("run", COL_LONG, run),
    KEY("session", COL_LONG, session),
    KEY("round", COL_INT, round),
    ROW(evidence_part, "part", COL_TEXT, part),
    ROW(evidence_part, "deflated", COL_BOOL, deflated),
    ROW(evidence_part, "size", COL_LONG, size),
    ROW(evidence_part, "data", COL_BLOB, data),
};

static const struct column pairs[] = {
    KEY("run", COL_LONG, run),
    ROW(pair, "key", COL_TEXT, key),
    ROW(pair, "value", COL_TEXT, value),
};

static const struct column sweeps[] = {
    KEY("sweep", COL_LONG, sweep),          KEY("uid", COL_TEXT, uid),
    KEY("started", COL_TEXT, started),      ROW(sweep_row, "kind", COL_TEXT, kind),
    ROW(sweep_row, "name", COL_TEXT, name), ROW(sweep_row, "version", COL_TEXT, version),
    ROW(sweep_row, "plan", COL_TEXT, plan),
};

static const struct column sweep_cells[] = {
    KEY("sweep", COL_LONG, sweep),
    KEY("cell", COL_INT, number),
    ROW(sweep_cell_row, "name", COL_TEXT, name),
    ROW(sweep_cell_row, "levels", COL_TEXT, levels),
    ROW(sweep_cell_row, "baseline", COL_BOOL, baseline),
};

static const struct column sweep_starts[] = {
    KEY("sweep", COL_LONG, sweep),
    KEY("start", COL_INT, number),
    ROW(sweep_start_row, "place", COL_LONG, place),
    ROW(sweep_start_row, "block", COL_LONG, block),
    ROW(sweep_start_row, "cell", COL_LONG, cell),
    ROW(sweep_start_row, "step", COL_TEXT, step),
    ROW(sweep_start_row, "boot", COL_TEXT, boot),
    ROW(sweep_start_row, "state", COL_TEXT, state),
    ROW(sweep_start_row, "detail", COL_TEXT, detail),
    ROW(sweep_start_row, "run", COL_COUNT, run),
    ROW(sweep_start_row, "started_us", COL_TIME, started_us),
    ROW(sweep_start_row, "ended_us", COL_TIME, ended_us),
};

static const struct column hook_calls[] = {
    KEY("sweep", COL_LONG, sweep),
    KEY("call", COL_INT, number),
    ROW(hook_call_row, "start", COL_LONG, start),
    ROW(hook_call_row, "action", COL_TEXT, action),
    ROW(hook_call_row, "failed", COL_BOOL, failed),
    ROW(hook_call_row, "end", COL_TEXT, end),
    ROW(hook_call_row, "elapsed_us", COL_TIME, elapsed_us),
    ROW(hook_call_row, "output", COL_BLOB, output),
};

static const struct column rejudgings[] = {
    KEY("run", COL_LONG, run),
    KEY("number", COL_INT, number),
    KEY("started", COL_TEXT, started),
    ROW(rejudging_row, "version", COL_TEXT, version),
    ROW(rejudging_row, "judge_version", COL_INT, judge_version),
    ROW(rejudging_row, "strict", COL_BOOL, strict),
    ROW(rejudging_row, "rules_file", COL_TEXT, rules_file),
    ROW(rejudging_row, "rules", COL_TEXT, rules),
};

static const struct column rejudgements[] = {
    KEY("run", COL_LONG, run),
    KEY("number", COL_INT, number),
    ROW(rejudgement_row, "session", COL_LONG, session),
    ROW(rejudgement_row, "round", COL_INT, round),
    ROW(rejudgement_row, "twin", COL_BOOL, twin),
    ROW(rejudgement_row, "final", COL_BOOL, final),
    ROW(rejudgement_row, "class", COL_TEXT, class),
    ROW(rejudgement_row, "reason", COL_TEXT, reason),
    ROW(rejudgement_row, "channel", COL_TEXT, channel),
    ROW(rejudgement_row, "call", COL_COUNT, call),
    ROW(rejudgement_row, "offset", COL_LONG, offset),
    ROW(rejudgement_row, "length", COL_LONG, length),
    ROW(rejudgement_row, "rule", COL_TEXT, rule),
    ROW(rejudgement_row, "note", COL_TEXT, note),
};

static const struct table tables[N_TABLES] = {
    [TABLE_RUNS] = {"runs", "run", true, false, runs, COUNT(runs)},
    [TABLE_SHARDS] = {"run_shards", "run, uid", true, true, shards, COUNT(shards)},
    [TABLE_SESSIONS] = {"sessions", "run, session", false, false, sessions, COUNT(sessions)},
    [TABLE_ROUNDS] = {"rounds", "run, session, round", false, false, rounds, COUNT(rounds)},
    [TABLE_FINDINGS] = {"findings", "run, session, number", false, false, findings,
                        COUNT(findings)},
    [TABLE_TWINS] = {"twins", "run, session, round", false, false, rounds, COUNT(rounds)},
    [TABLE_TWIN_FINDINGS] = {"twin_findings", "run, session, number", false, false, findings,
                             COUNT(findings)},
    [TABLE_EVIDENCE] = {"evidence", "run, session, round, part", true, false, evidence,
                        COUNT(evidence)},
    [TABLE_SETTINGS] = {"run_settings", "run, key", false, true, pairs, COUNT(pairs)},
    [TABLE_TAGS] = {"run_tags", "run, key", false, true, pairs, COUNT(pairs)},
    [TABLE_FACTS] = {"run_facts", "run, key", false, true, pairs, COUNT(pairs)},
    [TABLE_SWEEPS] = {"sweeps", "sweep", true, false, sweeps, COUNT(sweeps)},
    [TABLE_SWEEP_CELLS] = {"sweep_cells", "sweep, cell", false, true, sweep_cells,
                           COUNT(sweep_cells)},
    [TABLE_SWEEP_STARTS] = {"sweep_starts", "sweep, start", false, true, sweep_starts,
                            COUNT(sweep_starts)},
    [TABLE_HOOK_CALLS] = {"hook_calls", "sweep, call", true, false, hook_calls, COUNT(hook_calls)},
    [TABLE_REJUDGINGS] = {"rejudgings", "run, number", true, false, rejudgings, COUNT(rejudgings)},
    [TABLE_REJUDGEMENTS] = {"rejudgements", "run, number, session, round, twin", false, false,
                            rejudgements, COUNT(rejudgements)},
};

const struct table *table_get(enum table_id id)
{
    return &tables[id];
}

static const char *sql_type(enum column_kind kind)
{
    switch (kind) {
    case COL_LONG:
    case COL_COUNT:
    case COL_INT:
    case COL_TIME:
    case COL_MOMENT:
    case COL_BOOL: return "INTEGER";
    case COL_DOUBLE: return "REAL";
    case COL_TEXT: return "TEXT";
    case COL_BLOB: return "BLOB";
    }
    return "ANY";
}

void table_create_sql(const struct table *t, struct buf *out)
{
    buf_addf(out, "CREATE TABLE IF NOT EXISTS %s (", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        buf_addf(out, "%s %s, ", t->columns[i].name, sql_type(t->columns[i].kind));
    buf_addf(out, "PRIMARY KEY (%s)) STRICT%s;", t->key, t->rowid ? "" : ", WITHOUT ROWID");
}

void table_add_column_sql(const struct table *t, const struct column *c, struct buf *out)
{
    buf_addf(out, "ALTER TABLE %s ADD COLUMN %s %s;", t->name, c->name, sql_type(c->kind));
}

static void insert_into(const struct table *t, struct buf *out)
{
    buf_addf(out, "INSERT%s INTO %s (", t->replaces ? " OR REPLACE" : "", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        buf_addf(out, "%s%s", i ? ", " : "", t->columns[i].name);
    buf_addc(out, ')');
}

void table_insert_sql(const struct table *t, struct buf *out)
{
    insert_into(t, out);
    buf_adds(out, " VALUES (");
    for (size_t i = 0; i < t->n_columns; i++)
        buf_adds(out, i ? ", ?" : "?");
    buf_addc(out, ')');
}

void table_insert_from_sql(const struct table *t, const char *source, struct buf *out)
{
    insert_into(t, out);
    buf_addf(out, " SELECT * FROM %s", source);
}

void table_update_end_sql(const struct table *t, struct buf *out)
{
    buf_addf(out, "UPDATE %s SET ", t->name);
    const char *comma = "";
    for (size_t i = 0; i < t->n_columns; i++) {
        if (t->columns[i].source != FROM_END)
            continue;
        buf_addf(out, "%s%s = ?", comma, t->columns[i].name);
        comma = ", ";
    }
    buf_addf(out, " WHERE %s = ?", t->columns[0].name);
}

/* sessions_by_verdict holds every column that reports count by, in the order of reports/counts.sql:
 * a report reads it once, from end to end, and never sorts. */
const struct table_index table_indexes[] = {
    {"runs_by_label", "runs (label)"},
    {"tags_by_value", "run_tags (key, value)"},
    {"sessions_by_verdict",
     "sessions (run, class, reason, warmup, ramp, first_bad_round, rounds_played)"},
    {NULL, NULL},
};

const char *const table_retired_indexes[] = {"sessions_by_class", NULL};
