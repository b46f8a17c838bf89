/* md.c - the text of an issue: what engines' issue templates ask for, short enough to be read. Keys
 * never get into a database; host names are masked here. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "command.h"
#include "digest.h"
#include "listed.h"
#include "mem.h"
#include "text.h"
#include "verdict.h"

#define MAX_ROWS    40   /* of a table */
#define MAX_EXCERPT 3    /* damaged sessions quoted */
#define MAX_SERVER  4000 /* bytes of what a server says of itself */
#define N(columns)  (sizeof(columns) / sizeof(columns)[0])

/* Text of a table's cell: on one line, and without what would end the cell or begin markup. */
static void add_text(struct buf *out, struct span text)
{
    struct buf safe = BUF_INIT;
    text_safe(&safe, text, false);
    for (size_t i = 0; i < safe.len; i++) {
        bool link = safe.data[i] == ']' && i + 1 < safe.len && safe.data[i + 1] == '(';
        if (link || strchr("|<>*_`\\", safe.data[i]))
            buf_addc(out, '\\');
        buf_addc(out, safe.data[i]);
    }
    buf_release(&safe);
}

static void table(struct buf *out, const struct section *s, const struct listed *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "| %s ", columns[i].head);
    buf_adds(out, "|\n");
    for (size_t i = 0; i < n; i++)
        buf_adds(out, listed_is_number(&columns[i]) ? "|---:" : "|---");
    buf_adds(out, "|\n");
    for (size_t row = 0; row < s->n_rows && row < MAX_ROWS; row++) {
        for (size_t i = 0; i < n; i++) {
            struct buf cell = BUF_INIT;
            listed_add(&cell, s, row, &columns[i]);
            buf_adds(out, "| ");
            add_text(out, buf_span(&cell));
            buf_addc(out, ' ');
            buf_release(&cell);
        }
        buf_adds(out, "|\n");
    }
    if (s->n_rows > MAX_ROWS)
        buf_addf(out, "\nand %zu more\n", s->n_rows - MAX_ROWS);
    buf_addc(out, '\n');
}

/* --- masking ---------------------------------------------------------------------------------- */

static bool is_local(struct span host)
{
    return span_starts(host, "127.") || span_is(host, "localhost") || span_is(host, "[::1]");
}

/* The text with the host of every URL replaced, unless it is this machine. */
static void add_masked(struct buf *out, struct span text)
{
    while (text.len) {
        long at = span_find(text, span_of("://"), 0);
        size_t before = at < 0 ? text.len : (size_t)at + 3;
        buf_add(out, text.data, before);
        text = (struct span){text.data + before, text.len - before};
        if (at < 0)
            return;
        struct span host = {text.data, 0};
        bool bracket = text.len && text.data[0] == '[';
        while (host.len < text.len && !strchr("/?#\"' \n", text.data[host.len]) &&
               (bracket || text.data[host.len] != ':')) {
            bracket = bracket && text.data[host.len] != ']';
            host.len++;
        }
        if (is_local(host))
            buf_add(out, host.data, host.len);
        else
            buf_adds(out, "HOST");
        text = (struct span){text.data + host.len, text.len - host.len};
    }
}

