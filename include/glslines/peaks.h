/* Local maxima of a function sampled on a sphere. */
#ifndef GLSLINES_PEAKS_H
#define GLSLINES_PEAKS_H

#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_peak_options {
    double relative_threshold;   /* 0 .. 1 of the range above the (non-negative) minimum; default 0.25 */
    double min_separation_angle; /* degrees, 0 .. 90; default 45 */
} gls_peak_options;
GLS_API gls_peak_options gls_peak_options_default(void);

/* The rule of ODF peaks in the field (DIPY's peak_directions): a vertex is a local maximum if no neighbour is larger
 * and at least one is smaller; strongest first, ties by index; none if the largest is negative. Of several, those stay
 * that reach min' + relative_threshold (max - min'), min' = max(0, minimum over all vertices), and are at least the
 * separation angle away from all stronger ones that stayed (by |cos| on antipodal spheres). A single local maximum
 * always stays. Stores at most capacity vertex indices, returns how many there are. Values must be finite. Uses 32 KiB
 * of stack, no heap of its own. */
GLS_API size_t gls_peaks_find(const gls_sphere *sphere, const double *value, const gls_peak_options *options,
                              uint32_t *peak, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
