/* Local maxima of a function sampled on a sphere. */
#ifndef GLSLINES_PEAKS_H
#define GLSLINES_PEAKS_H

#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_peak_options {
    size_t size;                 /* of this struct */
    double relative_threshold;   /* 0 .. 1 of the range above the (non-negative) minimum; default 0.25 */
    double min_separation_angle; /* degrees, 0 .. 90; default 45 */
} gls_peak_options;
GLS_API gls_peak_options gls_peak_options_default(void);

/* Finds the peaks of an ODF by the rule of DIPY's peak_directions. A vertex is a local maximum if no neighbour is
 * larger and at least one is smaller. A single local maximum is a peak. Of several, those are peaks that reach min' +
 * relative_threshold (max - min'), where min' = max(0, minimum over all vertices), and that are at least the separation
 * angle away from all stronger peaks (by |cos| on antipodal spheres). There is no peak if the largest value is
 * negative. Stores at most capacity vertex indices, strongest first, ties by index; returns how many peaks there are.
 * Values must be finite. Uses 32 KiB of stack and no heap. */
GLS_API size_t gls_peaks_find(const gls_sphere *sphere, const double *value, const gls_peak_options *options,
                              uint32_t *peak, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
