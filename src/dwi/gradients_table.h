/* Inside gradient tables: allocation, names of shells, checks of units. */
#ifndef GLS_DWI_GRADIENTS_TABLE_H
#define GLS_DWI_GRADIENTS_TABLE_H

#include <glslines/gradients.h>
#include <glslines/image.h>

/* --- Inside the gradient module. */

/* A table of n zero entries; for gls_gradients_destroy(). */
gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients);

/* "700 (30 volumes), 2000 (60 volumes)": the weighted shells. */
void gls_gradients_name_shells(const gls_shell *shell, size_t n, char *text, size_t room);
/* "3 (b = 700), ..": the volumes that belong to no shell, "" if there are none. */
void gls_gradients_name_unassigned(const gls_gradients *gradients, const size_t *of, char *text, size_t room);

/* --- Numbers that water and scanners cannot have: they are in other units than the ones that are expected. */

/* Whether the first of both eigenvalues is one of water in mm2/s. GLS_ERR_INPUT begins with who, and tells of other
 * units, or, where the eigenvalues come from a series, of those of its b-values. */
gls_status gls_units_check_eigenvalues(const char *who, const double evals[2], bool of_series);

/* Whether the largest b-value of a table with weighted volumes is one in s/mm2. */
gls_status gls_units_check_bvals(const gls_gradients *gradients, const char *name);

/* How strong a response's signal is beside that of the series: signal (raw units, the mean over directions) of the
 * volumes where is_used is set; volume[i] (NULL: i) is the place of volume i in the series. Compared with the signal
 * that 2 % of the voxels of the mask (NULL: all) exceed. */
gls_status gls_units_gain(const gls_image *dwi, const size_t *volume, const bool *is_used, size_t n,
                          const gls_image *mask, double signal, double *gain);
/* GLS_ERR_INPUT where the two differ so much that one was scaled by a power of 1000. */
gls_status gls_units_check_gain(const char *who, double signal, double gain);

#endif
