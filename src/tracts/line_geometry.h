/* Geometry of single streamlines: length, turns, resampling, parts, direction; eigenvectors of a symmetric matrix; an
 * image at the points of a streamline. */
#ifndef GLS_TRACTS_LINE_GEOMETRY_H
#define GLS_TRACTS_LINE_GEOMETRY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <glslines/image.h>
#include <glslines/select.h>

/* Points to which lines are resampled before their directions are compared, as in DIPY. */
#define GLS_ORIENT_POINTS 12

/* Distance of two points, mm. */
double gls_point_distance(const float *p, const float *q);
/* Length in mm. */
double gls_line_length(const float (*point)[3], size_t n);
/* Writes m >= 2 points at equal distances along n >= 1 points; the ends stay exact. As DIPY's set_number_of_points().
 */
void gls_line_resample(const float (*point)[3], size_t n, size_t m, float (*out)[3]);
/* The same of the line in reverse order, whose sums may be rounded otherwise. */
void gls_line_resample_backwards(const float (*point)[3], size_t n, size_t m, float (*out)[3]);
/* Writes the part of a line from `from` to `until`, in mm from its start. out: memory for n + 1 points. Returns the
 * number of points, at least 1. */
size_t gls_line_part(const float (*point)[3], size_t n, double from, double until, float (*out)[3]);
/* Sum of the angles between successive steps, degrees. */
double gls_line_winding(const float (*point)[3], size_t n);
/* Degrees that a streamline runs around its mean point, in the plane that fits it best; forth and back both count. This
 * is DIPY's winding(), which scilpy calls angle. A point at the mean has no direction and is skipped. */
double gls_line_sweep(const float (*point)[3], size_t n);
/* Number of points at equal distances along a line of this length, mm, so that they are at most `spacing` mm apart: at
 * least 2. A line of more than 2^20 times `spacing` gets no more points. */
static inline size_t gls_line_spaced(double length, double spacing)
{
    return (size_t)fmin(ceil(length / spacing), 1 << 20) + (length > 0 ? 1 : 2);
}
/* Largest curvature, 1/mm: the angle by which steps between gls_line_spaced() points turn, over their length; n >= 1.
 * memory: for these points. */
double gls_line_curvature(const float (*point)[3], size_t n, double spacing, float (*memory)[3]);
/* Whether m nodes of a line are closer to m nodes of the standard in reverse order: by the sum of distances, as DIPY's
 * orient_by_streamline(). */
bool gls_nodes_are_backwards(const float (*node)[3], const float (*standard)[3], size_t m);
/* Whether a line of n >= 1 points runs against an orientation: towards lower coordinates along the axis, against the
 * line `standard`, or with its last point nearer to the centre than its first. centre: centre of the orientation, mm;
 * standard: line of the orientation, resampled to GLS_ORIENT_POINTS points; each is needed only if the orientation has
 * it. */
bool gls_line_is_backwards(const gls_orientation *orientation, const double centre[3], const float (*standard)[3],
                           const float (*point)[3], size_t n);
/* Reverses the order of n points. */
void gls_line_reverse(float (*point)[3], size_t n);

/* Eigenvalues and eigenvectors (columns) of a symmetric matrix; overwrites `a`. */
void gls_symmetric_decompose(double a[3][3], double value[3], double vector[3][3]);

/* --- Interpolation at the points of a line. */

/* Values of an image of one volume at n points, world mm: trilinear; NaN if one of the eight voxels is outside or not
 * finite. Where this gives NaN, the caller samples the point again with slower code, which handles edges and values
 * that are not finite. */
void gls_sample_line(const gls_image *image, const double world_to_voxel[3][4], const float (*point)[3], size_t n,
                     double *value);
/* weight[i]: half of the sum of the lengths of the steps before and after point i, mm. Returns the length of all steps.
 * n >= 1. */
double gls_sample_steps(const float (*point)[3], size_t n, double *weight);

#endif
