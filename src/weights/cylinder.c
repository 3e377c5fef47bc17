/* The signal of water in impermeable cylinders: a sum over the modes of diffusion between their walls (van Gelderen et
 * al. 1994). */
#include "weights/cylinder.h"

#include <math.h>

#define N_MODES 60
#define MIN_SHARE 1e-7 /* the sum ends at a term below this share of it */

/* Derivative of the Bessel function J1. */
static double j1_slope(double x)
{
    return j0(x) - j1(x) / x;
}

/* Finds the positive zeros of J1', which lie a little below (k - 1/4) pi for k = 1, 2 ... */
static void find_zeros(double zero[N_MODES])
{
    for (int k = 0; k < N_MODES; k++) {
        double low = (k + 0.75) * M_PI - 0.6, high = (k + 0.75) * M_PI + 0.1;
        const double sign = j1_slope(low);
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (low + high);
            if (j1_slope(middle) * sign > 0)
                low = middle;
            else
                high = middle;
        }
        zero[k] = 0.5 * (low + high);
    }
}

void gls_cylinder_across(const double *b, const gls_pulse_timing *timing, size_t n, double d, double radius,
                         double *across)
{
    double zero[N_MODES];
    find_zeros(zero);
    for (size_t i = 0; i < n; i++) {
        const double short_time = timing[i].duration, long_time = timing[i].separation;
        double sum = 0;
        for (int k = 0; k < N_MODES; k++) {
            const double a = zero[k] / radius, rate = d * a * a;
            const double number = 2 * rate * short_time - 2 + 2 * exp(-rate * short_time) + 2 * exp(-rate * long_time) -
                                  exp(-rate * (long_time - short_time)) - exp(-rate * (long_time + short_time));
            const double term = number / (rate * rate * a * a * (zero[k] * zero[k] - 1));
            sum += term;
            if (term < MIN_SHARE * sum) break;
        }
        /* b = (gamma G delta)^2 (Delta - delta / 3) gives the square of gamma G */
        across[i] = 2 * sum * b[i] / (short_time * short_time * (long_time - short_time / 3));
    }
}
