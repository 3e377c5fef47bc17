/* Draws streamlines into pictures by compute shaders, on any device and with the same bytes on each: whole numbers
 * only, and sums and maxima whose order does not matter. */
#ifndef GLS_RENDER_RASTER_H
#define GLS_RENDER_RASTER_H

#include <glslines/device.h>

#include "render/planes.h"
#include "render/scene.h"

typedef struct gls_raster gls_raster;

typedef struct gls_raster_style {
    double radius;       /* of a tube, pixels */
    bool flat;           /* without light: lines */
    double opacity;      /* 0 .. 1; below 1 there is no occlusion */
    double occlusion;    /* 0 .. 1 */
    uint32_t background; /* red, green << 8, blue << 16, alpha << 24 */
} gls_raster_style;

/* Compiles the kernels. The device is borrowed. */
gls_status gls_raster_create(gls_device *device, const gls_raster_style *style, gls_raster **raster);
/* rgba: camera->width x camera->height pixels, rows from the top. planes: NULL: none. */
gls_status gls_raster_draw(gls_raster *raster, const gls_scene *scene, const gls_camera *camera,
                           const gls_planes *planes, uint8_t *rgba);
/* Accepts NULL. */
void gls_raster_destroy(gls_raster *raster);

#endif
