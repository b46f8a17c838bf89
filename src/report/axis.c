/* axis.c - scales of plots. Numbers in, numbers out: it draws nothing. */
#include "axis.h"

#include <math.h>

static const double steps[] = {1, 2, 5};
#define N_STEPS (sizeof steps / sizeof steps[0])

static double power_below(double value)
{
    return pow(10, floor(log10(value)));
}

struct axis axis_linear(double top)
{
    static const double round_numbers[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    if (!(top > 0))
        return (struct axis){0, 1, false};
    double power = power_below(top);
    for (size_t i = 0; i < sizeof round_numbers / sizeof round_numbers[0]; i++)
        if (top <= round_numbers[i] * power * (1 + 1e-9))
            return (struct axis){0, round_numbers[i] * power, false};
    return (struct axis){0, 10 * power, false};
}

struct axis axis_log(double low, double high)
{
    if (!(low > 0) || !(high >= low))
        return (struct axis){1, 10, true};
    struct axis a = {power_below(low), power_below(high), true};
    for (size_t i = 0; i < N_STEPS; i++)
        if (steps[i] * power_below(low) <= low)
            a.min = steps[i] * power_below(low);
    for (size_t i = 0; i < N_STEPS && a.max < high; i++)
        a.max = steps[i] * power_below(high);
    if (a.max < high)
        a.max = 10 * power_below(high);
    if (a.max <= a.min)
        a.max = 10 * a.min;
    return a;
}

double axis_at(const struct axis *a, double value)
{
    double at =
        a->log ? log(value / a->min) / log(a->max / a->min) : (value - a->min) / (a->max - a->min);
    return at > 0 ? fmin(at, 1) : 0; /* NaN is 0, too */
}

static size_t linear_ticks(const struct axis *a, double *ticks)
{
    /* Four, five or six gaps, whichever divides the range into round pieces. */
    double power = power_below(a->max);
    double lead = a->max / power;
    int gaps = fabs(lead - 3) < 1e-9 || fabs(lead - 6) < 1e-9 || fabs(lead - 1.5) < 1e-9 ? 3
               : fabs(lead - 4) < 1e-9 || fabs(lead - 2) < 1e-9 || fabs(lead - 8) < 1e-9 ? 4
                                                                                         : 5;
    for (int i = 0; i <= gaps; i++)
        ticks[i] = a->max * i / gaps;
    return (size_t)gaps + 1;
}

size_t axis_ticks(const struct axis *a, double ticks[AXIS_MAX_TICKS])
{
    if (!a->log)
        return linear_ticks(a, ticks);
    /* Over more than two powers of ten only the powers, so that labels have room. */
    size_t n = 0, per_power = a->max / a->min > 200 ? 1 : N_STEPS;
    ticks[n++] = a->min;
    for (double power = power_below(a->min); power <= a->max && n < AXIS_MAX_TICKS - 1; power *= 10)
        for (size_t i = 0; i < per_power && n < AXIS_MAX_TICKS - 1; i++)
            if (steps[i] * power > a->min * 1.01 && steps[i] * power < a->max * 0.99)
                ticks[n++] = steps[i] * power;
    ticks[n++] = a->max;
    return n;
}
