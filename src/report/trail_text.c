/* trail_text.c - a search in words, with its evidence line by line and its assumption. It says what
 * goes with the damage, not what causes it. */
#include "trail.h"

#include <math.h>
#include <stdio.h>

#include "buf.h"
#include "json.h"
#include "rate_text.h"
#include "report.h"
#include "text.h"

#define INDENT 2

static const char assumption[] =
    "Assumption: switching a flag on never hides the damage. Where two settings cancel each other "
    "out, the set may be wrong.";

/* --- names ---------------------------------------------------------------------------------------
 */

static void add_flags(const struct trail_rule *rule, unsigned set, const char *between,
                      struct buf *out)
{
    const char *separator = "";
    for (int i = 0; i < rule->n_flags; i++) {
        if (!(set >> i & 1))
            continue;
        buf_addf(out, "%s%s", separator, rule->on[i]);
        separator = between;
    }
}

void trail_step_name(const struct trail_rule *rule, const struct hunt_step *step, struct buf *out)
{
    switch (step->kind) {
    case HUNT_BASELINE: buf_adds(out, "baseline: all on"); break;
    case HUNT_CONTROL:
        buf_adds(out, step->cause == 0 ? "control: all on" : "control: ");
        if (step->cause > 0)
            add_flags(rule, step->on, ", ", out);
        break;
    case HUNT_CONFIRM:
        buf_adds(out, "alone: ");
        add_flags(rule, step->on, ", ", out);
        break;
    case HUNT_REST:
        buf_adds(out, "the others: ");
        add_flags(rule, step->on, ", ", out);
        break;
    case HUNT_WITHOUT:
        buf_addf(out, "%s%s", step->cause == 0 ? "" : "again, ", rule->off[step->flag]);
        break;
    }
}

void trail_step_result(const struct trail_rule *rule, const struct trail_step *step,
                       struct buf *out)
{
    const char *flag = step->step.kind == HUNT_WITHOUT ? rule->on[step->step.flag] : "";
    if (!step->settled) {
        buf_adds(out, "not yet surely above twice p0: another start");
        return;
    }
    if (step->outcome == HUNT_UNDECIDED) {
        buf_adds(out, "undecided");
        return;
    }
    bool corrupts = step->outcome == HUNT_CORRUPT;
    switch (step->step.kind) {
    case HUNT_BASELINE: buf_adds(out, corrupts ? "corrupts" : "does not surely corrupt"); break;
    case HUNT_WITHOUT:
        buf_addf(out, corrupts ? "still corrupts: %s is not needed" : "clean: %s is needed", flag);
        break;
    case HUNT_CONTROL:
        buf_adds(out, corrupts ? "still corrupts" : "clean: the damage has gone away");
        break;
    case HUNT_CONFIRM:
        buf_adds(out, corrupts ? "corrupts: confirmed" : "clean: not confirmed");
        break;
    case HUNT_REST:
        buf_adds(out, corrupts ? "corrupts: there is a second cause" : "clean: no second cause");
        break;
    }
}

/* Where a sequential test ended with corruption, it ended because of it: an interval around the
 * rate would be wrong. The number of a clean step's sessions is fixed beforehand. */
static const char *step_rate(const struct trail_step *s, char *out)
{
    if (s->step.kind == HUNT_BASELINE || s->x == 0)
        return rate_text(out, RATE_TEXT_SIZE, s->x, s->n);
    snprintf(out, RATE_TEXT_SIZE, "%ld/%ld", s->x, s->n);
    return out;
}

/* --- sentences -----------------------------------------------------------------------------------
 */

static void add_method(const struct trail *t, struct buf *out)
{
    char p0[RATE_TEXT_SIZE], p1[RATE_TEXT_SIZE], e[RATE_TEXT_SIZE];
    if (isnan(t->test.p1) || t->test.p1 <= 0)
        return;
    buf_addf(out,
             "Each step after the baseline: a sequential test of %s (clean) against %s (half the "
             "baseline's rate), sessions in the order of their start, wrong with a chance of at "
             "most %s either way.",
             rate_text_percent(p0, sizeof p0, t->test.p0, 1),
             rate_text_percent(p1, sizeof p1, t->test.p1, 1),
             rate_text_percent(e, sizeof e, t->test.alpha, 1000));
}

