/* sweep_book.c - reads and writes the rows that say how far a sweep is. */
#include "sweep_book.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cell.h"
#include "json.h"
#include "mem.h"
#include "planfile.h"
#include "rate_text.h"
#include "store.h"
#include "sweeps.h"

static int begin(struct sweep_book *b, struct err *err)
{
    struct sweep_row row = {.kind = b->kind,
                            .name = b->plan->name,
                            .version = TOOLSTORM_VERSION,
                            .plan = b->plan->text};
    b->sweep = sweeps_begin(b->store, &row, err);
    return b->sweep > 0 ? 0 : -1;
}

static int find(struct sweep_book *b, struct err *err)
{
    struct query *q = store_query(b->store,
                                  "SELECT sweep, plan FROM sweeps WHERE name = :name AND kind = "
                                  ":kind ORDER BY sweep DESC LIMIT 1",
                                  err);
    if (!q)
        return -1;
    query_bind_text(q, "name", b->plan->name);
    query_bind_text(q, "kind", b->kind);
    int rc = query_step(q, err);
    if (rc == 0)
        rc = err_set(err, STATUS_USAGE, "there is no %s '%s' in '%s' to go on with", b->kind,
                     b->plan->name, b->db);
    else if (rc == 1 && strcmp(query_text(q, 1), b->plan->text) != 0)
        rc = err_set(err, STATUS_USAGE,
                     "the plan of '%s' has changed since it was begun; give it another name, or "
                     "begin anew without --resume",
                     b->plan->name);
    else if (rc == 1) {
        b->sweep = query_long(q, 0);
        rc = 0;
    }
    query_free(q);
    return rc;
}

/* --- what a killed program left ----------------------------------------------------------------
 */

struct leftovers {
    struct cell_leftover *items;
    char **texts;
    size_t n, cap, n_texts, texts_cap;
};

static char *keep(struct leftovers *l, const char *text)
{
    l->texts = mem_grow(l->texts, &l->texts_cap, l->n_texts, sizeof *l->texts);
    return l->texts[l->n_texts++] = mem_str(text);
}

static int read_leftovers(const struct sweep_book *b, struct leftovers *l, struct err *err)
{
    struct query *q = store_query(b->store,
                                  "SELECT s.start, s.place, s.block, s.cell, s.step, s.boot, "
                                  "s.run, c.levels, s.state = 'stopping', s.started_us FROM "
                                  "sweep_starts s JOIN sweep_cells c USING "
                                  "(sweep, cell) WHERE sweep = :sweep AND s.state IN "
                                  "('starting', 'running', 'stopping') ORDER BY s.start",
                                  err);
    int rc = q ? 0 : -1;
    if (q)
        query_bind_long(q, "sweep", b->sweep);
    while (q && (rc = query_step(q, err)) == 1) {
        l->items = mem_grow(l->items, &l->cap, l->n, sizeof *l->items);
        l->items[l->n++] =
            (struct cell_leftover){.start = (int)query_long(q, 0),
                                   .place = query_long(q, 1),
                                   .block = query_long(q, 2),
                                   .cell = (int)query_long(q, 3),
                                   .step = query_is_null(q, 4) ? NULL : keep(l, query_text(q, 4)),
                                   .boot = keep(l, query_text(q, 5)),
                                   .run = query_is_null(q, 6) ? -1 : query_long(q, 6),
                                   .levels = keep(l, query_text(q, 7)),
                                   .played = query_long(q, 8) != 0,
                                   .started_us = query_long(q, 9)};
    }
    query_free(q);
    return rc;
}

/* The levels that a stored cell names, as the plan numbers them. */
static void parse_levels(const struct planfile *p, const char *text, size_t *levels)
{
    struct json *v = json_parse(span_of(text), NULL);
    for (size_t i = 0; i < p->n_factors; i++) {
        const char *level = json_text(json_get(v, p->factors[i].name));
        levels[i] = 0;
        for (size_t k = 0; level && k < p->factors[i].n_levels; k++)
            if (strcmp(p->factors[i].levels[k], level) == 0)
                levels[i] = k;
    }
    json_free(v);
}

