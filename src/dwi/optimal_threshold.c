/* Finds the optimal threshold of an image: the one at which the image and its thresholded copy correlate best. */

#include <math.h>

#include "dwi/optimal_threshold.h"
#include "util/maths.h"

#define GOLDEN 0.61803399f /* (sqrt(5) - 1) / 2 in single precision */
#define TOLERANCE 0.01f    /* relative width of the interval at which the search ends */
#define MARGIN 0.001f      /* share of the range that the search leaves out at each end */

/* The values of an image: their number, how many are finite, and mean and standard deviation of the finite values. */
typedef struct sample {
    const float *value;
    size_t n, finite;
    double mean, deviation;
} sample;

/* Minus the correlation of the values with their thresholded copy; NaN if the threshold separates nothing. */
static float cost(const sample *s, float threshold)
{
    double above = 0, sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->value[i]) || !(s->value[i] > threshold)) continue;
        above++;
        sum += s->value[i];
    }
    double part = above / (double)s->finite;
    if (!(part > 0 && part < 1)) return NAN;
    return (float)-((sum / (double)s->finite - part * s->mean) / (s->deviation * sqrt(part - part * part)));
}

/* Finds the threshold of lowest cost between low and high by golden section search, starting from middle. */
static float golden_section(const sample *s, float low, float middle, float high)
{
    const float g = GOLDEN, h = 1 - GOLDEN;
    float x1, x2;
    if (fabsf(high - middle) > fabsf(middle - low)) {
        x1 = middle;
        x2 = middle + h * (high - middle);
    } else {
        x1 = middle - h * (middle - low);
        x2 = middle;
    }
    float f1 = cost(s, x1), f2 = cost(s, x2);
    while (TOLERANCE * (fabsf(x1) + fabsf(x2)) < fabsf(high - low)) {
        if (f2 < f1) {
            low = x1;
            x1 = x2;
            x2 = g * x1 + h * high;
            f1 = f2;
            f2 = cost(s, x2);
        } else {
            high = x2;
            x2 = x1;
            x1 = g * x2 + h * low;
            f2 = f1;
            f1 = cost(s, x1);
        }
    }
    return f1 < f2 ? x1 : x2;
}

bool gls_threshold_optimal(const float *value, size_t n, float *threshold)
{
    sample s = {.value = value, .n = n};
    float least = INFINITY, most = -INFINITY;
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i])) continue;
        s.finite++;
        s.mean += value[i];
        least = fminf(least, value[i]);
        most = fmaxf(most, value[i]);
    }
    if (!(most > least)) return false;
    s.mean /= (double)s.finite;
    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i])) square += (value[i] - s.mean) * (value[i] - s.mean);
    s.deviation = sqrt(square / (double)s.finite);
    float margin = MARGIN * (most - least);
    *threshold = golden_section(&s, least + margin, 0.5f * (least + most), most - margin);
    return true;
}