static void add_causes(const struct trail *t, struct buf *out)
{
    for (int i = 0; i < t->hunt.n_causes; i++) {
        buf_addf(out, "%sNeeded%s: ", i ? " " : "", i ? " for the second cause" : "");
        add_flags(t->rule, t->hunt.causes[i], " AND ", out);
        buf_addc(out, '.');
    }
}

/* What came of it. */
static void add_end(const struct trail *t, struct buf *out)
{
    char rate[RATE_TEXT_SIZE];
    rate_text(rate, sizeof rate, t->base_x, t->base_n);
    switch (t->hunt.end) {
    case HUNT_FOUND:
        add_causes(t, out);
        buf_adds(out, " Switching one of them off makes the damage vanish; whether that fixes the "
                      "cause or hides it, this can't tell.");
        break;
    case HUNT_NO_BASELINE:
        buf_addf(out,
                 "Refused: with all flags on, %s, and that is not surely above twice the %g%% that "
                 "count as clean. Raise concurrency, rounds or context until it corrupts more.",
                 rate, 100 * t->rule->p0);
        break;
    case HUNT_LOST:
        buf_adds(out, "Stopped: with all flags on the damage no longer shows, so the clean results "
                      "since the last control prove nothing. Is the server still the same?");
        break;
    case HUNT_NOT_CONFIRMED:
        buf_adds(out,
                 "Not confirmed: on a fresh start the set alone came out clean. Either luck of "
                 "the starts, or the assumption does not hold.");
        break;
    case HUNT_NEEDS_NONE:
        buf_adds(out, "No flag is needed: it corrupts with every flag off. Look elsewhere.");
        break;
    case HUNT_STEP_UNDECIDED:
        buf_addf(out,
                 "Undecided: the last step reached its cap of %ld sessions, or too few of "
                 "them could be judged.",
                 t->rule->cap);
        break;
    case HUNT_GOES_ON: buf_adds(out, "Not finished: go on with --resume."); break;
    }
    if (t->hunt.end != HUNT_FOUND && t->hunt.n_causes > 0) {
        buf_addc(out, ' ');
        add_causes(t, out);
    }
}

static void write_line(const struct report_style *style, const char *text, struct buf *out)
{
    size_t columns = style->columns > 0 ? (size_t)style->columns : 80;
    buf_addf(out, "%*s", INDENT, "");
    text_wrap(out, text, INDENT, columns);
}

void trail_write_text(const struct trail *t, const struct report_style *style, struct buf *out)
{
    struct report_style wide = *style;
    struct grid g = {.align = "rlll"};
    struct buf line = BUF_INIT;
    wide.columns = 10000;
    buf_addf(out, "%s: which of %d flags are needed\n\n", t->rule->name, t->rule->n_flags);
    for (size_t i = 0; i < t->n_steps; i++) {
        const struct trail_step *s = &t->steps[i];
        char rate[RATE_TEXT_SIZE];
        grid_addf(&g, "%zu", i + 1);
        trail_step_name(t->rule, &s->step, &line);
        grid_add(&g, buf_str(&line));
        grid_add(&g, step_rate(s, rate));
        if (s->outcome == HUNT_CORRUPT)
            grid_paint(&g, PAINT_BAD);
        buf_clear(&line);
        trail_step_result(t->rule, s, &line);
        if (s->errors)
            buf_addf(&line, " (%ld could not be judged)", s->errors);
        grid_add(&g, buf_str(&line));
        buf_clear(&line);
    }
    grid_print(&g, &wide, INDENT, out);
    buf_addc(out, '\n');
    add_end(t, &line);
    write_line(style, buf_str(&line), out);
    buf_clear(&line);
    buf_addf(&line, "%zu server starts, %ld judged sessions.", t->n_steps, t->sessions);
    write_line(style, buf_str(&line), out);
    buf_clear(&line);
    add_method(t, &line);
    if (line.len)
        write_line(style, buf_str(&line), out);
    write_line(style, assumption, out);
    buf_release(&line);
}

