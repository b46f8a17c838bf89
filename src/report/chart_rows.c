/* chart_rows.c - charts of rows: rates with intervals, reasons, latencies. Every mark and every
 * figure is a cell of a section. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "html.h"
#include "mem.h"
#include "plot.h"
#include "text.h"

#define MIDDLE     (PLOT_ROW_HEIGHT / 2)
#define N(columns) (sizeof(columns) / sizeof(columns)[0])

/* --- rates ------------------------------------------------------------------------------------ */

static double largest(const struct section *s, const char *column)
{
    double most = 0;
    for (size_t i = 0; i < s->n_rows; i++)
        most = fmax(most, figures_double(s, i, column)); /* fmax leaves NaN out */
    return most;
}

/* A small mark per run: how far repeats scatter. */
static void run_marks(struct buf *out, const struct section *runs, long config,
                      const struct axis *axis)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->n_rows; i++)
        n += figures_long(runs, i, "config") == config;
    for (size_t i = 0; n > 1 && i < runs->n_rows; i++)
        if (figures_long(runs, i, "config") == config && !figures_null(runs, i, "rate")) {
            double x = plot_x(axis, figures_double(runs, i, "rate"));
            buf_addf(out, "<line class=\"run\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
                     x, x, MIDDLE + 4, MIDDLE + 11);
        }
}

static void rate_row(struct buf *out, const struct section *configs, size_t i,
                     const struct section *runs, const struct axis *axis)
{
    long corrupted = figures_long(configs, i, "corrupted");
    plot_row_begin(out, figures_text(configs, i, "name"), axis);
    run_marks(out, runs, figures_long(configs, i, "config"), axis);
    if (!figures_null(configs, i, "rate")) {
        const char *class = corrupted ? "bad" : "none";
        buf_addf(out,
                 "<line class=\"interval %s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>"
                 "<circle class=\"mark %s\" cx=\"%.2f%%\" cy=\"%d\" r=\"4.5\"/>",
                 class, plot_x(axis, figures_double(configs, i, "low")),
                 plot_x(axis, figures_double(configs, i, "bound")), MIDDLE, MIDDLE, class,
                 plot_x(axis, figures_double(configs, i, "rate")), MIDDLE);
    }
    plot_row_end(out, figures_text(configs, i, "text"));
}

void chart_rates(struct buf *out, const struct section *configs, const struct section *runs)
{
    static const struct listed columns[] = {
        {"name", "Configuration", LISTED_TEXT},
        {"tags", "Tags", LISTED_TEXT},
        {"runs", "Runs", LISTED_COUNT},
        {"starts", "Server starts", LISTED_COUNT},
        {"concurrency", "In flight", LISTED_COUNT},
        {"corrupted", "Corrupted", LISTED_COUNT},
        {"judged", "Judged", LISTED_COUNT},
        {"leak", "leak", LISTED_COUNT},
        {"no_tool", "no_tool", LISTED_COUNT},
        {"error", "error", LISTED_COUNT},
        {"text", "Rate and 95% interval", LISTED_TEXT},
        {"steady_text", "At full load", LISTED_TEXT},
    };
    struct axis axis = axis_linear(fmax(largest(configs, "bound"), 0.01));
    buf_adds(out, "<figure class=\"rows\" id=\"chart-rates\">\n");
    for (size_t i = 0; i < configs->n_rows; i++)
        rate_row(out, configs, i, runs, &axis);
    plot_row_axis(out, &axis, PLOT_PERCENT);
    buf_adds(out,
             "<figcaption>Corrupted sessions among those that could be judged. The line is the "
             "95% interval, taking sessions as independent; short upright lines are single "
             "runs.</figcaption>\n");
    html_figures(out, configs, columns, N(columns));
    buf_adds(out, "</figure>\n");
}

/* --- reasons ---------------------------------------------------------------------------------- */

void chart_reasons(struct buf *out, const struct section *reasons)
{
    static const struct listed columns[] = {
        {"reason", "Reason", LISTED_CODE},      {"name", "Configuration", LISTED_TEXT},
        {"sessions", "Sessions", LISTED_COUNT}, {"finished", "Of finished", LISTED_COUNT},
        {"share_text", "Share", LISTED_TEXT},   {"meaning", "Meaning", LISTED_TEXT},
    };
    if (!reasons->n_rows)
        return;
    struct axis axis = axis_linear(largest(reasons, "share"));
    buf_adds(out, "<figure class=\"rows\" id=\"chart-reasons\">\n");
    for (size_t i = 0; i < reasons->n_rows; i++) {
        const char *reason = figures_text(reasons, i, "reason");
        bool error = strcmp(figures_text(reasons, i, "class"), "error") == 0;
        if (i == 0 || strcmp(reason, figures_text(reasons, i - 1, "reason")) != 0) {
            buf_adds(out, "<p class=\"group\"><code>");
            html_text(out, reason);
            buf_adds(out, "</code> ");
            html_text(out, figures_text(reasons, i, "meaning"));
            buf_adds(out, "</p>\n");
        }
        char *figure = mem_printf("%ld of %ld = %s", figures_long(reasons, i, "sessions"),
                                  figures_long(reasons, i, "finished"),
                                  figures_text(reasons, i, "share_text"));
        plot_row_begin(out, figures_text(reasons, i, "name"), &axis);
        buf_addf(out, "<rect class=\"bar %s\" x=\"0\" y=\"%d\" width=\"%.2f%%\" height=\"10\"/>",
                 error ? "warn" : "bad", MIDDLE - 5,
                 plot_x(&axis, figures_double(reasons, i, "share")));
        plot_row_end(out, figure);
        free(figure);
    }
    plot_row_axis(out, &axis, PLOT_PERCENT);
    buf_adds(out, "<figcaption>Sessions by the reason of their class, as a share of all that "
                  "finished.</figcaption>\n");
    html_figures(out, reasons, columns, N(columns));
    buf_adds(out, "</figure>\n");
}

