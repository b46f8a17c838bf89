/* chart_grid.c - charts with two directions: rates over bins, a run over time, the matrix of tags.
 * Every mark and every figure is a cell of a section. */
#include <math.h>
#include <string.h>

#include "figures.h"
#include "html.h"
#include "plot.h"

#define TOP    8   /* pixels above the plot */
#define HEIGHT 120 /* of the plot */
#define BELOW  20  /* for labels */

/* Panels of a chart; further configurations are in its table. */
#define MAX_PANELS 12

#define N(columns) (sizeof(columns) / sizeof(columns)[0])

/* The end of the rows that share their value of `column` with row `from`. */
static size_t group_end(const struct section *s, size_t from, const char *column)
{
    size_t to = from;
    while (to < s->n_rows && figures_long(s, to, column) == figures_long(s, from, column))
        to++;
    return to;
}

static double y_of(const struct axis *a, double value)
{
    return TOP + HEIGHT * (1 - axis_at(a, value));
}

/* --- bins ------------------------------------------------------------------------------------- */

/* Rows [from, to) of a section of bins: one configuration. */
struct panel {
    const struct section *s;
    size_t from, to;
    struct axis y;
};

/* Bins with few replies have wide intervals: the axis follows the rates, and what is beyond it is
 * cut. */
static struct axis bins_axis(const struct section *s)
{
    double most = 0.01;
    for (size_t i = 0; i < s->n_rows; i++) {
        double rate = figures_double(s, i, "rate"), bound = figures_double(s, i, "bound");
        most = fmax(most, fmax(rate * 1.1, fmin(bound, 2.5 * rate)));
    }
    return axis_linear(fmin(most, 1));
}

static void y_axis(struct buf *out, const struct axis *y)
{
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks(y, ticks);
    for (size_t i = 0; i < n; i++) {
        double at = y_of(y, ticks[i]);
        buf_addf(out, "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>", at,
                 at);
        buf_addf(out, "<text class=\"tick\" x=\"-6\" y=\"%.1f\" text-anchor=\"end\">", at + 4);
        plot_label(out, ticks[i], PLOT_PERCENT);
        buf_adds(out, "</text>");
    }
}

static void bin_mark(struct buf *out, const struct panel *p, size_t i, double x)
{
    const char *class = figures_long(p->s, i, "corrupted") ? "bad" : "none";
    buf_addf(out,
             "<line class=\"interval %s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
             "<circle class=\"mark %s\" cx=\"%.2f%%\" cy=\"%.1f\" r=\"4\"/>",
             class, x, x, y_of(&p->y, figures_double(p->s, i, "low")),
             y_of(&p->y, figures_double(p->s, i, "bound")), class, x,
             y_of(&p->y, figures_double(p->s, i, "rate")));
}

static void bins_panel(struct buf *out, const struct panel *p)
{
    size_t n = p->to - p->from;
    buf_adds(out, "<div class=\"panel\"><p class=\"group\">");
    html_text(out, figures_text(p->s, p->from, "name"));
    buf_addf(out, "</p><svg class=\"plot\" height=\"%d\" aria-hidden=\"true\">",
             TOP + HEIGHT + BELOW);
    y_axis(out, &p->y);
    for (size_t i = p->from; i < p->to; i++) {
        double x = ((double)(i - p->from) + 0.5) / (double)n * 100;
        bin_mark(out, p, i, x);
        /* As many labels as have room. */
        size_t every = n > 16 ? 4 : n > 8 ? 2 : 1;
        if ((i - p->from) % every == 0) {
            buf_addf(out, "<text class=\"%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">",
                     n > 5 && (i - p->from) / every % 2 ? "tick spare" : "tick", x,
                     TOP + HEIGHT + 15);
            html_text(out, figures_text(p->s, i, "bin_text"));
            buf_adds(out, "</text>");
        }
    }
    buf_adds(out, "</svg></div>\n");
}

