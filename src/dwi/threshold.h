/* Order of voxel values, and the threshold that splits them best. */
#ifndef GLS_DWI_THRESHOLD_H
#define GLS_DWI_THRESHOLD_H

#include <glslines/common.h>

/* The threshold t for which the values correlate best with the 0/1 image value > t (Ridgway et al. 2009), found by
 * golden section to 1 %: the steps and their single precision are MRtrix3's, because the tolerance shows. Values that
 * are not finite do not count. False if the values do not vary. */
bool gls_threshold_optimal(const float *value, size_t n, float *threshold);

/* The n-th largest (from 1) of count values. Sorts in place. */
double gls_threshold_nth_largest(double *value, size_t count, size_t n);

#endif