void trail_write_md(const struct trail *t, struct buf *out)
{
    buf_addf(out, "### Isolation `%s`\n\n", t->rule->name);
    add_end(t, out);
    buf_adds(out, "\n\n| step | configuration | sessions | what it shows |\n|---|---|---|---|\n");
    for (size_t i = 0; i < t->n_steps; i++) {
        const struct trail_step *s = &t->steps[i];
        char rate[RATE_TEXT_SIZE];
        buf_addf(out, "| %zu | ", i + 1);
        trail_step_name(t->rule, &s->step, out);
        buf_addf(out, " | %s | ", step_rate(s, rate));
        trail_step_result(t->rule, s, out);
        buf_adds(out, " |\n");
    }
    buf_addf(out, "\n%zu server starts, %ld judged sessions. ", t->n_steps, t->sessions);
    add_method(t, out);
    buf_addf(out, "\n\n%s\n", assumption);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static const char *end_word(enum hunt_end end)
{
    switch (end) {
    case HUNT_FOUND: return "found";
    case HUNT_NO_BASELINE: return "no baseline";
    case HUNT_LOST: return "lost";
    case HUNT_NOT_CONFIRMED: return "not confirmed";
    case HUNT_NEEDS_NONE: return "needs none";
    case HUNT_STEP_UNDECIDED: return "undecided";
    case HUNT_GOES_ON: break;
    }
    return "unfinished";
}

static void text_member(struct jsonw *w, const char *key, struct buf *text)
{
    jsonw_key(w, key);
    jsonw_span(w, buf_span(text));
    buf_clear(text);
}

static void write_flags(const struct trail *t, unsigned set, struct jsonw *w)
{
    jsonw_array(w);
    for (int i = 0; i < t->rule->n_flags; i++)
        if (set >> i & 1)
            jsonw_text(w, t->rule->on[i]);
    jsonw_end_array(w);
}

static void write_step(const struct trail *t, const struct trail_step *s, struct jsonw *w)
{
    struct buf text = BUF_INIT;
    jsonw_object(w);
    trail_step_name(t->rule, &s->step, &text);
    text_member(w, "step", &text);
    jsonw_key(w, "on");
    write_flags(t, s->step.on, w);
    jsonw_member_long(w, "run", s->run);
    jsonw_member_long(w, "corrupt", s->x);
    jsonw_member_long(w, "judged", s->n);
    jsonw_member_long(w, "errors", s->errors);
    trail_step_result(t->rule, s, &text);
    text_member(w, "result", &text);
    jsonw_end_object(w);
    buf_release(&text);
}

void trail_write_json(const struct trail *t, struct jsonw *w)
{
    struct buf text = BUF_INIT;
    jsonw_object(w);
    jsonw_member_text(w, "name", t->rule->name);
    jsonw_member_text(w, "end", end_word(t->hunt.end));
    jsonw_key(w, "needed");
    jsonw_array(w);
    for (int i = 0; i < t->hunt.n_causes; i++)
        write_flags(t, t->hunt.causes[i], w);
    jsonw_end_array(w);
    add_end(t, &text);
    text_member(w, "words", &text);
    jsonw_member_double(w, "p0", t->rule->p0);
    jsonw_member_double(w, "p1", t->test.p1 > 0 ? t->test.p1 : NAN);
    jsonw_member_double(w, "error_per_step", t->test.p1 > 0 ? t->test.alpha : NAN);
    jsonw_member_long(w, "starts", (long)t->n_steps);
    jsonw_member_long(w, "sessions", t->sessions);
    jsonw_key(w, "steps");
    jsonw_array(w);
    for (size_t i = 0; i < t->n_steps; i++)
        write_step(t, &t->steps[i], w);
    jsonw_end_array(w);
    jsonw_member_text(w, "assumption", assumption);
    jsonw_end_object(w);
    buf_release(&text);
}
