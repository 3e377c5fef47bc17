/* Everything that a picture is drawn from: device, streamlines, image, cameras; and the picture in memory. */
#ifndef GLS_RENDER_STUDIO_H
#define GLS_RENDER_STUDIO_H

#include "render/annotate.h"
#include "render/collect.h"
#include "render/planes.h"
#include "render/raster.h"
#include "workflow/devices.h"

typedef struct gls_studio {
    gls_render_plan plan;
    gls_source *source;
    size_t n_sources;
    const gls_image *image; /* behind the streamlines; NULL: none */
    gls_image *image_read, *map;
    gls_sampler sampler, map_sampler;
    gls_window window;
    double planes_at[3];
    gls_scene scene;
    double range[2]; /* of the colour map */
    gls_box box;     /* what is shown, world mm */
    double scale;    /* pixels a mm, the same for all views */
    gls_device_set devices;
    gls_raster *raster;
    gls_foot foot;
    gls_render_result result;
} gls_studio;

/* Reads all; the options are borrowed until the studio is closed. */
gls_status gls_studio_open(const char *const *tractograms, size_t n, const gls_render_options *options,
                           gls_studio *studio);
/* The picture, of a turn this frame; canvas->rgba is to be freed by gls_canvas_finish(). */
gls_status gls_studio_draw(gls_studio *studio, uint32_t frame, gls_canvas *canvas);
/* Accepts one that was not opened but is all zero. */
void gls_studio_close(gls_studio *studio);

#endif
