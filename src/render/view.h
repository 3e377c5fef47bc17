/* Where the viewer of a picture stands: orthographic cameras, their names and letters, and the scale at which all of
 * them show everything. */
#ifndef GLS_RENDER_VIEW_H
#define GLS_RENDER_VIEW_H

#include <glslines/image.h>

/* Samples of a pixel along each axis. */
#define GLS_SAMPLES 2

/* Unit vectors in world space; right x up = toward. */
typedef struct gls_camera {
    double right[3], up[3];
    double toward[3]; /* from what is seen to the viewer */
    double centre[3]; /* world mm, in the middle of the picture */
    double scale;     /* pixels a mm */
    uint32_t width, height;
    double low[3], high[3]; /* world mm: what lies outside this box is cut off */
} gls_camera;

/* The box of a picture, world mm. */
typedef struct gls_box {
    double low[3], high[3];
} gls_box;

/* Directions of a camera named superior, inferior, anterior, posterior, left or right, after where the viewer stands;
 * false: no such name. */
bool gls_camera_stand(gls_camera *camera, const char *name);
/* The viewer stands in front, `azimuth` degrees towards the right side of the body and `elevation` degrees up. */
void gls_camera_turn(gls_camera *camera, double azimuth, double elevation);
/* The anatomical direction of a vector, e.g. "L" or, where it is oblique, "LA"; room for 4 characters. */
void gls_letters(const double direction[3], char letters[4]);

/* Pixels a mm with which the box fits into width x height less margin on all sides. */
double gls_camera_fit(const gls_camera *camera, const gls_box *box, double margin);
/* The box around the outer faces of a grid's voxels. */
void gls_box_of_grid(const gls_grid *grid, gls_box *box);

#endif
