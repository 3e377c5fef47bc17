/* Slices of an image behind and between streamlines. */
#ifndef GLS_RENDER_PLANES_H
#define GLS_RENDER_PLANES_H

#include "render/view.h"

/* An image that is sampled in world space, linearly; outside it is NAN. */
typedef struct gls_sampler {
    const gls_image *image; /* volume 0 */
    double to_voxel[3][4];
} gls_sampler;
void gls_sampler_init(gls_sampler *sampler, const gls_image *image);
float gls_sampler_at(const gls_sampler *sampler, const float world[3]);

/* The values of an image that are shown black and white. */
typedef struct gls_window {
    double low, high;
} gls_window;
/* The 2nd and 98th percentile of the values that are neither 0 nor NaN; *flat: the image has one value only. */
gls_status gls_window_choose(const gls_image *image, gls_window *window, bool *flat);

/* Which planes a view has. */
typedef struct gls_planes {
    const gls_sampler *sampler;
    gls_window window;
    double at[3];           /* world mm: planes x = at[0], y = at[1], z = at[2] */
    bool shown[3];          /* by axis */
    bool is_behind;         /* behind all streamlines, whatever its depth */
    double low[3], high[3]; /* world mm: planes end there */
} gls_planes;

/* Depth of a point on the picture, in sixteenths of a sample. */
int64_t gls_depth_of(const gls_camera *camera, const double world[3]);
/* Depth (0: nothing) and colour with alpha of rows first .. first + rows - 1 of samples, which may lie above or below
 * the picture. */
void gls_planes_fill(const gls_planes *planes, const gls_camera *camera, int64_t first, uint32_t rows, uint32_t *depth,
                     uint32_t *colour);

#endif
