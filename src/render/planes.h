/* Samples images, and draws slices of them. */
#ifndef GLS_RENDER_PLANES_H
#define GLS_RENDER_PLANES_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/sh.h>

#include "render/scene_parts.h"

/* Prepares sampling of an image, which is borrowed. */
void gls_sampler_init(gls_sampler *sampler, const gls_image *image);
/* Value at a point, world mm. */
float gls_sampler_at(const gls_sampler *sampler, const float world[3]);
/* Sets black and white to the 2nd and 98th percentile of the values that are finite and not 0. If another voxel is 0 or
 * not finite, black is at most 0. Sets *flat if there is no such value, or if black and white would be equal; then
 * black is 0 if they are above 0, and else white is black + 1. */
gls_status gls_window_choose(const gls_image *image, gls_window *window, bool *flat);
/* Prepares glyphs of an image of spherical harmonics, which is copied. name: name of the image in messages.
 * GLS_ERR_INPUT: no order of spherical harmonics has this number of volumes. */
gls_status gls_glyphs_create(const gls_image *sh, const char *name, gls_sh_basis basis, gls_bvec_frame frame,
                             gls_glyphs **glyphs);
/* A part of a slice across axis `axis` of the world, at `at`; low, high: limits along the other axes; mm. */
typedef struct gls_glyph_window {
    int axis;
    double at, low[3], high[3];
} gls_glyph_window;
/* Glyphs of a slice, on a mesh of rings from the upper pole to the lower one, with meridians from x to y. */
typedef struct gls_glyph_list {
    size_t n;
    int rings, meridians;
    int step;           /* every step-th voxel along rows and columns of the slice has a glyph */
    float half;         /* length of radius `unit`, mm, so that nearly all glyphs lie beside each other */
    float unit;         /* an amplitude */
    float (*centre)[3]; /* world mm */
    float *most;        /* the largest amplitude of each */
    uint8_t *radius;    /* for each glyph rings x meridians amplitudes, in 255ths of its largest one */
} gls_glyph_list;
/* Lists the glyphs of the voxels that a slice meets whose ODF is above 0 somewhere, of at most `most` voxels: every
 * second one, or third and so on, where there are more. Call gls_glyphs_list_finish() also after a failure. */
gls_status gls_glyphs_list(const gls_glyphs *glyphs, const gls_glyph_window *window, size_t most, gls_glyph_list *list);
void gls_glyphs_list_finish(gls_glyph_list *list);
/* Frees `glyphs`, which may be NULL. */
void gls_glyphs_destroy(gls_glyphs *glyphs);
/* Draws slices and glyphs: computes the depth (0: nothing there) and the colour with alpha of each sample of the rows
 * first .. first + rows - 1. Rows may lie above or below the picture. */
gls_status gls_planes_fill(const gls_planes *planes, const gls_camera *camera, int64_t first, uint32_t rows,
                           uint32_t *depth, uint32_t *colour);

#endif
