/* Draws streamlines by compute kernels: host side. */
#ifndef GLS_RENDER_RASTER_H
#define GLS_RENDER_RASTER_H

#include <glslines/common.h>
#include <glslines/device.h>

#include "render/scene_parts.h"
#include "render/studio_parts.h"

/* Look of the streamlines. */
typedef struct gls_raster_style {
    double radius;       /* radius of a tube, pixels */
    bool flat;           /* plain lines without light */
    double opacity;      /* 0 .. 1; below 1 there is no occlusion */
    double occlusion;    /* strength of occlusion, 0 .. 1 */
    uint32_t background; /* red, green << 8, blue << 16, alpha << 24 */
} gls_raster_style;

/* Compiles the kernels. device is borrowed. */
gls_status gls_raster_create(gls_device *device, const gls_raster_style *style, gls_raster **raster);
/* Draws a view. rgba: camera->width x camera->height pixels in rows from the top. planes: may be NULL. */
gls_status gls_raster_draw(gls_raster *raster, const gls_scene *scene, const gls_camera *camera,
                           const gls_planes *planes, uint8_t *rgba);
/* Frees `raster`, which may be NULL. */
void gls_raster_destroy(gls_raster *raster);

#endif
