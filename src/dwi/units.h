/* Checks whether diffusivities, b-values and signals are in the units that the library expects, and names the likely
 * units where they are not. */
#ifndef GLS_DWI_UNITS_H
#define GLS_DWI_UNITS_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Checks that the larger of two eigenvalues is possible for water in mm2/s. GLS_ERR_INPUT: the message begins with
 * `who` and names the likely units. of_series: true: the message names units of b-values, because the eigenvalues come
 * from a series. */
gls_status gls_units_check_eigenvalues(const char *who, const double evals[2], bool of_series);
/* *gain: the signal of a series divided by the signal of a response. signal: mean of the response over directions, in
 * raw units, for the volumes where is_used is set. volume[i]: index of volume i in the series; NULL: i. The signal of
 * the series is the one that 2 % of the voxels of the mask (NULL: all voxels) exceed. */
gls_status gls_units_gain(const gls_image *dwi, const size_t *volume, const bool *is_used, size_t n,
                          const gls_image *mask, double signal, double *gain);
/* Returns GLS_ERR_INPUT unless the gain is from 1/100 to 100: any other gain means that series and response are in
 * different units. who: start of the message; signal: signal of the response, for the message. */
gls_status gls_units_check_gain(const char *who, double signal, double gain);

#endif