/* --- latency ---------------------------------------------------------------------------------- */

/* Values of the rows [from, to) and the columns of the strips. */
static struct axis latency_axis(const struct section *s, size_t from, size_t to)
{
    double low = INFINITY, high = 0;
    for (size_t i = from; i < to; i++) {
        double p5 = figures_double(s, i, "p5_us"), p25 = figures_double(s, i, "p25_us");
        low = fmin(low, fmax(isnan(p5) ? p25 : p5, 1));
        high = fmax(high, figures_double(s, i, "max_us"));
    }
    return axis_log(low, fmax(high, low));
}

static void latency_row(struct buf *out, const struct section *s, size_t i, const struct axis *axis)
{
    double p5 = figures_double(s, i, "p5_us"), p95 = figures_double(s, i, "p95_us");
    double p25 = figures_double(s, i, "p25_us"), p75 = figures_double(s, i, "p75_us");
    double x50 = plot_x(axis, figures_double(s, i, "p50_us"));
    double x99 = plot_x(axis, figures_double(s, i, "p99_us"));
    struct buf figure = BUF_INIT;
    buf_adds(&figure, "p50 ");
    text_duration(&figure, figures_double(s, i, "p50_us"));
    if (!isnan(p95)) {
        buf_adds(&figure, ", p95 ");
        text_duration(&figure, p95);
    }
    plot_row_begin(out, figures_text(s, i, "name"), axis);
    if (!isnan(p95))
        buf_addf(out, "<line class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
                 plot_x(axis, p5), plot_x(axis, p95), MIDDLE, MIDDLE);
    buf_addf(out, "<rect class=\"box\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%d\" height=\"10\"/>",
             plot_x(axis, p25), plot_x(axis, p75) - plot_x(axis, p25), MIDDLE - 5);
    buf_addf(out, "<line class=\"median\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", x50,
             x50, MIDDLE - 7, MIDDLE + 7);
    if (!figures_null(s, i, "p99_us"))
        buf_addf(out, "<circle class=\"far\" cx=\"%.2f%%\" cy=\"%d\" r=\"2.5\"/>", x99, MIDDLE);
    plot_row_end(out, buf_str(&figure));
    buf_release(&figure);
}

static const char *metric_words(const char *metric)
{
    return strcmp(metric, "ttft") == 0  ? "Time to first token (TTFT)"
           : strcmp(metric, "itl") == 0 ? "Between tokens (ITL, mean of a round)"
                                        : "Whole round";
}

void chart_latency(struct buf *out, const struct section *s)
{
    static const struct listed columns[] = {
        {"metric", "Metric", LISTED_TEXT}, {"name", "Configuration", LISTED_TEXT},
        {"n", "Rounds", LISTED_COUNT},     {"min_us", "min", LISTED_TIME},
        {"p5_us", "p5", LISTED_TIME},      {"p25_us", "p25", LISTED_TIME},
        {"p50_us", "p50", LISTED_TIME},    {"p75_us", "p75", LISTED_TIME},
        {"p95_us", "p95", LISTED_TIME},    {"p99_us", "p99", LISTED_TIME},
        {"max_us", "max", LISTED_TIME},
    };
    if (!s->n_rows)
        return;
    buf_adds(out, "<figure class=\"rows\" id=\"chart-latency\">\n");
    for (size_t from = 0, to; from < s->n_rows; from = to) {
        const char *metric = figures_text(s, from, "metric");
        for (to = from; to < s->n_rows && strcmp(figures_text(s, to, "metric"), metric) == 0;)
            to++;
        struct axis axis = latency_axis(s, from, to);
        buf_addf(out, "<p class=\"group\">%s</p>\n", metric_words(metric));
        for (size_t i = from; i < to; i++)
            latency_row(out, s, i, &axis);
        plot_row_axis(out, &axis, PLOT_TIME);
    }
    buf_adds(out,
             "<figcaption>Box: the middle half of the rounds, with the median; line: 5% to "
             "95%; dot: 99%. Logarithmic. p95 takes 59 rounds, p99 takes 299; rounds that ended "
             "in an error are left out.</figcaption>\n");
    html_figures(out, s, columns, N(columns));
    buf_adds(out, "</figure>\n");
}
