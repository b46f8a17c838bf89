/* betabinom.c - beta-binomial maximum likelihood: for each rho the best mu (the log likelihood is
 * concave in it), then the best rho from a grid and golden section.
 *
 * Sums are taken relative to theta = 0, so that a small gain is not lost in a large total. Long
 * ones go over to the Euler-Maclaurin formula; n may be a million. */
#include "betabinom.h"

#include <math.h>
#include <stdbool.h>

#include "dist.h"

#define DIRECT 64 /* terms summed one by one: leaves a remainder below 1e-12 */
#define GOLDEN 0.61803398874989484820

struct runs {
    const long *x, *n;
    size_t count;
    double rate; /* pooled */
};

/* (1 + u) log(1 + u) - u */
static double entropy(double u)
{
    if (u < 1e-3)
        return u * u * (0.5 - u * (1.0 / 6 - u * (1.0 / 12 - u / 20)));
    return (1 + u) * log1p(u) - u;
}

/* sum_{j<n} log(1 + j r) */
static double sum_log(long n, double r)
{
    double sum = 0;
    long direct = n < DIRECT ? n : DIRECT;
    for (long j = 1; j < direct; j++)
        sum += log1p((double)j * r);
    if (n <= DIRECT || r == 0)
        return sum;
    double from = DIRECT * r, to = (double)n * r;
    double a = r / (1 + from), b = r / (1 + to);
    return sum + (entropy(to) - entropy(from)) / r - (log1p(to) - log1p(from)) / 2 + (b - a) / 12 -
           (b * b * b - a * a * a) / 360;
}

/* sum_{j<n} 1/(1 + j r) */
static double sum_inverse(long n, double r)
{
    double sum = 0;
    long direct = n < DIRECT ? n : DIRECT;
    for (long j = 0; j < direct; j++)
        sum += 1 / (1 + (double)j * r);
    if (n <= DIRECT)
        return sum;
    double a = 1 / (1 + DIRECT * r), b = 1 / (1 + (double)n * r);
    double integral = r > 0 ? log1p((double)(n - DIRECT) * r * a) / r : (double)(n - DIRECT);
    return sum + integral - (b - a) / 2 - r * (b * b - a * a) / 12 +
           r * r * r * (b * b * b * b - a * a * a * a) / 120;
}

/* d log likelihood / d mu */
static double mu_slope(const struct runs *r, double mu, double theta)
{
    double sum = 0;
    for (size_t i = 0; i < r->count; i++) {
        sum += sum_inverse(r->x[i], theta / mu) / mu;
        sum -= sum_inverse(r->n[i] - r->x[i], theta / (1 - mu)) / (1 - mu);
    }
    return sum;
}

/* The best mu at this theta: regula falsi (Illinois) on the falling slope. */
static double best_mu(const struct runs *r, double theta)
{
    double low = r->rate * 1e-4, high = 1 - (1 - r->rate) * 1e-4;
    double at_low = mu_slope(r, low, theta), at_high = mu_slope(r, high, theta);
    if (!(at_low > 0 && at_high < 0))
        return r->rate;
    int last = 0;
    double mu = r->rate;
    for (int i = 0; i < 200 && high - low > 1e-14 * mu; i++) {
        double slope = mu_slope(r, mu, theta);
        if (slope == 0)
            break;
        int side = slope > 0 ? 1 : -1;
        if (slope > 0) {
            low = mu;
            at_low = slope;
            at_high /= last == side ? 2 : 1;
        } else {
            high = mu;
            at_high = slope;
            at_low /= last == side ? 2 : 1;
        }
        last = side;
        double next = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - mu) <= 1e-15 * mu)
            break;
        mu = next;
    }
    return mu;
}

/* Log likelihood at rho and its best mu, less that at rho = 0 and the pooled rate. */
static double gain(const struct runs *r, double rho, double *mu)
{
    double theta = rho / (1 - rho), sum = 0, base = r->rate;
    *mu = best_mu(r, theta);
    double up = log1p((*mu - base) / base), down = log1p((base - *mu) / (1 - base));
    for (size_t i = 0; i < r->count; i++) {
        long x = r->x[i], y = r->n[i] - r->x[i];
        sum += (double)x * up + (double)y * down;
        sum += sum_log(x, theta / *mu) + sum_log(y, theta / (1 - *mu)) - sum_log(x + y, theta);
    }
    return sum;
}

static double golden(const struct runs *r, double left, double right)
{
    double mu, a = right - GOLDEN * (right - left), b = left + GOLDEN * (right - left);
    double fa = gain(r, a, &mu), fb = gain(r, b, &mu);
    for (int i = 0; i < 100 && right - left > 1e-9 * right; i++) {
        if (fa > fb) {
            right = b;
            b = a;
            fb = fa;
            a = right - GOLDEN * (right - left);
            fa = gain(r, a, &mu);
        } else {
            left = a;
            a = b;
            fa = fb;
            b = left + GOLDEN * (right - left);
            fb = gain(r, b, &mu);
        }
    }
    return left + (right - left) / 2;
}

/* 60 points, ten per power of ten up to 0.1, then even: the peak's neighbourhood. */
static double grid_rho(int i)
{
    if (i <= 0)
        return 0;
    if (i <= 40)
        return pow(10, -5 + 0.1 * i);
    return i < 60 ? 0.1 + 0.045 * (i - 40) : 1 - 1e-9;
}

/* 0 where no rho is better than 0. */
static double best_rho(const struct runs *r)
{
    int best = 0;
    double most = 0, mu;
    for (int i = 1; i <= 60; i++) {
        double g = gain(r, grid_rho(i), &mu);
        if (g > most) {
            most = g;
            best = i;
        }
    }
    double rho = golden(r, grid_rho(best - 1), grid_rho(best < 60 ? best + 1 : 60));
    if (best == 0)
        rho = golden(r, 0, grid_rho(1));
    double g = gain(r, rho, &mu);
    if (g > most)
        return g > 1e-12 ? rho : 0;
    return most > 1e-12 ? grid_rho(best) : 0;
}

struct betabinom betabinom_fit(const long *x, const long *n, size_t count)
{
    const struct betabinom none = {NAN, NAN, NAN, NAN};
    double hit = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        if (x[i] < 0 || x[i] > n[i])
            return none;
        hit += (double)x[i];
        all += (double)n[i];
    }
    if (all == 0 || count > BETABINOM_RUNS)
        return none;
    struct betabinom fit = {hit / all, 0, 0, 1};
    if (hit == 0 || hit == all)
        return fit;
    struct runs r = {x, n, count, fit.mu};
    double rho = best_rho(&r);
    if (rho > 0) {
        fit.rho = rho;
        fit.lr = 2 * gain(&r, rho, &fit.mu);
        fit.p = dist_chi2_sf(fit.lr, 1) / 2;
    }
    return fit;
}
