/* From files and options to a picture in memory. */
#ifndef GLS_RENDER_STUDIO_H
#define GLS_RENDER_STUDIO_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/filters.h>

#include "render/drawing.h"
#include "render/studio_parts.h"

/* Reads all inputs and opens the device. options is borrowed until the studio is closed. After a failure the studio is
 * closed already. */
gls_status gls_studio_open(const char *const *tractograms, size_t n, const gls_render_options *options,
                           gls_studio *studio);
/* Draws the picture, or one frame of a turn. Free canvas->rgba by gls_canvas_finish(). */
gls_status gls_studio_draw(gls_studio *studio, uint32_t frame, gls_canvas *canvas);
/* Frees everything. Accepts a studio that is all zero. */
void gls_studio_close(gls_studio *studio);

#endif
