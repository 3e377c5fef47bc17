/* Images of the window: those whose slices pages show, and their values at a place. */
#ifndef GLS_VIEW_GALLERY_H
#define GLS_VIEW_GALLERY_H

#include <stddef.h>

#include <cJSON.h>
#include <glslines/image.h>
#include <glslines/labels.h>

#include "transform/transform.h"

/* Largest number of images of a window. */
#define GLS_VIEW_IMAGES 8

/* An image of one volume. */
typedef struct gls_view_image {
    const char *name;       /* for pages; borrowed */
    const char *path;       /* as the user named it, borrowed; NULL: it was read by another part of the program */
    const gls_image *image; /* borrowed, or `read` */
    gls_image *read;        /* owned; NULL: none */
} gls_view_image;

/* The images. All zero: there are none. */
typedef struct gls_view_gallery {
    gls_view_image image[GLS_VIEW_IMAGES];
    size_t n;
} gls_view_gallery;

/* Reads an image, of a series the first volume, and brings it to the space of the streamlines. GLS_ERR_ARGUMENT: there
 * are GLS_VIEW_IMAGES of them already. */
gls_status gls_view_gallery_read(gls_view_gallery *gallery, const char *path, const gls_transform *space);
/* Adds an image that was read before; image and name are borrowed. */
void gls_view_gallery_add(gls_view_gallery *gallery, const gls_image *image, const char *name);
/* Adds to an object "images": for each image its name and its window, [low, high], as --image-range of 'glslines
 * render' has it by default, and whether it has values below 0; "box" of all images, and of labels, which may be NULL:
 * {"low": [x, y, z], "extent": [x, y, z]}, mm; and "maps", the colour maps, 33 colours of 0 to 255 each: {"name": ...,
 * "colours": [r, g, b, r, ...]}. */
gls_status gls_view_gallery_describe(const gls_view_gallery *gallery, const gls_labels *labels, cJSON *root);
/* Adds to an answer "values": for each image {"voxel": [i, j, k], "value": v}, of the voxel that holds a place in world
 * mm; null where the place lies outside; v is null if the value is not finite. */
void gls_view_gallery_values(const gls_view_gallery *gallery, const double place[3], cJSON *root);
/* Frees everything. */
void gls_view_gallery_close(gls_view_gallery *gallery);

#endif
