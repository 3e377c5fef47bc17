#include <glslines/peaks.h>

#include <math.h>
#include <stdlib.h>

gls_peak_options gls_peak_options_default(void)
{
    return (gls_peak_options){.size = sizeof(gls_peak_options), .relative_threshold = 0.25, .min_separation_angle = 45};
}

static bool is_maximum(const gls_sphere *sphere, const double *value, size_t v)
{
    bool above_one = false;
    for (uint32_t i = sphere->first[v]; i < sphere->first[v + 1]; i++) {
        double other = value[sphere->neighbour[i]];
        if (other > value[v]) return false;
        if (other < value[v]) above_one = true;
    }
    return above_one;
}

static int stronger_first(const void *a, const void *b, void *user)
{
    const double *value = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (value[x] != value[y]) return value[x] > value[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Whether v is far enough from all accepted peaks. */
static bool is_separate(const gls_sphere *sphere, uint32_t v, const uint32_t *accepted, size_t n, double max_cosine)
{
    const double *x = sphere->vertex[v];
    for (size_t i = 0; i < n; i++) {
        const double *y = sphere->vertex[accepted[i]];
        double cosine = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        if (sphere->antipodal) cosine = fabs(cosine);
        if (cosine > max_cosine) return false;
    }
    return true;
}

size_t gls_peaks_find(const gls_sphere *sphere, const double *value, const gls_peak_options *options, uint32_t *peak,
                      size_t capacity)
{
    /* the maxima, and in their front those accepted so far */
    uint32_t list[GLS_SPHERE_MAX_DIRECTIONS];
    size_t n_maxima = 0, n_peaks = 0;
    const gls_peak_options defaults = gls_peak_options_default();
    if (!options) options = &defaults;
    double minimum = 0;
    for (size_t v = 0; v < sphere->n; v++) {
        if (v == 0 || value[v] < minimum) minimum = value[v];
        if (is_maximum(sphere, value, v)) list[n_maxima++] = (uint32_t)v;
    }
    if (n_maxima == 0) return 0;
    qsort_r(list, n_maxima, sizeof *list, stronger_first, (void *)value);
    if (value[list[0]] < 0) return 0;
    if (minimum < 0) minimum = 0;
    double threshold = options->relative_threshold * (value[list[0]] - minimum),
           max_cosine = cos(M_PI / 180 * options->min_separation_angle);
    for (size_t m = 0; m < n_maxima; m++) {
        uint32_t v = list[m];
        /* a single maximum is a peak whatever the options say */
        if (n_maxima > 1 && (value[v] - minimum < threshold || !is_separate(sphere, v, list, n_peaks, max_cosine)))
            continue;
        list[n_peaks] = v;
        if (n_peaks < capacity) peak[n_peaks] = v;
        n_peaks++;
    }
    return n_peaks;
}
