/* Checks whether diffusivities, b-values and signals are in the units that the library expects, and names the likely
 * units where they are not. */

#include <glslines/image.h>

#include <math.h>
#include <stdlib.h>

#include "dwi/units.h"
#include "util/maths.h"
#include "util/status.h"

/* Limits of a diffusivity of water, mm2/s. Free water at 37 degrees Celsius has 0.003, and noise adds to it; along
 * fibres of fixed, cold tissue the diffusivity is 1e-4. */
#define MAX_DIFFUSIVITY 0.006
#define MIN_DIFFUSIVITY 5e-5
/* Largest ratio, in either direction, between the signals of a series and of a response. */
#define MAX_GAIN 100.0
#define BRIGHTEST 0.98 /* the signal of the series is this quantile over the voxels of the mask */

gls_status gls_units_check_eigenvalues(const char *who, const double evals[2], bool of_series)
{
    if (evals[0] >= MIN_DIFFUSIVITY && evals[0] <= MAX_DIFFUSIVITY) return GLS_OK;
    const bool high = evals[0] > MAX_DIFFUSIVITY;
    const char *limit = high ? "at most" : "at least";
    const double bound = high ? MAX_DIFFUSIVITY : MIN_DIFFUSIVITY;
    if (of_series)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: the series gives eigenvalues of %.4g and %.4g mm2/s, but those of water are %s %g: check "
                        "that its b-values are in s/mm2%s",
                        who, evals[0], evals[1], limit, bound,
                        high ? ", and not in ms/um2, which are 1000 times smaller" : "");
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the response has eigenvalues of %.4g and %.4g mm2/s, but those of water are %s %g: %s", who,
                    evals[0], evals[1], limit, bound,
                    high ? "divide eigenvalues in um2/ms by 1000"
                         : "multiply eigenvalues in mm2/ms by 1000, eigenvalues in cm2/s by 100");
}

gls_status gls_units_gain(const gls_image *dwi, const size_t *volume, const bool *is_used, size_t n,
                          const gls_image *mask, double signal, double *gain)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    size_t inside = 0, n_used = 0;
    float *mean = malloc(voxels * sizeof *mean);
    if (!mean) return gls_fail(GLS_ERR_MEMORY, "out of memory for the signal of %zu voxels", voxels);
    for (size_t i = 0; i < n; i++) n_used += is_used[i];
    /* mean[]: mean signal of the used volumes in each voxel of the mask */
    for (size_t v = 0; v < voxels; v++) {
        double sum = 0;
        if (mask && !(mask->data[v] > 0)) continue;
        for (size_t i = 0; i < n; i++)
            if (is_used[i]) sum += dwi->data[(volume ? volume[i] : i) * voxels + v];
        if (isfinite(sum)) mean[inside++] = (float)(sum / (double)n_used);
    }
    /* where no voxel can be compared, `brightest` keeps the value of `signal`, so that the gain is 1 */
    double brightest = signal;
    if (inside > 0 && n_used > 0) gls_quantiles_of_floats(mean, inside, (const double[]){BRIGHTEST}, 1, &brightest);
    free(mean);
    *gain = brightest / signal;
    return GLS_OK;
}

gls_status gls_units_check_gain(const char *who, double signal, double gain)
{
    if (gain <= MAX_GAIN && gain >= 1 / MAX_GAIN) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the response has a signal of %.4g, but the brightest voxels of the series have %.4g, in "
                    "different units: scale the response or the series, or estimate the response from the series",
                    who, signal, gain * signal);
}