static int abandon_leftovers(const struct sweep_book *b, struct err *err)
{
    struct leftovers l = {0};
    int rc = read_leftovers(b, &l, err);
    for (size_t i = 0; i < l.n && rc == 0; i++) {
        size_t levels[PLANFILE_MAX_FACTORS];
        parse_levels(b->plan, l.items[i].levels, levels);
        struct cell c = {.plan = b->plan,
                         .store = b->store,
                         .sweep = b->sweep,
                         .db = b->db,
                         .levels = levels,
                         .start = l.items[i].start,
                         .block = l.items[i].block};
        rc = cell_abandon(&c, &l.items[i], err);
    }
    for (size_t i = 0; i < l.n_texts; i++)
        free(l.texts[i]);
    free(l.texts);
    free(l.items);
    return rc;
}

/* --- looking up ---------------------------------------------------------------------------------
 */

/* One number of a statement with parameters :sweep, :a and :text; `absent` if there is no row. */
static long look_up(const struct sweep_book *b, const char *sql, long a, const char *text,
                    long absent, struct err *err)
{
    struct query *q = store_query(b->store, sql, err);
    if (!q)
        return -1;
    query_bind_long(q, "sweep", b->sweep);
    query_bind_long(q, "a", a);
    query_bind_text(q, "text", text);
    int rc = query_step(q, err);
    long n = rc == 1 ? query_long(q, 0) : rc == 0 ? absent : -1;
    query_free(q);
    return n;
}

int sweep_book_open(struct sweep_book *b, bool resume, struct err *err)
{
    if ((resume ? find(b, err) : begin(b, err)) != 0)
        return -1;
    if (resume && abandon_leftovers(b, err) != 0)
        return -1;
    long n = look_up(b, "SELECT coalesce(max(start), 0) FROM sweep_starts WHERE sweep = :sweep", 0,
                     NULL, 0, err);
    b->n_starts = (int)n;
    return n < 0 ? -1 : 0;
}

int sweep_book_cell(struct sweep_book *b, const size_t *levels, struct err *err)
{
    struct buf name = BUF_INIT, json = BUF_INIT;
    struct jsonw w = {.out = &json};
    planfile_cell_name(b->plan, levels, &name);
    long cell = look_up(b, "SELECT cell FROM sweep_cells WHERE sweep = :sweep AND name = :text", 0,
                        buf_str(&name), 0, err);
    if (cell == 0) {
        cell = look_up(b, "SELECT coalesce(max(cell), 0) + 1 FROM sweep_cells WHERE sweep = :sweep",
                       0, NULL, 1, err);
        jsonw_object(&w);
        for (size_t i = 0; i < b->plan->n_factors; i++) {
            jsonw_key(&w, b->plan->factors[i].name);
            jsonw_text(&w, b->plan->factors[i].levels[levels[i]]);
        }
        jsonw_end_object(&w);
        const size_t *base = planfile_cell(b->plan, b->plan->baseline);
        struct sweep_cell_row row = {
            .name = buf_str(&name),
            .levels = buf_str(&json),
            .baseline = memcmp(base, levels, b->plan->n_factors * sizeof *levels) == 0};
        if (cell > 0 && sweeps_cell(b->store, b->sweep, (int)cell, &row, err) != 0)
            cell = -1;
    }
    buf_release(&name);
    buf_release(&json);
    return (int)cell;
}

int sweep_book_is_done(const struct sweep_book *b, long place, struct err *err)
{
    return (int)look_up(b,
                        "SELECT count(*) > 0 FROM sweep_starts WHERE sweep = :sweep AND place = "
                        ":a AND state = 'done'",
                        place, NULL, 0, err);
}

int sweep_book_rate(const struct sweep_book *b, int cell, long run, struct buf *out,
                    struct err *err)
{
    struct query *q = store_query(
        b->store,
        "SELECT count(*) FILTER (WHERE class IN ('leak', 'no_tool')), count(*) FILTER (WHERE class "
        "<> 'error') FROM sessions WHERE NOT warmup AND (run = :run OR (:run <= 0 AND run IN "
        "(SELECT run FROM sweep_starts WHERE sweep = :sweep AND cell = :cell AND state = "
        "'done')))",
        err);
    if (!q)
        return -1;
    query_bind_long(q, "run", run);
    query_bind_long(q, "sweep", b->sweep);
    query_bind_long(q, "cell", cell);
    int rc = query_step(q, err);
    if (rc == 1 && query_long(q, 1) > 0) {
        char text[RATE_TEXT_SIZE];
        buf_adds(out, rate_text(text, sizeof text, query_long(q, 0), query_long(q, 1)));
    }
    query_free(q);
    return rc < 0 ? -1 : 0;
}
