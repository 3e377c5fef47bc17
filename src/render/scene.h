/* Contents of a picture: cameras, streamlines, slices, and the options that choose them. */
#ifndef GLS_RENDER_SCENE_H
#define GLS_RENDER_SCENE_H

#include <math.h>

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/render.h>
#include <glslines/sh.h>
#include <glslines/streamlines.h>

#include "render/scene_parts.h"

/* Sets the axes of a camera by the position of the viewer: superior, inferior, anterior, posterior, left or right.
 * Returns false for another name. */
bool gls_camera_stand(gls_camera *camera, const char *name);
/* Smallest box along the world axes that holds all voxels of a grid whole. */
void gls_box_of_grid(const gls_grid *grid, gls_box *box);
/* Sink that appends streamlines to the scene. painting is borrowed; finish and abort do nothing. */
gls_sink gls_scene_sink(gls_painting *painting);
/* Frees the arrays of the scene. Accepts a zeroed scene. */
void gls_scene_finish(gls_scene *scene);

#endif