void chart_bins(struct buf *out, const struct section *s, const char *bin_head, const char *of_what)
{
    const struct listed columns[] = {
        {"name", "Configuration", LISTED_TEXT},         {"bin_text", bin_head, LISTED_TEXT},
        {"corrupted", "Corrupted", LISTED_COUNT},       {"judged", of_what, LISTED_COUNT},
        {"text", "Rate and 95% interval", LISTED_TEXT},
    };
    if (!s->n_rows)
        return;
    buf_addf(out, "<figure class=\"panels\" id=\"chart-%s\"><div class=\"grid\">\n", s->name);
    struct panel p = {.s = s, .y = bins_axis(s)};
    int n = 0;
    for (p.from = 0; p.from < s->n_rows && n++ < MAX_PANELS; p.from = p.to) {
        p.to = group_end(s, p.from, "config");
        bins_panel(out, &p);
    }
    buf_addf(out,
             "</div><figcaption>Across: %s. Lines are 95%% intervals, cut where they leave the "
             "plot. Configurations without corruption are left out%s.</figcaption>\n",
             bin_head, p.from < s->n_rows ? "; of the others the first twelve are drawn" : "");
    html_figures(out, s, columns, N(columns));
    buf_adds(out, "</figure>\n");
}

/* --- timeline --------------------------------------------------------------------------------- */

#define SLICES 40 /* of a run, as report.sql cuts it */

static void timeline_labels(struct buf *out, double whole_us)
{
    const struct axis round = axis_linear(whole_us);
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks(&round, ticks);
    for (size_t i = 0; i < n && ticks[i] <= whole_us; i++) {
        double x = 100 * ticks[i] / whole_us;
        buf_addf(out, "<text class=\"tick\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">", x,
                 TOP + HEIGHT / 2 + 15,
                 x > 95 ? "end"
                 : i    ? "middle"
                        : "start");
        plot_label(out, ticks[i], PLOT_TIME);
        buf_adds(out, "</text>");
    }
}

static void timeline_panel(struct buf *out, const struct section *s, size_t from, size_t to)
{
    long most = 1;
    for (size_t i = from; i < to; i++)
        if (figures_long(s, i, "in_flight") > most)
            most = figures_long(s, i, "in_flight");
    const struct axis y = {0, (double)most, false};
    buf_addf(out, "<div class=\"panel\"><p class=\"group\">Run %ld, ",
             figures_long(s, from, "run"));
    html_text(out, figures_text(s, from, "name"));
    buf_addf(out, "</p><svg class=\"plot\" height=\"%d\" aria-hidden=\"true\">",
             TOP + HEIGHT / 2 + BELOW);
    buf_addf(out, "<text class=\"tick\" x=\"-6\" y=\"%d\" text-anchor=\"end\">%ld</text>", TOP + 8,
             most);
    for (size_t i = from; i < to; i++) {
        double x = (double)figures_long(s, i, "slice") * 100 / SLICES;
        double h = HEIGHT / 2.0 * axis_at(&y, figures_double(s, i, "in_flight"));
        buf_addf(out,
                 "<rect class=\"load\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%.1f\" "
                 "height=\"%.1f\"/>",
                 x, 100.0 / SLICES, TOP + HEIGHT / 2.0 - h, h);
        long corrupted = figures_long(s, i, "corrupted");
        for (long k = 0; k < corrupted && k < 9; k++)
            buf_addf(out, "<circle class=\"mark bad\" cx=\"%.2f%%\" cy=\"%.1f\" r=\"2.8\"/>",
                     x + 50.0 / SLICES, TOP + HEIGHT / 2.0 - 5 - 6 * (double)k);
    }
    timeline_labels(out, figures_double(s, to - 1, "to_us"));
    buf_adds(out, "</svg></div>\n");
}

