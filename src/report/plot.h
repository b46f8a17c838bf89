/* plot.h - what the charts share. A plot is an SVG as wide as its place; positions across are
 * percentages, positions down are pixels, so that text keeps its size on every screen. */
#ifndef PLOT_H
#define PLOT_H

#include <stddef.h>

#include "axis.h"
#include "buf.h"

enum plot_unit { PLOT_PERCENT, PLOT_TIME /* microseconds */ };

/* "10%", "20 ms": as short as a label on an axis has to be. */
void plot_label(struct buf *out, double value, enum plot_unit unit);

/* Upright lines of the axis through a plot of this height. */
void plot_grid(struct buf *out, const struct axis *a, int height);

/* A row: name, plot, figure. Between the two: SVG elements. `name` and `figure` are escaped. */
#define PLOT_ROW_HEIGHT 26
void plot_row_begin(struct buf *out, const char *name, const struct axis *a);
void plot_row_end(struct buf *out, const char *figure);

/* The row with the labels of the axis. */
void plot_row_axis(struct buf *out, const struct axis *a, enum plot_unit unit);

/* Where the value stands, in percent. */
double plot_x(const struct axis *a, double value);

#endif
