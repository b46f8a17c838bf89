/* looks.c - group-sequential boundaries. The walk S_k of unit normal steps stops where |S_k|
 * reaches its bound; the density of those still walking is carried from look to look. */
#include "looks.h"

#include <math.h>
#include <stdbool.h>

#include "dist.h"

#define CELLS     128 /* Simpson's rule on [0, bound]; the density is even */
#define SQRT_2PI  2.50662827463100050242
#define MAX_STEPS 60

enum shape { POCOCK, OBRIEN_FLEMING };

static double density(double z)
{
    return exp(-0.5 * z * z) / SQRT_2PI;
}

/* Bound of |S_k| when the last look's z is c. */
static double bound(enum shape shape, double c, long k, long looks)
{
    return c * sqrt((double)(shape == POCOCK ? k : looks));
}

/* Weight of grid point i in Simpson's rule. */
static double simpson(int i, double step)
{
    if (i == 0 || i == CELLS)
        return step / 3;
    return (i % 2 ? 4 : 2) * step / 3;
}

/* Probability of reaching the bound at any look if nothing differs. */
static double crossing(enum shape shape, double c, long looks)
{
    double before[CELLS + 1], now[CELLS + 1];
    double edge = bound(shape, c, 1, looks), out = 2 * dist_normal_sf(edge);
    double step = edge / CELLS;
    for (int i = 0; i <= CELLS; i++)
        before[i] = density(step * i);
    for (long k = 2; k <= looks; k++) {
        double next_edge = bound(shape, c, k, looks), next_step = next_edge / CELLS;
        for (int i = 0; i <= CELLS; i++) { /* from the +u and the -u side, at both ends */
            double u = step * i;
            out += 2 * simpson(i, step) * before[i] *
                   (dist_normal_sf(next_edge - u) + dist_normal_sf(next_edge + u));
        }
        for (int j = 0; j <= CELLS; j++) {
            double s = next_step * j, sum = 0;
            for (int i = 0; i <= CELLS; i++)
                sum +=
                    simpson(i, step) * before[i] * (density(s - step * i) + density(s + step * i));
            now[j] = sum;
        }
        for (int i = 0; i <= CELLS; i++)
            before[i] = now[i];
        step = next_step;
    }
    return out;
}

/* The last look's z: regula falsi (Illinois) on log crossing, between no and full correction. */
static double constant(enum shape shape, long looks, double alpha)
{
    double low = -dist_normal_quantile(alpha / 2);
    double high = -dist_normal_quantile(alpha / 2 / (double)looks);
    double at_low = log(crossing(shape, low, looks) / alpha);
    double at_high = log(crossing(shape, high, looks) / alpha);
    double c = low;
    int last = 0;
    for (int i = 0; i < MAX_STEPS && high - low > 1e-10 && at_low > at_high; i++) {
        c = (low * at_high - high * at_low) / (at_high - at_low);
        double at = log(crossing(shape, c, looks) / alpha);
        int side = at > 0 ? 1 : -1;
        if (fabs(at) < 1e-11)
            break;
        if (at > 0) {
            low = c;
            at_low = at;
            at_high /= last == side ? 2 : 1;
        } else {
            high = c;
            at_high = at;
            at_low /= last == side ? 2 : 1;
        }
        last = side;
    }
    return c;
}

static bool valid(long looks, double alpha)
{
    return looks >= 1 && looks <= LOOKS_MAX && alpha > 0 && alpha < 0.5;
}

double looks_pocock(long looks, double alpha)
{
    if (!valid(looks, alpha))
        return NAN;
    return looks == 1 ? alpha : 2 * dist_normal_sf(constant(POCOCK, looks, alpha));
}

void looks_obrien_fleming(long looks, double alpha, double *out)
{
    bool ok = valid(looks, alpha);
    double c = ok && looks > 1 ? constant(OBRIEN_FLEMING, looks, alpha) : NAN;
    for (long k = 1; k <= looks && k <= LOOKS_MAX; k++)
        out[k - 1] = 2 * dist_normal_sf(c * sqrt((double)looks / (double)k));
    if (ok && looks == 1)
        out[0] = alpha;
}
