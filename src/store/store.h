/* store.h - runs, sessions, rounds, findings and evidence in SQLite. Used by one thread at a time.
 * The one home of SQLite. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

struct store;

enum store_mode { STORE_READ, STORE_WRITE /* creates, migrates */ };

/* ":memory:" works. WAL, synchronous=NORMAL, a busy timeout. Errors: a missing file (READ), a file
 * that is no database, a schema from a newer program: status 2; unwritable, locked, disk full:
 * status 5. The text names the file. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *s); /* commits what is pending */

/* Error of status 5 if another program has the database open, as one that stores a run has. Waits
 * up to two seconds for others to leave. */
int store_check_alone(struct store *s, struct err *err) MUST_CHECK;

/* A setting, tag or fact about the server, kept as text. */
struct pair {
    const char *key, *value;
};

/* What is known of a run only when it is over. */
struct run_end {
    const char *status; /* "done", "interrupted", "decided"; "running" when it goes on again */
    long peak_in_flight;
    int64_t wall_us, cpu_us, late_p99_us;
    const struct pair *facts; /* further warnings and figures; or NULL */
    size_t n_facts;
};

struct run_row {
    int64_t started_us; /* since 1970, UTC; 0 = now */
    const char *label, *scenario, *scenario_text, *model, *base_url, *dialect, *version;
    const char *command;     /* the command line, secrets replaced */
    const char *server_json; /* what the server says about itself; or NULL */
    long seed, sessions, concurrency, rounds, context_tokens, max_tokens, threads;
    double temperature; /* NaN: server default */
    bool stream, simulated;
    int judge_version;
    const char *on_damage, *tool_choice;
    const struct pair *settings; /* every option and its value in force */
    size_t n_settings;
    const struct pair *tags;
    size_t n_tags;
};

/* Stores the run and makes it visible at once. Returns its number (from 1), or -1. */
long store_run_begin(struct store *s, const struct run_row *row, struct err *err);

int store_run_end(struct store *s, long run, const struct run_end *end, struct err *err);

/* Sessions that started after place `start_order` stay stored and are counted no more, like those
 * of a warm-up. */
int store_uncount_after(struct store *s, long run, long start_order, struct err *err);

struct finding_row {
    int round;
    const char *class, *reason, *level, *channel, *rule, *note;
    struct span excerpt;             /* up to 240 bytes around it */
    long excerpt_offset;             /* of the excerpt's first byte in the channel's text */
    long offset, length, call;       /* call -1 = none */
    long owner_session, owner_round; /* for foreign; 0 = none */
};

struct round_row {
    int round;
    const char *class, *reason;
    bool budget;
    int64_t scheduled_us, sent_us, first_byte_us, first_token_us, last_token_us,
        done_us; /* since the run's start; -1 = never */
    long prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens; /* -1 = not said */
    long token_events;
    int64_t max_gap_us, max_late_us;
    int in_flight_start, in_flight_max;
    const char *finish;
    int status;
    bool reused;
    int retries;          /* after a reused connection that died */
    int overload_retries; /* after 429 or 503 */
    long request_bytes, response_bytes;
    const char *quirks; /* names, space separated */
    const char *end_detail;
    const char *error_text; /* shortened */
    /* evidence; empty spans = not kept */
    struct span request, headers, response;
    const char *arrivals_json; /* [[offset, us since sent], ...] */
};

struct session_row {
    long session; /* from 1 */
    long start_order;
    const char *class, *reason;
    int first_bad_round; /* 0 = none */
    int rounds_played;
    bool ramp; /* ran during ramp-up or drain */
    bool warmup;
    const char *canary;
    int64_t start_us, end_us; /* since the run's start */
    const struct round_row *rounds;
    size_t n_rounds;
    const struct finding_row *findings;
    size_t n_findings;
    /* The same requests in the other form, streamed or not: what came, and what was found in it. */
    const struct round_row *twins;
    size_t n_twins;
    const struct finding_row *twin_findings;
    size_t n_twin_findings;
};

/* Stores a finished session whole. It is on its way to the disk when this returns, unless sessions
 * come fast: then those of the last 25 ms may wait for the next call or store_tick(), and are what
 * a killed program loses. After an error this session is not stored; earlier ones stay. */
int store_session(struct store *s, long run, const struct session_row *row, struct err *err);

/* The same for several, which costs half as much. After an error some of them are stored, each
 * whole. */
int store_sessions(struct store *s, long run, const struct session_row *const *rows, size_t n,
                   struct err *err) MUST_CHECK;

/* Commits a batch that has waited long enough. `now_us` is clock_mono_us(). Call it when
 * store_due_us() has come, or more often. */
int store_tick(struct store *s, int64_t now_us, struct err *err);

/* When store_tick() has something to do, by clock_mono_us(); INT64_MAX while nothing waits. */
int64_t store_due_us(const struct store *s);

/* Commits now what is pending. */
int store_flush(struct store *s, struct err *err);

/* A query's result, row by row. Values are borrowed until the next step. */
struct query;
/* One statement; several, or one that can't be used, are an error of status 2. */
struct query *store_query(struct store *s, const char *sql, struct err *err);
/* Refuses a statement that could do more than read, and what store_query() refuses, as an error of
 * status 2. For the user's own; it is not run. */
int store_check_reading(struct store *s, const char *sql, struct err *err) MUST_CHECK;
void query_free(struct query *q);
/* Binds :name, given with or without the colon; false if the statement has no such parameter. */
bool query_bind_long(struct query *q, const char *name, long value);
bool query_bind_text(struct query *q, const char *name, const char *value);
int query_step(struct query *q, struct err *err); /* 1 = a row, 0 = the end, -1 = failed */
int query_columns(const struct query *q);
const char *query_name(const struct query *q, int column);
enum query_kind { QUERY_NULL, QUERY_LONG, QUERY_DOUBLE, QUERY_TEXT, QUERY_BLOB };
enum query_kind query_kind(const struct query *q, int column);
bool query_is_null(const struct query *q, int column);
long query_long(const struct query *q, int column);
double query_double(const struct query *q, int column);
const char *query_text(const struct query *q, int column);  /* "" for NULL */
struct span query_bytes(const struct query *q, int column); /* a text's end with a NUL behind */

/* The SQL functions that every connection has beside SQLite's own. */
struct store_function {
    const char *name, *args, *meaning;
};
const struct store_function *store_function_at(size_t i); /* NULL behind the last */

/* Gives this connection one more: NAME(text), which answers with what `word` answers; NULL for
 * NULL. For tables of words that the store does not know. */
int store_define(struct store *s, const char *name, const char *(*word)(const char *text),
                 struct err *err) MUST_CHECK;

/* The same for NAME(text, number); a NULL text is handed on. */
int store_define_counted(struct store *s, const char *name,
                         const char *(*word)(const char *text, long n), struct err *err) MUST_CHECK;

#endif
