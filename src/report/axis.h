/* axis.h - where a value stands on a plot, and which values deserve a label. */
#ifndef AXIS_H
#define AXIS_H

#include <stdbool.h>
#include <stddef.h>

#define AXIS_MAX_TICKS 12

struct axis {
    double min, max; /* log: both above 0 */
    bool log;
};

/* From 0 to the first round number (1, 2, 2.5, 5 times a power of ten) at or above `top`. */
struct axis axis_linear(double top);

/* From a power of ten, or 2 or 5 times it, at or below `low` to one at or above `high`. */
struct axis axis_log(double low, double high);

/* 0 to 1; what lies outside is moved to the nearer end. */
double axis_at(const struct axis *a, double value);

/* Fills `ticks`, rising, both ends among them; returns how many. */
size_t axis_ticks(const struct axis *a, double ticks[AXIS_MAX_TICKS]);

#endif
