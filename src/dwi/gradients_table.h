/* Gradient tables inside the library: allocation, names of shells, checks of units. */
#ifndef GLS_DWI_GRADIENTS_TABLE_H
#define GLS_DWI_GRADIENTS_TABLE_H

#include <glslines/gradients.h>
#include <glslines/image.h>

/* Allocates a table of n zero entries; destroy it by gls_gradients_destroy(). */
gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients);

/* Lists the weighted shells in text of `room` bytes: "700 (30 volumes), 2000 (60 volumes)". Shells that do not fit are
 * left out; "none" if there is no weighted shell. */
void gls_gradients_name_shells(const gls_shell *shell, size_t n, char *text, size_t room);

/* --- Checks of units: values that water and scanners cannot have show that a file uses other units than expected. */

/* Checks that the larger of two eigenvalues is possible for water in mm2/s. GLS_ERR_INPUT: the message begins with
 * `who` and names the likely units. of_series: true: the message names units of b-values, because the eigenvalues come
 * from a series. */
gls_status gls_units_check_eigenvalues(const char *who, const double evals[2], bool of_series);

/* Ratio of the signal of a series and the signal of a response. signal: mean of the response over directions, in raw
 * units, for the volumes where is_used is set. volume[i]: index of volume i in the series; NULL: i. The signal of the
 * series is the one that 2 % of the voxels of the mask (NULL: all voxels) exceed. */
gls_status gls_units_gain(const gls_image *dwi, const size_t *volume, const bool *is_used, size_t n,
                          const gls_image *mask, double signal, double *gain);
/* Returns GLS_ERR_INPUT if signal and gain differ so much that one of them was scaled by a power of 1000. */
gls_status gls_units_check_gain(const char *who, double signal, double gain);

#endif
