/* plot.c - rows with a plot in them, and axes. It knows no report. */
#include "plot.h"

#include "html.h"

double plot_x(const struct axis *a, double value)
{
    return 100 * axis_at(a, value);
}

void plot_label(struct buf *out, double value, enum plot_unit unit)
{
    if (unit == PLOT_PERCENT)
        buf_addf(out, "%.3g%%", value * 100);
    else if (!(value > 0))
        buf_addc(out, '0');
    else if (value < 1e3)
        buf_addf(out, "%.3g us", value);
    else if (value < 1e6)
        buf_addf(out, "%.3g ms", value / 1e3);
    else
        buf_addf(out, "%.5g s", value / 1e6);
}

void plot_grid(struct buf *out, const struct axis *a, int height)
{
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks(a, ticks);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%d\"/>",
                 plot_x(a, ticks[i]), plot_x(a, ticks[i]), height);
}

void plot_row_begin(struct buf *out, const char *name, const struct axis *a)
{
    buf_adds(out, "<div class=\"row\"><div class=\"name\">");
    html_text(out, name);
    buf_addf(out, "</div><svg class=\"strip\" height=\"%d\" aria-hidden=\"true\">",
             PLOT_ROW_HEIGHT);
    plot_grid(out, a, PLOT_ROW_HEIGHT);
}

void plot_row_end(struct buf *out, const char *figure)
{
    buf_adds(out, "</svg><div class=\"value\">");
    html_text(out, figure);
    buf_adds(out, "</div></div>\n");
}

void plot_row_axis(struct buf *out, const struct axis *a, enum plot_unit unit)
{
    double ticks[AXIS_MAX_TICKS];
    size_t n = axis_ticks(a, ticks);
    buf_adds(out, "<div class=\"row axis\"><div class=\"name\"></div><svg class=\"strip\" "
                  "height=\"18\" aria-hidden=\"true\">");
    for (size_t i = 0; i < n; i++) {
        /* On a narrow screen every other label would touch its neighbour. */
        const char *class = i % 2 && i + 1 < n ? "tick spare" : "tick";
        buf_addf(out, "<text class=\"%s\" x=\"%.2f%%\" y=\"12\" text-anchor=\"middle\">", class,
                 plot_x(a, ticks[i]));
        plot_label(out, ticks[i], unit);
        buf_adds(out, "</text>");
    }
    buf_adds(out, "</svg><div class=\"value\"></div></div>\n");
}