void chart_timeline(struct buf *out, const struct section *s)
{
    static const struct listed columns[] = {
        {"run", "Run", LISTED_COUNT},
        {"from_us", "From", LISTED_TIME},
        {"to_us", "To", LISTED_TIME},
        {"requests", "Requests sent", LISTED_COUNT},
        {"in_flight", "In flight", LISTED_COUNT},
        {"corrupted", "Damaged replies", LISTED_COUNT},
        {"errors", "Errors", LISTED_COUNT},
    };
    if (!s->n_rows)
        return;
    buf_adds(out, "<figure class=\"panels\" id=\"chart-timeline\"><div class=\"grid\">\n");
    for (size_t from = 0, to; from < s->n_rows; from = to) {
        to = group_end(s, from, "run");
        timeline_panel(out, s, from, to);
    }
    buf_adds(out,
             "</div><figcaption>Grey: requests in flight at the end of a slice of time; red: "
             "damaged replies, each where it "
             "ended (nine at most in a slice). The first six runs with damage.</figcaption>\n");
    html_figures(out, s, columns, N(columns));
    buf_adds(out, "</figure>\n");
}

/* --- matrix ----------------------------------------------------------------------------------- */

/* The first row whose `column` is `word`; n_rows if there is none. */
static bool is_first(const struct section *s, size_t row, const char *column)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(figures_text(s, i, column), figures_text(s, row, column)) == 0)
            return false;
    return true;
}

static void matrix_cell(struct buf *out, const struct section *s, const char *down,
                        const char *across, double most)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        if (strcmp(figures_text(s, i, "down"), down) != 0 ||
            strcmp(figures_text(s, i, "across"), across) != 0)
            continue;
        double rate = figures_double(s, i, "rate");
        int heat = rate > 0 ? (int)lround(8 + 57 * sqrt(rate / most)) : 0;
        buf_addf(out, "<td class=\"cell\" style=\"--heat:%d%%\"><b>", heat);
        html_text(out, figures_null(s, i, "rate") ? "-" : figures_text(s, i, "percent"));
        buf_addf(out, "</b> <small>%ld/%ld</small></td>", figures_long(s, i, "corrupted"),
                 figures_long(s, i, "judged"));
        return;
    }
    buf_adds(out, "<td class=\"cell empty\">-</td>");
}

void chart_matrix(struct buf *out, const struct section *s)
{
    static const struct listed columns[] = {
        {"down", "Tags", LISTED_TEXT},
        {"across", "Tag", LISTED_TEXT},
        {"corrupted", "Corrupted", LISTED_COUNT},
        {"judged", "Judged", LISTED_COUNT},
        {"text", "Rate and 95% interval", LISTED_TEXT},
    };
    double most = 0;
    if (s->n_rows < 2)
        return;
    for (size_t i = 0; i < s->n_rows; i++)
        most = fmax(most, figures_double(s, i, "rate"));
    buf_adds(out, "<figure id=\"chart-matrix\"><div class=\"scroll\"><table class=\"matrix\">"
                  "<thead><tr><th></th>");
    for (size_t i = 0; i < s->n_rows; i++)
        if (is_first(s, i, "across")) {
            buf_adds(out, "<th>");
            html_text(out, figures_text(s, i, "across"));
            buf_adds(out, "</th>");
        }
    buf_adds(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < s->n_rows; row++) {
        if (!is_first(s, row, "down"))
            continue;
        buf_adds(out, "<tr><th>");
        html_text(out, figures_text(s, row, "down"));
        buf_adds(out, "</th>");
        for (size_t i = 0; i < s->n_rows; i++)
            if (is_first(s, i, "across"))
                matrix_cell(out, s, figures_text(s, row, "down"), figures_text(s, i, "across"),
                            most);
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out,
             "</tbody></table></div><figcaption>Corrupted sessions among the judged ones, by the "
             "tags that tell configurations apart.</figcaption>\n");
    html_figures(out, s, columns, N(columns));
    buf_adds(out, "</figure>\n");
}
