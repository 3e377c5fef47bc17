/* Finds the image behind the streamlines of a picture if the user names none (the stop map of the run that tracked
 * them, or their density), and draws the outline of a brain. */
#ifndef GLS_RENDER_BACKDROP_H
#define GLS_RENDER_BACKDROP_H

#include <glslines/common.h>

#include "render/drawing.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"

/* Looks for the file of `path` in the folder of `sidecar` (may be NULL), then at `path` itself. Returns the first path
 * that can be read, from malloc; NULL: neither is a file or folder that can, or out of memory. */
char *gls_file_beside(const char *sidecar, const char *path);
/* Sets studio->image_read and its name studio->behind: the stop map that the sidecar of the first source names or, if
 * there is none that can be read, the density of streamlines. */
gls_status gls_backdrop_find(gls_studio *studio, const gls_box *streamlines);
/* Reads or computes the surface that --outline names; does nothing without it. */
gls_status gls_outline_open(gls_studio *studio, const gls_box *streamlines);
/* Draws the outline over a view whose upper left corner is at left, top. */
void gls_outline_draw(const gls_studio *studio, const gls_camera *camera, int left, int top, gls_canvas *canvas);

#endif
