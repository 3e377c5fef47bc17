/* The 3-D view of streamlines and slices of an image: its controls in HTML, and its data for the script page/stage.js.
 */
#ifndef GLS_RENDER_STAGE_H
#define GLS_RENDER_STAGE_H

#include <stdint.h>

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/labels.h>

#include "render/scene_parts.h"
#include "util/text.h"

/* Appends the streamlines as bytes: u32 lines, u32 points, f32 scale mm, f32 origin[3] mm, u16 count[lines]; then for
 * x, y and z the differences along each line as 16 bits, the first from 0. Little-endian; coordinate = origin + scale *
 * sum. GLS_ERR_UNSUPPORTED: a streamline has more than 65535 points. */
gls_status gls_stage_lines(const gls_scene *scene, gls_text *out);
/* Appends the columns and groups of the streamlines as a JSON array that may stand in a script element. */
void gls_stage_columns(const gls_scene *scene, gls_text *out);
/* Appends an image on a grid along the axes of the world, with at most max_voxels voxels: u32 dim[3], f32 size of a
 * voxel, f32 centre[3] of the first voxel, both in mm, then the values, one byte each, x fastest; little-endian. */
gls_status gls_stage_slices(const gls_image *image, double max_voxels, gls_text *out);
/* The same with 16 bits for each value: behind the head, f32 values that 1 and 65535 mean, then u16 each; 0: nothing is
 * shown. Values far beyond the window of gls_window_choose() become the nearest one that the bits hold. */
gls_status gls_stage_values(const gls_image *image, double max_voxels, gls_text *out);
/* The same of labels: 1 + their index in an ascending list of n labels, 0: none of its first 65535. */
gls_status gls_stage_labels(const gls_labels *labels, const int32_t *label, size_t n, double max_voxels, gls_text *out);
/* Appends the canvas and its controls, which the script shows where WebGL 2 works. shown, total: numbers of
 * streamlines. image: what the slices show. instead: a sentence for browsers that cannot show the view. */
void gls_stage_controls(gls_text *out, uint64_t shown, uint64_t total, const char *image, const char *instead);

#endif
