/* Finds the optimal threshold of an image: the one at which the image and its thresholded copy correlate best. */
#ifndef GLS_DWI_OPTIMAL_THRESHOLD_H
#define GLS_DWI_OPTIMAL_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the threshold t for which values and the 0/1 image value > t correlate best (Ridgway et al. 2009), by golden
 * section to 1 %. Steps and single precision are those of MRtrix3, because with this tolerance they affect the result.
 * Values that are not finite are ignored. Returns false if the values do not vary. */
bool gls_threshold_optimal(const float *value, size_t n, float *threshold);

#endif