/* A fence longer than any run of backticks in the text, and the text, its hosts masked. */
static void block(struct buf *out, struct span text)
{
    struct buf safe = BUF_INIT, masked = BUF_INIT;
    size_t longest = 2, run = 0;
    add_masked(&masked, text);
    text_safe(&safe, buf_span(&masked), true);
    for (size_t i = 0; i < safe.len; i++) {
        run = safe.data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        buf_addc(out, '`');
    buf_addf(out, "\n%s%s", buf_str(&safe),
             safe.len && safe.data[safe.len - 1] == '\n' ? "" : "\n");
    for (size_t i = 0; i <= longest; i++)
        buf_addc(out, '`');
    buf_adds(out, "\n\n");
    buf_release(&masked);
    buf_release(&safe);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void rates(const struct digest *d, struct buf *out)
{
    static const struct listed columns[] = {
        {"name", "configuration", LISTED_TEXT},
        {"tags", "tags", LISTED_TEXT},
        {"starts", "server starts", LISTED_COUNT},
        {"concurrency", "concurrency", LISTED_COUNT},
        {"text", "corrupted sessions, 95% interval", LISTED_TEXT},
        {"error", "not judged", LISTED_COUNT},
    };
    buf_adds(out, "### How often\n\n");
    table(out, figures_get(&d->figures, "configs"), columns, N(columns));
    buf_adds(out, "A session is corrupted when a reply leaks tool-call markup or tokens, alters a "
                  "value that was demanded back, breaks a call, or makes none where one was due. "
                  "Replies that failed in transport are \"not judged\".\n\n");
}

static void control(const struct digest *d, struct buf *out)
{
    buf_adds(out, "### Control\n\n");
    if (d->compared) {
        for (size_t i = 0; i + 1 < d->compare.n_arms; i++) {
            const struct comparison *c = &d->compare.comparisons[i];
            struct buf text = BUF_INIT;
            compare_write_sentence(&d->compare, i, &text);
            buf_adds(out, "- ");
            add_text(out, span_of(c->a->name));
            buf_adds(out, " to ");
            add_text(out, span_of(c->b->name));
            buf_addf(out, ": **%s**. %s\n", verdict_word(c->result.verdict), buf_str(&text));
            buf_release(&text);
        }
        buf_addc(out, '\n');
    } else if (d->why_not) {
        buf_addf(out, "The configurations were not compared: %s.\n\n", d->why_not);
    } else {
        buf_adds(out,
                 "None: there is one configuration only. The same sessions on another one, or at "
                 "concurrency 1, would tell damage under load from a habit of the model.\n\n");
    }
}

static void reasons(const struct digest *d, struct buf *out)
{
    static const struct listed columns[] = {
        {"reason", "reason", LISTED_TEXT},      {"name", "configuration", LISTED_TEXT},
        {"sessions", "sessions", LISTED_COUNT}, {"share_text", "of finished", LISTED_TEXT},
        {"meaning", "meaning", LISTED_TEXT},
    };
    const struct section *s = figures_get(&d->figures, "reasons");
    if (!s->n_rows)
        return;
    buf_adds(out, "### What it looks like\n\n");
    table(out, s, columns, N(columns));
}

static void excerpts(const struct digest *d, struct buf *out)
{
    const struct section *s = figures_get(&d->figures, "damaged");
    for (size_t i = 0; i < s->n_rows && i < MAX_EXCERPT; i++) {
        buf_addf(out, "`%s`, session %ld of run %ld, round %ld, %ld in flight",
                 figures_text(s, i, "reason"), figures_long(s, i, "session"),
                 figures_long(s, i, "run"), figures_long(s, i, "round"),
                 figures_long(s, i, "in_flight"));
        if (figures_text(s, i, "note")[0]) {
            buf_adds(out, ": ");
            add_text(out, figures_span(s, i, "note"));
        }
        buf_adds(out, "\n\n");
        if (figures_span(s, i, "excerpt").len)
            block(out, figures_span(s, i, "excerpt"));
    }
}

static void environment(const struct digest *d, struct buf *out)
{
    const struct section *configs = figures_get(&d->figures, "configs");
    const struct section *server = figures_get(&d->figures, "server");
    const struct section *runs = figures_get(&d->figures, "runs");
    buf_adds(out, "### Environment\n\n- model: `");
    add_text(out, figures_span(configs, 0, "model"));
    buf_adds(out, "`\n- load: ");
    buf_addf(out,
             "%ld sessions of %ld rounds, %ld in flight (%ld reached), context about %ld tokens, "
             "scenario `%s`\n",
             figures_long(runs, 0, "sessions"), figures_long(runs, 0, "rounds"),
             figures_long(runs, 0, "concurrency"), figures_long(runs, 0, "peak_in_flight"),
             figures_long(runs, 0, "context_tokens"), figures_text(runs, 0, "scenario"));
    buf_addf(out, "- client: toolstorm %s, judge %ld\n\n", figures_text(runs, 0, "version"),
             figures_long(runs, 0, "judge_version"));
    for (size_t i = 0; i < server->n_rows && i < 2; i++) {
        struct span said = figures_span(server, i, "said");
        if (said.len > MAX_SERVER)
            said.len = MAX_SERVER;
        buf_addf(out, "<details><summary>What the server of run%s %s says of itself</summary>\n\n",
                 strchr(figures_text(server, i, "runs"), ',') ? "s" : "",
                 figures_text(server, i, "runs"));
        block(out, said);
        buf_adds(out, "</details>\n\n");
    }
}

static void repeat(const struct digest *d, struct buf *out)
{
    const struct section *worst = figures_get(&d->figures, "worst");
    const struct section *runs = figures_get(&d->figures, "runs");
    buf_adds(out, "### How to repeat it\n\n");
    for (size_t i = 0; i < runs->n_rows; i++)
        if (!worst->n_rows || figures_long(runs, i, "config") == figures_long(worst, 0, "config")) {
            struct buf command = BUF_INIT;
            command_portable(&command, figures_span(runs, i, "command"));
            block(out, buf_span(&command));
            buf_release(&command);
            return;
        }
}

void md_write(const struct digest *d, struct buf *out)
{
    const struct section *w = figures_get(&d->figures, "warnings");
    struct buf headline = BUF_INIT;
    digest_headline(d, &headline);
    bool damaged = figures_long(figures_get(&d->figures, "about"), 0, "corrupted") > 0;
    buf_addf(out, "## Tool calls %sunder load\n\n**", damaged ? "come back damaged " : "");
    add_text(out, buf_span(&headline));
    buf_adds(out, "**\n\n");
    rates(d, out);
    control(d, out);
    reasons(d, out);
    excerpts(d, out);
    environment(d, out);
    repeat(d, out);
    if (w->n_rows)
        buf_adds(out, "### Mind\n\n");
    for (size_t i = 0; i < w->n_rows && i < MAX_ROWS; i++) {
        buf_adds(out, "- ");
        add_text(out, figures_span(w, i, "text"));
        buf_addc(out, '\n');
    }
    buf_release(&headline);
}
